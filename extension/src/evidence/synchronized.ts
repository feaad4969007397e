import type { TextDocument, Uri } from "vscode";

/** The languages of the documents that servers may have open. */
export const SYNCHRONIZED = [{ language: "python" }];

let belongs: (uri: Uri) => boolean = () => false;

/** Sets which documents have to do with the ADK: servers have no others open. */
export function synchronize(documents: (uri: Uri) => boolean): void {
  belongs = documents;
}

/** Whether servers are to have a document open. */
export function isSynchronized({ languageId, uri }: Pick<TextDocument, "languageId" | "uri">): boolean {
  return SYNCHRONIZED.some(({ language }) => language === languageId) && belongs(uri);
}

import type { SymbolInformation, Uri } from "vscode";
import { isSourceFile } from "../protocol/check";
import type { SourceFile } from "../protocol/generated";

const PATH = /^\/([^@]+)@([^/]+)\/(.+)$/s;

/** What the query of a document's address says. */
export interface SourceQuery {
  /** The workspace folder whose server is asked; empty where that is not known or there is only one. */
  folder: string;
  /** The beginning of the hash of a text that the index does not have; empty for the text at the commit. */
  text: string;
}

const QUERY = /^(?:text=([0-9a-f]+)(?:&|$))?(.*)$/s;

/** The query of the document's address: `text=<hash>&<folder>`, each only where it is set. */
export function toDocumentQuery({ folder, text }: SourceQuery): string {
  return [text === "" ? "" : `text=${text}`, folder].filter((part) => part !== "").join("&");
}

/** What a query says. */
export function fromDocumentQuery(query: string): SourceQuery {
  const [, text = "", folder = ""] = QUERY.exec(query) ?? [];
  return { folder, text };
}

/** The path of the document: `/owner/name@commit/path/of/the/file`. */
export function toDocumentPath({ repo, commit, path }: SourceFile): string {
  const owner = repo.split("/").map(encodeURIComponent).join("/");
  return `/${owner}@${encodeURIComponent(commit)}/${path}`;
}

/** The place that a document's path stands for; null for a path of another form. */
export function fromDocumentPath(documentPath: string): SourceFile | null {
  const [, repo, commit, path] = PATH.exec(documentPath) ?? [];
  if (repo === undefined || commit === undefined || path === undefined) {
    return null;
  }
  try {
    return { repo: decodeURIComponent(repo), commit: decodeURIComponent(commit), path };
  } catch {
    return null;
  }
}

/** A symbol of the server's that leads to the read-only document with its source instead of the file. */
export function readOnly(
  symbol: SymbolInformation & { data?: unknown },
  addressOf: (file: SourceFile) => Uri,
): SymbolInformation {
  if (isSourceFile(symbol.data)) {
    const { repo, commit, path } = symbol.data;
    symbol.location.uri = addressOf({ repo, commit, path });
  }
  return symbol;
}

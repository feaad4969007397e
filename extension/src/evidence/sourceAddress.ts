import * as vscode from "vscode";
import { SOURCE_SCHEME } from "../ids";
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

/**
 * The address of the read-only file with a source.
 *
 * @param scope What is in the folder whose server is to be asked; undefined asks the folders in turn.
 * @param text The hash of the text, where the index does not have this text.
 */
export function sourceAddress(place: SourceFile, scope: vscode.Uri | undefined, text = ""): vscode.Uri {
  const folder = scope && workspaceFolderOf(scope);
  const several = (vscode.workspace.workspaceFolders?.length ?? 0) > 1;
  return vscode.Uri.from({
    scheme: SOURCE_SCHEME,
    path: toDocumentPath(place),
    query: toDocumentQuery({ folder: several && folder ? folder.uri.toString() : "", text }),
  });
}

export type Scopes = [vscode.Uri | undefined, ...vscode.Uri[]];

/** The workspace folder of a document; for a cited source, the folder whose server knows the source. */
export function workspaceFolderOf(uri: vscode.Uri): vscode.WorkspaceFolder | undefined {
  const folder = uri.scheme === SOURCE_SCHEME ? folderIn(uri) : uri;
  return folder && vscode.workspace.getWorkspaceFolder(folder);
}

function folderIn(uri: vscode.Uri): vscode.Uri | undefined {
  const { folder } = fromDocumentQuery(uri.query);
  return folder === "" ? undefined : vscode.Uri.parse(folder);
}

/** What to ask for a source in turn: the folder that its address names, else no folder and then every folder. */
export function scopesOf(uri: vscode.Uri): Scopes {
  const folder = folderIn(uri);
  return folder ? [folder] : [undefined, ...(vscode.workspace.workspaceFolders ?? []).map(({ uri: other }) => other)];
}

/** A symbol from the server that leads to the read-only document with its source instead of the file. */
export function readOnly(
  symbol: vscode.SymbolInformation & { data?: unknown },
  addressOf: (file: SourceFile) => vscode.Uri,
): vscode.SymbolInformation {
  if (isSourceFile(symbol.data)) {
    const { repo, commit, path } = symbol.data;
    symbol.location.uri = addressOf({ repo, commit, path });
  }
  return symbol;
}

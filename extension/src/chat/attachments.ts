import * as vscode from "vscode";
import { clip, messageLine } from "../text/untrusted";
import type { Attachment } from "./prompt";

/** The subject of a request. */
export interface Attached {
  attachments: Attachment[];
  /** Texts that were picked out, which say what to search for; whole files do not. */
  selected: string[];
  /** Names of the attachments that could not be read. */
  unreadable: string[];
  /** The first document of them: its folder's server is asked. */
  scope: vscode.Uri | undefined;
}

const MOST_REFERENCES = 10;
const LONGEST_TEXT = 40_000;
const LARGEST_FILE = 1_000_000;
/** What the editor attaches by itself: the part of a file that is in sight. */
const IN_SIGHT = "vscode.implicit.viewport";

/** Reads what the user attached to a request. Folders, pictures and very large files are not read. */
export async function readReferences(references: readonly vscode.ChatPromptReference[]): Promise<Attached> {
  const attached: Attached = { attachments: [], selected: [], unreadable: [], scope: undefined };
  for (const { value, modelDescription, id } of references.slice(0, MOST_REFERENCES)) {
    if (typeof value === "string") {
      attached.attachments.push({ label: modelDescription ?? "text", language: "", text: clip(value, LONGEST_TEXT) });
      attached.selected.push(value);
    } else if (value instanceof vscode.Uri) {
      await addDocument(attached, value, undefined, false);
    } else if (value instanceof vscode.Location) {
      // The user has not chosen the part that is in sight.
      await addDocument(attached, value.uri, value.range, id !== IN_SIGHT);
    } else {
      attached.unreadable.push(messageLine(modelDescription ?? id));
    }
  }
  attached.unreadable.push(...references.slice(MOST_REFERENCES).map(({ id }) => messageLine(id)));
  return attached;
}

/** The selection of the active editor as what is asked about; nothing if nothing is selected. */
export function readSelection(): Attached {
  const attached: Attached = { attachments: [], selected: [], unreadable: [], scope: undefined };
  const editor = vscode.window.activeTextEditor;
  if (editor !== undefined && !editor.selection.isEmpty) {
    add(attached, editor.document, editor.selection, true);
  }
  return attached;
}

async function addDocument(
  attached: Attached,
  uri: vscode.Uri,
  range: vscode.Range | undefined,
  selected: boolean,
): Promise<void> {
  try {
    add(attached, await documentAt(uri), range, selected);
  } catch {
    attached.unreadable.push(messageLine(vscode.workspace.asRelativePath(uri)));
  }
}

function add(
  attached: Attached,
  document: vscode.TextDocument,
  range: vscode.Range | undefined,
  selected: boolean,
): void {
  const part = range === undefined ? undefined : document.validateRange(range);
  const text = clip(document.getText(part), LONGEST_TEXT);
  const path = vscode.workspace.asRelativePath(document.uri);
  const label = part === undefined ? path : `${path}, lines ${part.start.line + 1}-${part.end.line + 1}`;
  attached.attachments.push({ label, language: fenceLanguage(document.languageId), text });
  if (selected) {
    attached.selected.push(text);
  }
  attached.scope ??= document.uri;
}

/**
 * The document as it is in the editor, else as it is on the disk.
 *
 * @throws Error if it is no text that can be attached.
 */
async function documentAt(uri: vscode.Uri): Promise<vscode.TextDocument> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open !== undefined) {
    return open;
  }
  const { type, size } = await vscode.workspace.fs.stat(uri);
  if ((type & vscode.FileType.File) === 0 || size > LARGEST_FILE) {
    throw new Error("a folder, or a file that is too large");
  }
  return vscode.workspace.openTextDocument(uri);
}

function fenceLanguage(languageId: string): string {
  return /^[a-z0-9+#.-]{1,30}$/i.test(languageId) ? languageId : "";
}

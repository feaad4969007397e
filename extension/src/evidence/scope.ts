/** The folder that the user works in, even while a panel has the focus and no editor is active. */

import * as vscode from "vscode";
import { workspaceFolderOf } from "./sourceAddress";

let last: vscode.WorkspaceFolder | undefined;

/** Follows the active editor from now on. */
export function followEditors(): vscode.Disposable {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  for (const editor of [...visibleTextEditors, activeTextEditor]) {
    see(editor);
  }
  return vscode.window.onDidChangeActiveTextEditor(see);
}

/** The folder of the editor that was active last; the first folder before any editor was active. */
export function folderInUse(): vscode.WorkspaceFolder | undefined {
  const folders = vscode.workspace.workspaceFolders;
  return folders?.find(({ uri }) => uri.toString() === last?.uri.toString()) ?? folders?.[0];
}

/** The document of the active editor; without one, the folder of the editor that was active last. */
export function scopeInUse(): vscode.Uri | undefined {
  return vscode.window.activeTextEditor?.document.uri ?? folderInUse()?.uri;
}

/** The folder whose project an answer is for, as parameters of a request: its version of google-adk counts. */
export function projectOf(scope: vscode.Uri | undefined): { folder?: string } {
  const folder = (scope && workspaceFolderOf(scope)) ?? folderInUse();
  return folder === undefined ? {} : { folder: folder.uri.toString() };
}

function see(editor: vscode.TextEditor | undefined): void {
  last = (editor && workspaceFolderOf(editor.document.uri)) ?? last;
}

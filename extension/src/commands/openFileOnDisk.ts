import * as vscode from "vscode";
import type { SourceDocuments } from "../evidence/sourceDocuments";
import { SOURCE_SCHEME } from "../ids";
import { Problem } from "../problem";
import { messageLine } from "../text/untrusted";

/**
 * Open Cited File on Disk: the file behind the read-only source in the active editor, to edit it. The cursor is at the
 * same line, and nothing is selected.
 *
 * @throws Problem if no cited source is shown, or it was not read from a file of this machine.
 */
export async function openFileOnDisk(documents: Pick<SourceDocuments, "read">): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== SOURCE_SCHEME) {
    throw new Problem(vscode.l10n.t("No cited source is open. Click on a citation first."), "no_source");
  }
  const source = await documents.read(editor.document.uri);
  if (source.local_file === null) {
    throw new Problem(
      vscode.l10n.t("{0} is not a file on this machine that could be edited.", messageLine(source.path)),
      "no_file",
    );
  }
  const { line } = editor.selection.active;
  await vscode.window.showTextDocument(vscode.Uri.file(source.local_file), {
    ...(editor.viewColumn === undefined ? {} : { viewColumn: editor.viewColumn }),
    selection: new vscode.Range(line, 0, line, 0),
  });
}

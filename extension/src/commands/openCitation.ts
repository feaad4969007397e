import * as vscode from "vscode";
import type { Citations } from "../evidence/openCitation";
import { Problem } from "../problem";
import { isOpenArguments } from "../protocol/check";

/**
 * Opens what a link of a hover cites: its lines in the editor, or its page in the browser.
 *
 * @throws Problem if the link does not say what to open, or there is no such source.
 */
export async function openCitation(argument: unknown, citations: Citations): Promise<void> {
  if (!isOpenArguments(argument)) {
    throw new Problem(vscode.l10n.t("This link does not say what to open."), "invalid_request");
  }
  const { citation, where, textDocument } = argument;
  const scope = textDocument === undefined ? undefined : vscode.Uri.parse(textDocument.uri);
  await citations.openCitation(citation, scope, where ?? "source");
}

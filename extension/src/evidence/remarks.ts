/** The server's diagnostics on names that the project's version of the ADK lacks, as the editor shows them. */

import * as vscode from "vscode";
import { isSourceFile } from "../protocol/check";
import type { SourceFile } from "../protocol/generated";

/**
 * A diagnostic whose cited definition leads to the read-only document with the source instead of the file.
 *
 * @param diagnostic From the server; `data.source` names the cited file.
 */
export function withReadOnlySource(
  diagnostic: vscode.Diagnostic & { data?: unknown },
  addressOf: (file: SourceFile) => vscode.Uri,
): vscode.Diagnostic {
  const { data } = diagnostic;
  const source = typeof data === "object" && data !== null && "source" in data ? data.source : undefined;
  if (isSourceFile(source) && diagnostic.relatedInformation) {
    const { repo, commit, path } = source;
    const address = addressOf({ repo, commit, path });
    diagnostic.relatedInformation = diagnostic.relatedInformation.map(
      ({ location, message }) =>
        new vscode.DiagnosticRelatedInformation(new vscode.Location(address, location.range), message),
    );
  }
  return diagnostic;
}

/** Whether actions are asked for where no diagnostic is, so that the editor does not offer one beside every line. */
export function asksForActions(context: vscode.CodeActionContext): boolean {
  return context.triggerKind === vscode.CodeActionTriggerKind.Invoke || asksForFixes(context);
}

/** Whether all that is certain shall be mended, as when a file is saved. */
export function asksForFixes({ only }: vscode.CodeActionContext): boolean {
  return only?.value.startsWith("source") === true;
}

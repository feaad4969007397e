import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { isRequest, parseFindArguments } from "../evidence/findArguments";
import { questionAt, TASK_MODE } from "../evidence/question";
import { COMMANDS } from "../ids";
import { Problem } from "../problem";
import type { EvidenceParams, FindArguments } from "../protocol/generated";
import { FIXES } from "../server/problems";
import type { PackPanel } from "../webview/panel";

/** A request for the panel supersedes the request before, whatever document that was for. */
export const PANEL_KEY = "panel";

/**
 * Find ADK Evidence: for the request of a link or an action, else for the selection, the name at the cursor or the
 * line of the active editor. Without an editor it asks for a question.
 *
 * @throws Problem if there is nothing to ask about.
 */
export async function findEvidence(argument: unknown, evidence: Evidence, panel: PackPanel): Promise<void> {
  if (isRequest(argument)) {
    const wanted = parseFindArguments(argument);
    if (wanted === null) {
      throw new Problem(
        vscode.l10n.t("This link or action does not say what to find evidence for. Select code or ask a question."),
        "invalid_request",
        [FIXES.ask()],
      );
    }
    return findWanted(wanted, evidence, panel);
  }
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    await vscode.commands.executeCommand(COMMANDS.askQuestion);
    return;
  }
  const question = questionAt(editor.document, editor.selection);
  if (question === null) {
    throw new Problem(
      vscode.l10n.t("There is no text at the cursor to find evidence for. Select code or ask a question."),
      "nothing_selected",
      [FIXES.ask()],
    );
  }
  const scope = editor.document.uri;
  await show({ ...question, taskMode: TASK_MODE }, scope, evidence, panel);
}

async function findWanted(wanted: FindArguments, evidence: Evidence, panel: PackPanel): Promise<void> {
  const scope = wanted.textDocument && vscode.Uri.parse(wanted.textDocument.uri);
  await show({ ...wanted, taskMode: wanted.taskMode ?? TASK_MODE }, scope, evidence, panel);
}

async function show(
  params: EvidenceParams,
  scope: vscode.Uri | undefined,
  evidence: Evidence,
  panel: PackPanel,
): Promise<void> {
  await panel.show({
    question: {
      query: params.query ?? "",
      taskMode: params.taskMode ?? "build",
      sources: "both",
      path: "",
    },
    run: (token) => evidence.find({ ...params, supersedeKey: PANEL_KEY }, token, scope),
  });
}

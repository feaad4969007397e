import * as vscode from "vscode";
import { SECTION } from "../ids";
import type { EvidenceParams } from "../protocol/generated";
import type { TaskMode } from "../webview/messages";

/** The default task of questions in a document or folder. */
export function taskModeOf(scope: vscode.Uri | undefined): TaskMode {
  return vscode.workspace.getConfiguration(SECTION, scope ?? null).get<TaskMode>("taskMode", "build");
}

/** The limits that the settings of a document or folder put on a request. */
export function limitsOf(scope: vscode.Uri | undefined): Pick<EvidenceParams, "maxResults" | "timeBudgetMs"> {
  const settings = vscode.workspace.getConfiguration(SECTION, scope ?? null);
  return {
    maxResults: settings.get<number | null>("maxResults", null),
    timeBudgetMs: settings.get<number | null>("timeBudgetMs", null),
  };
}

import * as vscode from "vscode";
import { SECTION } from "../ids";
import type { EvidenceParams } from "../protocol/generated";
import type { TaskMode } from "../webview/messages";

/** What evidence is wanted for, where neither a chat command nor a link says otherwise. */
export const TASK_MODE: TaskMode = "build";

/** The limit that the settings of a document or folder put on a request. */
export function limitsOf(scope: vscode.Uri | undefined): Pick<EvidenceParams, "maxResults"> {
  const settings = vscode.workspace.getConfiguration(SECTION, scope ?? null);
  return { maxResults: settings.get<number | null>("maxResults", null) };
}

/** Whether the chat's model may be asked for other wordings of a question. */
export function wordingsWanted(scope: vscode.Uri | undefined): boolean {
  return vscode.workspace.getConfiguration(SECTION, scope ?? null).get<boolean>("chat.wordings", true);
}

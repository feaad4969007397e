/** The settings of the section `adkEvidence` that starting the server and the server itself need. */

import os from "node:os";
import * as vscode from "vscode";
import { MCP_ENABLED, SECTION } from "./ids";
import { serverLevel } from "./log";
import { expandPath, expandVariables, type SettingVariables } from "./server/paths";

/** The settings that decide which program is started. In Restricted Mode the editor omits the workspace's values. */
export interface LaunchSettings {
  /** Its variables are expanded. */
  readonly command: readonly string[];
  /** Unchanged: neither expanded nor checked. */
  readonly interpreter: string;
}

export function launchSettings(folder: vscode.WorkspaceFolder | undefined): LaunchSettings {
  const settings = vscode.workspace.getConfiguration(SECTION, folder?.uri ?? null);
  const command = settings.get<unknown>("server.command");
  const interpreter = settings.get<unknown>("server.interpreter");
  const words = Array.isArray(command) ? command.filter((word): word is string => typeof word === "string") : [];
  const variables = variablesOf(folder);
  return {
    command: words.map((word) => expandVariables(word, variables) ?? word),
    interpreter: typeof interpreter === "string" ? interpreter.trim() : "",
  };
}

/** The setting that chooses the index of a server; folders with different values have different servers. */
export function indexSettings(folder: vscode.WorkspaceFolder | undefined): { home?: string } {
  const home = vscode.workspace.getConfiguration(SECTION, folder?.uri ?? null).get<unknown>("home");
  const expanded = typeof home === "string" && home.trim() ? expandHere(home.trim(), folder) : undefined;
  return expanded ? { home: expanded } : {};
}

/**
 * The settings that the server gets when it asks for them: those that are set, and how much to log. Settings that only
 * the client uses are left out.
 */
export function serverSettings(
  folder: vscode.WorkspaceFolder | undefined,
  logLevel: vscode.LogLevel,
): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration(SECTION, folder?.uri ?? null);
  const told: Record<string, unknown> = {
    ...indexSettings(folder),
    maxResults: settings.get<unknown>("maxResults"),
    logLevel: serverLevel(logLevel),
  };
  const severity = settings.get<unknown>("diagnostics.severity");
  if (typeof severity === "object" && severity !== null && Object.keys(severity).length > 0) {
    told["diagnostics"] = { severity };
  }
  if (settings.get<unknown>("projectCode.enabled") === false) {
    told["projectCode"] = { enabled: false };
  }
  return told;
}

/** Whether hovers are wanted in a document. */
export function hoversWanted(scope: vscode.Uri): boolean {
  return vscode.workspace.getConfiguration(SECTION, scope).get<boolean>("hover.enabled", true);
}

/** Whether diagnostics are wanted in a document. */
export function diagnosticsWanted(scope: vscode.Uri): boolean {
  return vscode.workspace.getConfiguration(SECTION, scope).get<boolean>("diagnostics.enabled", true);
}

/** Whether models get the tools of the MCP server instead of the extension's own tool. */
export function mcpEnabled(): boolean {
  return vscode.workspace.getConfiguration().get<boolean>(MCP_ENABLED, false);
}

/** Whether the user has left the editor's chat on. */
export function chatWanted(): boolean {
  return !vscode.workspace.getConfiguration().get<boolean>("chat.disableAIFeatures", false);
}

/** A path with its variables expanded; undefined where it starts in a folder that is not on a disk or not trusted. */
export function expandHere(text: string, folder: vscode.WorkspaceFolder | undefined): string | undefined {
  return expandPath(text, variablesOf(folder));
}

/** In Restricted Mode no setting leads into the folder, which could otherwise choose what runs and what is read. */
function variablesOf(folder: vscode.WorkspaceFolder | undefined): SettingVariables {
  const trusted = vscode.workspace.isTrusted ? folderPath(folder) : undefined;
  return { folder: trusted, home: os.homedir(), env: process.env };
}

/** Where a folder is on this machine's disk; undefined for virtual ones. */
export function folderPath(folder: vscode.WorkspaceFolder | undefined): string | undefined {
  return folder?.uri.scheme === "file" ? folder.uri.fsPath : undefined;
}

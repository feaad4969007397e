/** The settings of the section `adkEvidence` that starting the server and the server itself need. */

import os from "node:os";
import * as vscode from "vscode";
import { SECTION } from "./ids";
import { expandPath } from "./server/paths";

/** What decides which program is started. In Restricted Mode the editor leaves the workspace's values out. */
export interface LaunchSettings {
  readonly command: readonly string[];
  /** As it was written: neither expanded nor checked. */
  readonly interpreter: string;
}

export function launchSettings(scope: vscode.Uri | undefined): LaunchSettings {
  const settings = vscode.workspace.getConfiguration(SECTION, scope ?? null);
  const command = settings.get<unknown>("server.command");
  const interpreter = settings.get<unknown>("server.interpreter");
  const words = Array.isArray(command) ? command.filter((word): word is string => typeof word === "string") : [];
  return { command: words, interpreter: typeof interpreter === "string" ? interpreter.trim() : "" };
}

/** The settings that choose what a server answers from; folders that differ in them have servers of their own. */
export function indexSettings(folder: vscode.WorkspaceFolder | undefined): { home?: string; profile?: string } {
  const settings = vscode.workspace.getConfiguration(SECTION, folder?.uri ?? null);
  const home = settings.get<unknown>("home");
  const profile = settings.get<unknown>("profile");
  const expanded = typeof home === "string" && home.trim() ? expandHere(home.trim(), folder) : undefined;
  return {
    ...(expanded ? { home: expanded } : {}),
    ...(typeof profile === "string" && profile ? { profile } : {}),
  };
}

/** What the server is told when it asks for its settings: those that are set, and nothing of the client's own. */
export function serverSettings(folder: vscode.WorkspaceFolder | undefined): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration(SECTION, folder?.uri ?? null);
  const told: Record<string, unknown> = { ...indexSettings(folder) };
  for (const name of ["taskMode", "maxResults", "timeBudgetMs"]) {
    const value = settings.get<unknown>(name);
    if (value !== undefined && value !== null && value !== "") told[name] = value;
  }
  return told;
}

/** Whether hovers are wanted in a document. */
export function hoversWanted(scope: vscode.Uri): boolean {
  return vscode.workspace.getConfiguration(SECTION, scope).get<boolean>("hover.enabled", true);
}

/** `~` and `${workspaceFolder}` written out; undefined where the folder is not on a disk. */
export function expandHere(text: string, folder: vscode.WorkspaceFolder | undefined): string | undefined {
  return expandPath(text, folderPath(folder), os.homedir());
}

/** Where a folder is on this machine's disk; undefined for virtual ones. */
export function folderPath(folder: vscode.WorkspaceFolder | undefined): string | undefined {
  return folder?.uri.scheme === "file" ? folder.uri.fsPath : undefined;
}

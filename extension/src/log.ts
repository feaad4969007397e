/** The output channel, and what must never reach it. */

import * as vscode from "vscode";

/** The only channel: for lines of the extension, of the server and of pip. */
export function createLog(): vscode.LogOutputChannel {
  return vscode.window.createOutputChannel("ADK Evidence", { log: true });
}

/** Writes a line without credentials. */
export function writeLine(log: vscode.LogOutputChannel, level: Level, text: string): void {
  const line = withoutCredentials(text);
  log[level](line);
}

export type Level = "error" | "warn" | "info" | "debug";

const LEVELS: Readonly<Record<string, Level>> = {
  CRITICAL: "error",
  ERROR: "error",
  WARNING: "warn",
  INFO: "info",
  DEBUG: "debug",
};

/** The level that the server should log at, for the level that the channel shows. */
export function serverLevel(level: vscode.LogLevel): "debug" | "info" | "warning" | "error" {
  switch (level) {
    case vscode.LogLevel.Trace:
    case vscode.LogLevel.Debug:
      return "debug";
    case vscode.LogLevel.Info:
      return "info";
    case vscode.LogLevel.Warning:
      return "warning";
    case vscode.LogLevel.Error:
    case vscode.LogLevel.Off:
      return "error";
  }
}

/** The level and the text of a line that the server wrote to its standard error, as Python's logging writes them. */
export function serverLine(line: string): { level: Level; text: string } {
  const found = /^(CRITICAL|ERROR|WARNING|INFO|DEBUG) (.*)$/s.exec(line);
  const level = LEVELS[found?.[1] ?? ""];
  return level && found?.[2] !== undefined ? { level, text: found[2] } : { level: "info", text: line };
}

/** The text without passwords in addresses, which package indexes may have, and without keys of Voyage AI and OpenAI. */
export function withoutCredentials(text: string): string {
  return text
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1***@")
    .replaceAll(/\b(?:pa|al|sk)-[A-Za-z0-9_-]{16,}/g, "***");
}

import * as vscode from "vscode";
import { COMMANDS } from "../ids";

/** "Show Logs". */
export function registerShowLogs(log: vscode.LogOutputChannel): vscode.Disposable {
  return vscode.commands.registerCommand(COMMANDS.showLogs, () => log.show());
}

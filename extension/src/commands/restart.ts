import * as vscode from "vscode";
import { COMMANDS } from "../ids";
import type { ServerPool } from "../server/pool";
import { registerCommand } from "./command";

/** "Restart Server": restarts all servers of the window, and says so where the one that is needed does not start. */
export function registerRestart(pool: ServerPool, log: vscode.LogOutputChannel): vscode.Disposable {
  const restart = async () => {
    const scope = vscode.window.activeTextEditor?.document.uri;
    const title = vscode.l10n.t("Restarting the ADK Evidence server");
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, async () => {
      await pool.reconcile(true);
      await pool.ensure(scope);
    });
  };
  return registerCommand(COMMANDS.restartServer, restart, log);
}

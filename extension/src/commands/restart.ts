import * as vscode from "vscode";
import type { ServerPool } from "../server/pool";

/** "Restart Server": restarts all servers of the window. @throws Problem where the one that is needed does not start. */
export async function restartServer(pool: ServerPool): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const title = vscode.l10n.t("Restarting the ADK Evidence server");
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, async () => {
    await pool.reconcile(true);
    await pool.ensure(scope);
  });
}

import os from "node:os";
import * as vscode from "vscode";
import { indexSettings } from "../config";
import { runningInstead } from "../mcp/server";
import { Problem } from "../problem";
import type { PrivateEnvironment } from "../server/environment";
import type { Resolution } from "../server/resolve";

/** "Connect Agents": runs `adk-evidence setup` in a terminal, which says what it would write, and asks. */
export async function connectAgents(
  resolution: Resolution,
  folder: vscode.WorkspaceFolder | undefined,
  environment: Pick<PrivateEnvironment, "lasting">,
): Promise<void> {
  if ("problem" in resolution) {
    throw resolution.problem;
  }
  const program = runningInstead(resolution.launch, ["setup"], indexSettings(folder));
  if (program === undefined) {
    throw new Problem(vscode.l10n.t("Run `adk-evidence setup` in a terminal of your own."), "unknown_program");
  }
  const command = await environment.lasting(program.command);
  // Not the workspace's folder: what lies there must not be found as a program or a module.
  const execution = new vscode.ProcessExecution(command, [...program.args], { cwd: os.homedir() });
  const task = new vscode.Task({ type: "process" }, vscode.TaskScope.Workspace, "setup", "ADK Evidence", execution);
  task.presentationOptions = { focus: true };
  await vscode.tasks.executeTask(task);
}

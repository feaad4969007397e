/** Shows a problem to the user: its sentence, and its mends as buttons. */

import * as vscode from "vscode";
import type { Problem } from "../problem";
import { messageLine } from "../text/untrusted";

/** Those that are no failure, but a step that is still to be done. */
const STEPS = ["no_environment", "environment_outdated", "no_index"];

/** Whether a problem is no failure. */
export function isStep(problem: Problem): boolean {
  return STEPS.includes(problem.code);
}

/** Shows a problem, and runs the mend that is chosen. A cancellation is nothing to tell. */
export async function offer(problem: Problem): Promise<void> {
  if (problem.code === "cancelled") return;
  const show = isStep(problem) ? vscode.window.showWarningMessage : vscode.window.showErrorMessage;
  // Sentences of the server name files of the corpora.
  const chosen = await show(messageLine(problem.message), ...problem.mends.map((mend) => mend.title));
  const mend = problem.mends.find(({ title }) => title === chosen);
  if (mend) await vscode.commands.executeCommand(mend.command, ...(mend.arguments ?? []));
}

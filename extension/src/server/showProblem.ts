/** Shows a problem to the user: its sentence, with its fixes as buttons. */

import * as vscode from "vscode";
import type { Problem } from "../problem";
import { messageLine } from "../text/untrusted";

/** Problems that are not failures, but steps that the user has not done yet. */
const STEPS = ["no_environment", "environment_outdated", "no_index"];

/** Whether a problem is a step to do and not a failure. */
export function isStep(problem: Problem): boolean {
  return STEPS.includes(problem.code);
}

/** Shows a problem, and runs the fix that the user chooses. A cancellation is not shown. */
export async function showProblem(problem: Problem): Promise<void> {
  if (problem.code === "cancelled") {
    return;
  }
  const show = isStep(problem) ? vscode.window.showWarningMessage : vscode.window.showErrorMessage;
  // Sentences of the server may name files of the corpora.
  const chosen = await show(messageLine(problem.message), ...problem.fixes.map((fix) => fix.title));
  const fix = problem.fixes.find(({ title }) => title === chosen);
  if (fix) {
    await vscode.commands.executeCommand(fix.command, ...(fix.arguments ?? []));
  }
}

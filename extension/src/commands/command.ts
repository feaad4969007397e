import * as vscode from "vscode";
import { Problem } from "../problem";
import { FIXES } from "../server/problems";
import { showProblem } from "../server/showProblem";

/** Registers a command whose failures are shown; a cancellation is nobody's failure. */
export function registerCommand(
  command: string,
  run: (argument: unknown) => Promise<void>,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  return vscode.commands.registerCommand(command, async (argument: unknown) => {
    try {
      await run(argument);
    } catch (reason) {
      // Whoever ran the command does not wait until the message is read.
      void showProblem(asProblem(reason, log));
    }
  });
}

/** The problem that a failure is to the user; one that nobody expected is logged. */
export function asProblem(reason: unknown, log: vscode.LogOutputChannel): Problem {
  if (reason instanceof Problem) {
    return reason;
  }
  log.error(reason instanceof Error ? reason : String(reason));
  return new Problem(vscode.l10n.t("Something went wrong that has no explanation. The log says more."), "unexpected", [
    FIXES.logs(),
  ]);
}

import * as vscode from "vscode";
import type { BUTTON_COMMANDS, COMMANDS, LINK_COMMANDS } from "../ids";
import { Problem } from "../problem";
import { FIXES } from "../server/problems";
import { showProblem } from "../server/showProblem";

/** What each command does. */
export type CommandTable = Readonly<
  Record<
    | (typeof COMMANDS)[keyof typeof COMMANDS]
    | (typeof BUTTON_COMMANDS)[keyof typeof BUTTON_COMMANDS]
    | (typeof LINK_COMMANDS)[keyof typeof LINK_COMMANDS],
    (argument: unknown) => Promise<void> | void
  >
>;

/** Registers commands whose failures are shown. */
export function registerCommands(table: CommandTable, log: vscode.LogOutputChannel): vscode.Disposable {
  const commands = Object.entries(table).map(([command, run]) =>
    vscode.commands.registerCommand(command, async (argument: unknown) => {
      try {
        await run(argument);
      } catch (reason) {
        // Whoever ran the command does not wait until the message is read.
        void showProblem(asProblem(reason, log));
      }
    }),
  );
  return vscode.Disposable.from(...commands);
}

/** The problem that a failure is to the user; an unexpected failure is logged. */
export function asProblem(reason: unknown, log: vscode.LogOutputChannel): Problem {
  if (reason instanceof Problem) {
    return reason;
  }
  log.error(reason instanceof Error ? reason : String(reason));
  return new Problem(vscode.l10n.t("Something went wrong that has no explanation. The log says more."), "unexpected", [
    FIXES.logs(),
  ]);
}

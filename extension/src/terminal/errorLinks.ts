/** Links in terminals: calls of tracebacks that are in google-adk's files, and errors that google-adk itself defines. */

import * as vscode from "vscode";
import { COMMANDS, LINK_COMMANDS } from "../ids";
import { type Frame, findErrorName, findFrame } from "../text/traceback";

export interface ErrorLink extends vscode.TerminalLink {
  command: string;
  argument: { frame: Frame } | { error: string };
}

/**
 * The links of a line. A call's link is the name of its function, because the editor links the path to the installed
 * file itself. A line that names neither google-adk's files nor its errors has no links.
 */
export function errorLinks(line: string): ErrorLink[] {
  const frame = findFrame(line);
  if (frame !== null) {
    return [
      {
        startIndex: frame.place.start,
        length: frame.place.length,
        tooltip: vscode.l10n.t("Open the line in the indexed google-adk"),
        command: LINK_COMMANDS.openFrame,
        argument: { frame: frame.frame },
      },
    ];
  }
  const name = findErrorName(line);
  if (name === null) {
    return [];
  }
  return [
    {
      startIndex: name.start,
      length: name.length,
      tooltip: vscode.l10n.t("Explain this error with ADK evidence"),
      command: COMMANDS.explainError,
      argument: { error: line.slice(name.start) },
    },
  ];
}

/** Registers the links of all terminals. */
export function registerErrorLinks(): vscode.Disposable {
  const provider: vscode.TerminalLinkProvider<ErrorLink> = {
    provideTerminalLinks: ({ line }) => errorLinks(line),
    handleTerminalLink: async ({ command, argument }) => {
      await vscode.commands.executeCommand(command, argument);
    },
  };
  return vscode.window.registerTerminalLinkProvider(provider);
}

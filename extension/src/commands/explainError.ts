import * as vscode from "vscode";
import { CONTEXT } from "../ids";
import { clipQuestion, isError } from "../text/traceback";
import type { PackPanel } from "../webview/panel";

const COPY_SELECTION = "workbench.action.terminal.copySelection";

/**
 * Explain This Error: the error that a link passes on, else the text that is selected in the editor, else the text in
 * the clipboard. Where that text is no error, the user is asked for one.
 */
export async function explainError(argument: unknown, panel: PackPanel): Promise<void> {
  await explain(isErrorOfLink(argument) ? argument.error : await errorAtHand(), panel);
}

/** Explain the Error Selected in the Terminal. Whatever is selected there is taken for the error. */
export async function explainTerminalError(panel: PackPanel): Promise<void> {
  const selected = await terminalSelection();
  await explain(selected.trim() === "" ? await askForError("") : selected, panel);
}

/** Lets the menu of the editor offer the command only where what is selected looks like an error. */
export function followSelection(): vscode.Disposable {
  let told = false;
  const look = (editor: vscode.TextEditor | undefined) => {
    const selected = editor !== undefined && isError(editor.document.getText(editor.selection));
    if (selected !== told) {
      told = selected;
      void vscode.commands.executeCommand("setContext", CONTEXT.errorSelected, selected);
    }
  };
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(look),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => look(textEditor)),
  );
}

/** What a link in the terminal passes on. */
export interface ErrorOfLink {
  error: string;
}

function isErrorOfLink(argument: unknown): argument is ErrorOfLink {
  // Menus pass the address of their document.
  return typeof argument === "object" && argument !== null && "error" in argument && typeof argument.error === "string";
}

async function explain(error: string | undefined, panel: PackPanel): Promise<void> {
  const query = clipQuestion((error ?? "").trim());
  if (query !== "") {
    await panel.ask({ query, taskMode: "debug", sources: "both", path: "" });
  }
}

async function errorAtHand(): Promise<string | undefined> {
  const editor = vscode.window.activeTextEditor;
  const selected = editor === undefined ? "" : editor.document.getText(editor.selection);
  if (selected.trim() !== "") {
    return isError(selected) ? selected : askForError(selected);
  }
  const copied = await vscode.env.clipboard.readText();
  return isError(copied) ? copied : askForError("");
}

/** Undefined if the user left the box. */
function askForError(start: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t("Explain an Error"),
    prompt: vscode.l10n.t("Paste a traceback, or the line that names the error."),
    placeHolder: "ValueError: …",
    value: start.trim(),
    ignoreFocusOut: true,
  });
}

/** The text that is selected in the terminal. The editor gives it to extensions over the clipboard alone. */
async function terminalSelection(): Promise<string> {
  const { clipboard } = vscode.env;
  const before = await clipboard.readText();
  const copied = async () => {
    await vscode.commands.executeCommand(COPY_SELECTION);
    return await clipboard.readText();
  };
  if (before === "") {
    // The clipboard may hold an image. Extensions can remove an image from there, but cannot put it back.
    return copied();
  }
  try {
    await clipboard.writeText("");
    return await copied();
  } finally {
    await clipboard.writeText(before);
  }
}

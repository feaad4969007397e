import * as vscode from "vscode";
import { questionOfText } from "../evidence/question";
import { taskModeOf } from "../evidence/requestSettings";
import { MAX_QUERY } from "../protocol/check";
import type { TaskMode } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { PackPanel } from "../webview/panel";
import type { RecentQuestions } from "./recentQuestions";

/** Ask a Question…: offers the selection as a beginning, and earlier questions. */
export async function askQuestion(panel: PackPanel, recent: RecentQuestions): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const selected = editor ? questionOfText(editor.document.getText(editor.selection)) : "";
  const asked = await pickQuestion(selected, taskModeOf(editor?.document.uri), recent.all);
  if (asked === null) {
    return;
  }
  await recent.add(asked.query);
  await panel.ask({ ...asked, sources: "both", path: "" });
}

interface Asked {
  query: string;
  taskMode: TaskMode;
}

interface ModeButton extends vscode.QuickInputButton {
  mode: TaskMode;
}

interface QuestionItem extends vscode.QuickPickItem {
  question: string;
}

/** One line to type in; buttons choose the mode, which the title names. Null if the user left it. */
function pickQuestion(start: string, startMode: TaskMode, recent: readonly string[]): Promise<Asked | null> {
  const pick = vscode.window.createQuickPick<QuestionItem>();
  const buttons = modeButtons();
  let taskMode = startMode;
  const setMode = (mode: TaskMode) => {
    taskMode = mode;
    pick.title = vscode.l10n.t("Ask about the ADK: {0}", modeName(mode));
  };
  const setItems = () => {
    const typed = pick.value.trim().slice(0, MAX_QUERY);
    const items = recent.filter((question) => question !== typed).map((question) => item(question, "$(history) "));
    pick.items = typed === "" ? items : [item(typed, "$(search) "), ...items];
  };
  setMode(startMode);
  pick.placeholder = vscode.l10n.t("A question, a symbol or an error message");
  pick.buttons = buttons;
  pick.value = start;
  setItems();
  return new Promise((resolve) => {
    pick.onDidChangeValue(setItems);
    pick.onDidTriggerButton((button) => {
      const chosen = buttons.find((candidate) => candidate === button);
      if (chosen !== undefined) {
        setMode(chosen.mode);
      }
    });
    pick.onDidAccept(() => {
      const query = pick.selectedItems[0]?.question ?? pick.value.trim();
      if (query !== "") {
        resolve({ query, taskMode });
        pick.hide();
      }
    });
    pick.onDidHide(() => {
      resolve(null);
      pick.dispose();
    });
    pick.show();
  });
}

function item(question: string, icon: string): QuestionItem {
  return { label: icon + messageLine(question), question, alwaysShow: icon.includes("search") };
}

function modeButtons(): readonly ModeButton[] {
  return [
    { mode: "build", iconPath: new vscode.ThemeIcon("tools"), tooltip: vscode.l10n.t("For building") },
    { mode: "debug", iconPath: new vscode.ThemeIcon("bug"), tooltip: vscode.l10n.t("For debugging") },
    { mode: "explain", iconPath: new vscode.ThemeIcon("book"), tooltip: vscode.l10n.t("For explaining") },
    { mode: "refactor", iconPath: new vscode.ThemeIcon("references"), tooltip: vscode.l10n.t("For refactoring") },
  ];
}

function modeName(mode: TaskMode): string {
  switch (mode) {
    case "build":
      return vscode.l10n.t("for building");
    case "debug":
      return vscode.l10n.t("for debugging");
    case "explain":
      return vscode.l10n.t("for explaining");
    case "refactor":
      return vscode.l10n.t("for refactoring");
  }
}

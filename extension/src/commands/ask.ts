import * as vscode from "vscode";
import { questionOfText } from "../evidence/question";
import { TASK_MODE } from "../evidence/requestSettings";
import { MAX_QUERY } from "../protocol/check";
import { messageLine } from "../text/untrusted";
import type { PackPanel } from "../webview/panel";
import type { RecentQuestions } from "./recentQuestions";

/** Ask a Question…: offers the selection as a beginning, and earlier questions. */
export async function askQuestion(panel: PackPanel, recent: RecentQuestions): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const selected = editor ? questionOfText(editor.document.getText(editor.selection)) : "";
  const query = await pickQuestion(selected, recent.all);
  if (query === null) {
    return;
  }
  await recent.add(query);
  await panel.ask({ query, taskMode: TASK_MODE, sources: "both", path: "" });
}

interface QuestionItem extends vscode.QuickPickItem {
  question: string;
}

/** One line to type in. Null if the user left it. */
function pickQuestion(start: string, recent: readonly string[]): Promise<string | null> {
  const pick = vscode.window.createQuickPick<QuestionItem>();
  const setItems = () => {
    const typed = pick.value.trim().slice(0, MAX_QUERY);
    const items = recent.filter((question) => question !== typed).map((question) => item(question, "$(history) "));
    pick.items = typed === "" ? items : [item(typed, "$(search) "), ...items];
  };
  pick.title = vscode.l10n.t("Ask about the ADK");
  pick.placeholder = vscode.l10n.t("A question, a symbol or an error message");
  pick.value = start;
  setItems();
  return new Promise((resolve) => {
    pick.onDidChangeValue(setItems);
    pick.onDidAccept(() => {
      const query = pick.selectedItems[0]?.question ?? pick.value.trim();
      if (query !== "") {
        resolve(query);
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

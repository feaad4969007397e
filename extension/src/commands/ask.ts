import * as vscode from "vscode";
import { ageOf } from "../age";
import { questionOfText, TASK_MODE } from "../evidence/question";
import { MAX_QUERY } from "../protocol/check";
import type { HistoryItem } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { PackPanel } from "../webview/panel";

/** A question to ask, or an earlier one to show again. */
type Chosen = { readonly query: string } | { readonly earlier: string };

interface QuestionItem extends vscode.QuickPickItem {
  chosen: Chosen;
}

/** Ask a Question…: a line to type in, which begins with the selection; below it the earlier questions. */
export async function askQuestion(panel: PackPanel): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const selected = editor ? questionOfText(editor.document.getText(editor.selection)) : "";
  await panel.restore();
  const chosen = await pickQuestion(selected, panel);
  if (chosen === null) {
    return;
  }
  if ("earlier" in chosen) {
    await panel.recall(chosen.earlier);
  } else {
    await panel.ask({ query: chosen.query, taskMode: TASK_MODE, sources: "both", path: "" }, true);
  }
}

/** Null if the user left the line. */
function pickQuestion(start: string, panel: PackPanel): Promise<Chosen | null> {
  const pick = vscode.window.createQuickPick<QuestionItem>();
  const clear: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon("clear-all"),
    tooltip: vscode.l10n.t("Clear the history"),
  };
  const setItems = () => {
    const query = pick.value.trim().slice(0, MAX_QUERY);
    const typed = { label: `$(search) ${messageLine(query)}`, chosen: { query }, alwaysShow: true };
    pick.items = [...(query === "" ? [] : [typed]), ...panel.history.map(earlierItem)];
  };
  pick.title = vscode.l10n.t("Ask about the ADK");
  pick.placeholder = vscode.l10n.t("A question, a symbol or an error message");
  pick.matchOnDescription = true;
  pick.buttons = [clear];
  pick.value = start;
  setItems();
  return new Promise((resolve) => {
    pick.onDidChangeValue(setItems);
    pick.onDidTriggerButton(() => {
      panel.clearHistory();
      setItems();
    });
    pick.onDidAccept(() => {
      const [item] = pick.selectedItems;
      const query = pick.value.trim().slice(0, MAX_QUERY);
      // Who types fast presses Enter before the editor has selected anything of the list for what is typed.
      const listed = item !== undefined && pick.items.includes(item);
      const chosen = listed ? item.chosen : query === "" ? undefined : { query };
      if (chosen !== undefined) {
        resolve(chosen);
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

function earlierItem({ id, query, results, askedAt, sources, path }: HistoryItem): QuestionItem {
  const count = results === 1 ? vscode.l10n.t("1 result") : vscode.l10n.t("{0} results", results);
  const sourceLabels = { both: [], docs: [vscode.l10n.t("Docs")], code: [vscode.l10n.t("Code")] };
  const narrowed = [...sourceLabels[sources], ...(path === "" ? [] : [path])];
  const age = ageOf(askedAt, Date.now(), vscode.env.language);
  return {
    chosen: { earlier: id },
    label: `$(history) ${messageLine(query)}`,
    description: messageLine([count, ...narrowed, ...(age === null ? [] : [age])].join(" \u00b7 ")),
  };
}

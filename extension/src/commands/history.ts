import * as vscode from "vscode";
import { ageOf } from "../age";
import type { HistoryItem } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { PackPanel } from "../webview/panel";

interface EntryItem extends vscode.QuickPickItem {
  id: string;
}

/** Show Question History…: the panel's questions, of which one is shown again. */
export async function showHistory(panel: PackPanel): Promise<void> {
  await panel.restore();
  const chosen = await pickEntry(panel);
  if (chosen !== null) {
    await panel.recall(chosen);
  }
}

function pickEntry(panel: PackPanel): Promise<string | null> {
  const pick = vscode.window.createQuickPick<EntryItem>();
  const clear: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon("clear-all"),
    tooltip: vscode.l10n.t("Clear the history"),
  };
  pick.title = vscode.l10n.t("Question History");
  pick.placeholder =
    panel.history.length === 0
      ? vscode.l10n.t("Nothing has been asked yet")
      : vscode.l10n.t("Show the evidence of an earlier question");
  pick.matchOnDescription = true;
  pick.items = panel.history.map(itemOf);
  pick.buttons = [clear];
  return new Promise((resolve) => {
    pick.onDidTriggerButton(() => {
      panel.clearHistory();
      pick.items = panel.history.map(itemOf);
    });
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (chosen !== undefined) {
        resolve(chosen.id);
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

function itemOf({ id, query, results, askedAt, sources, path }: HistoryItem): EntryItem {
  const count = results === 1 ? vscode.l10n.t("1 result") : vscode.l10n.t("{0} results", results);
  const sourceLabels = { both: [], docs: [vscode.l10n.t("Docs")], code: [vscode.l10n.t("Code")] };
  const narrowed = [...sourceLabels[sources], ...(path === "" ? [] : [path])];
  const age = ageOf(askedAt, Date.now(), vscode.env.language);
  return {
    id,
    label: messageLine(query),
    description: messageLine([count, ...narrowed, ...(age === null ? [] : [age])].join(" \u00b7 ")),
  };
}

import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import type { Citations } from "../evidence/openCitation";
import { scopeInUse } from "../evidence/scope";
import { COMMANDS } from "../ids";
import { Problem } from "../problem";
import { MAX_SYMBOL_QUERY } from "../protocol/check";
import type { RankedTarget, TargetAnswer } from "../protocol/generated";
import { activePython } from "../server/pythonExtension";
import { messageLine } from "../text/untrusted";
import { LiveSearch } from "./liveSearch";
import { type SymbolItem, symbolItems } from "./symbolItems";

const MOST_SYMBOLS = 30;

type Search = (query: string, token: vscode.CancellationToken) => Promise<TargetAnswer>;
type Action = "open" | "find" | "copy";

interface ActionButton extends vscode.QuickInputButton {
  action: Action;
}

interface Chosen {
  target: RankedTarget;
  action: Action;
}

/**
 * Go to ADK Symbol…: a list that is searched by the server while the user types.
 *
 * @param argument What to begin with, for keybindings; anything but a text is ignored.
 * @throws Problem if the server cannot search, or the definition cannot be opened.
 */
export async function findSymbol(argument: unknown, evidence: Evidence, citations: Citations): Promise<void> {
  const scope = scopeInUse();
  const start = typeof argument === "string" ? argument : "";
  const chosen = await pickSymbol(start, symbolSearch(evidence, scope, activePython(scope)));
  if (chosen === null) {
    return;
  }
  const { target, action } = chosen;
  switch (action) {
    case "open":
      return citations.openCitation(target.citation, scope);
    case "find":
      await vscode.commands.executeCommand(COMMANDS.findEvidence, { query: target.fqn });
      return;
    case "copy":
      vscode.window.setStatusBarMessage(await copySymbol(target), 5000);
  }
}

/** Copies the import of a symbol, or the name of what is private and has none. @returns What was copied, in words. */
export async function copySymbol({ import_statement, fqn }: RankedTarget): Promise<string> {
  // One line whatever a file of the corpus is named: it may be pasted into a terminal.
  await vscode.env.clipboard.writeText(messageLine(import_statement || fqn));
  return import_statement ? vscode.l10n.t("Import copied.") : vscode.l10n.t("Name copied.");
}

/**
 * Asks the server for symbols, and whether the user's interpreter has them.
 *
 * @param interpreter The search does not wait for it: symbols are marked as soon as it is known.
 */
export function symbolSearch(
  evidence: Pick<Evidence, "targets">,
  scope: vscode.Uri | undefined,
  interpreter: Promise<string | undefined>,
): Search {
  let python: string | undefined;
  void interpreter.then((found) => {
    python = found;
  });
  return async (text, token) => {
    const params = { query: text.slice(0, MAX_SYMBOL_QUERY), limit: MOST_SYMBOLS };
    if (python === undefined) {
      return evidence.targets(params, token, scope);
    }
    try {
      return await evidence.targets({ ...params, python }, token, scope);
    } catch (reason) {
      if (!(reason instanceof Problem && reason.code === "invalid_request")) {
        throw reason;
      }
      // An interpreter whose packages the server does not find marks nothing.
      python = undefined;
      return evidence.targets(params, token, scope);
    }
  };
}

/** Null if the user left the list. @throws What the search fails with, which closes the list. */
function pickSymbol(start: string, search: Search): Promise<Chosen | null> {
  const pick = vscode.window.createQuickPick<SymbolItem>();
  pick.title = vscode.l10n.t("Go to ADK Symbol");
  pick.placeholder = vscode.l10n.t("A name, the beginning of one, or what it is for: retry a tool that fails");
  // Else the editor sorts by label and not in the server's order. The typings of its API lack this member.
  Object.assign(pick, { sortByLabel: false });
  const buttons = itemButtons();
  return new Promise((resolve, reject) => {
    const live = new LiveSearch(search, {
      onBusy: (busy) => {
        pick.busy = busy;
      },
      onAnswer: (answer) => {
        pick.items = answer === null ? [] : symbolItems(answer, buttons);
      },
      onFailure: (reason) => {
        reject(reason);
        pick.hide();
      },
    });
    const choose = (item: SymbolItem | undefined, action: Action) => {
      if (item?.target) {
        resolve({ target: item.target, action });
        pick.hide();
      } else if (item?.warning) {
        void vscode.window.showWarningMessage(item.warning);
        pick.hide();
      }
    };
    pick.onDidChangeValue((text) => live.type(text));
    pick.onDidAccept(() => choose(pick.selectedItems[0], "open"));
    pick.onDidTriggerItemButton(({ item, button }) => {
      const pressed = buttons.find((candidate) => candidate === button);
      if (pressed !== undefined) {
        choose(item, pressed.action);
      }
    });
    pick.onDidHide(() => {
      resolve(null);
      live.dispose();
      pick.dispose();
    });
    pick.value = start;
    pick.show();
    live.type(start);
  });
}

function itemButtons(): readonly ActionButton[] {
  return [
    { action: "find", iconPath: new vscode.ThemeIcon("search"), tooltip: vscode.l10n.t("Find evidence") },
    { action: "copy", iconPath: new vscode.ThemeIcon("copy"), tooltip: vscode.l10n.t("Copy import") },
  ];
}

import * as vscode from "vscode";
import { copyFrom } from "../commands/copy";
import { PANEL_KEY } from "../commands/find";
import { CONTEXT, SOURCE_SCHEME } from "../ids";
import type { PanelActions } from "../webview/actions";
import type { Evidence } from "./client";
import type { Citations } from "./openCitation";
import { paramsOf } from "./question";
import { projectOf, scopeInUse } from "./scope";

/** The address of the source that the panel opened, until another document is in use. */
let opened: string | null = null;

/** What the panel's clicks do. */
export function panelActions(evidence: Evidence, citations: Citations): PanelActions {
  return {
    ask(question, token) {
      const scope = scopeInUse();
      return evidence.find({ ...paramsOf(question), supersedeKey: PANEL_KEY }, token, scope);
    },
    open: (candidate, pack, where) => citations.open(candidate, pack, where).then(noteOpened),
    openCitation: (citation, pack) => citations.openCitation(citation, evidence.scopeOf(pack)).then(noteOpened),
    copy: (what, pack, candidate) => copyFrom(what, pack, candidate, evidence),
    scopeOf: (pack) => evidence.scopeOf(pack)?.toString() ?? null,
    folderOf: (pack) => projectOf(evidence.scopeOf(pack)).folder ?? null,
    takeUp: (pack, scope) => evidence.takeUp(pack, scope),
    async act({ command, arguments: rest = [] }) {
      await vscode.commands.executeCommand(command, ...rest);
    },
  };
}

/** From now on, Escape leads to the panel only until another document is in use, which may lead to sources itself. */
export function followOpened(): vscode.Disposable {
  return vscode.window.onDidChangeActiveTextEditor((editor) => {
    if (opened !== null && editor !== undefined && editor.document.uri.toString() !== opened) {
      setOpened(null);
    }
  });
}

function noteOpened(): void {
  const uri = vscode.window.activeTextEditor?.document.uri;
  setOpened(uri?.scheme === SOURCE_SCHEME ? uri.toString() : null);
}

function setOpened(address: string | null): void {
  opened = address;
  void vscode.commands.executeCommand("setContext", CONTEXT.openedByPanel, address !== null);
}

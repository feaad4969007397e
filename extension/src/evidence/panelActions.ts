import * as vscode from "vscode";
import { copyFrom } from "../commands/copy";
import { PANEL_KEY } from "../commands/find";
import type { PanelActions } from "../webview/actions";
import type { Evidence } from "./client";
import type { Citations } from "./openCitation";
import { paramsOf } from "./question";
import { projectOf, scopeInUse } from "./scope";

/** What the panel's clicks do. */
export function panelActions(evidence: Evidence, citations: Citations): PanelActions {
  return {
    ask(question, token) {
      const scope = scopeInUse();
      return evidence.find({ ...paramsOf(question), supersedeKey: PANEL_KEY }, token, scope);
    },
    open: (candidate, pack, where) => citations.open(candidate, pack, where),
    openCitation: (citation, pack) => citations.openCitation(citation, evidence.scopeOf(pack)),
    copy: (what, pack, candidate) => copyFrom(what, pack, candidate, evidence),
    scopeOf: (pack) => evidence.scopeOf(pack)?.toString() ?? null,
    folderOf: (pack) => projectOf(evidence.scopeOf(pack)).folder ?? null,
    takeUp: (pack, scope) => evidence.takeUp(pack, scope),
    async act({ command, arguments: rest = [] }) {
      await vscode.commands.executeCommand(command, ...rest);
    },
  };
}

/** What the extension does unasked to keep the servers running and up to date. */

import * as vscode from "vscode";
import { type SetUpParts, upgrade } from "./commands/environment";
import { scopeInUse } from "./evidence/scope";
import { isSynchronized } from "./evidence/synchronized";
import { Problem } from "./problem";
import type { AdkProjects } from "./server/adkProject";
import type { VoyageKey } from "./server/key";
import { showProblem } from "./server/showProblem";
import { onDidChangePrograms } from "./server/workspace";

export function upkeep(parts: SetUpParts, key: VoyageKey, projects: AdkProjects): vscode.Disposable {
  const { pool } = parts;
  const warm = (document: vscode.TextDocument) => {
    if (isSynchronized(document)) {
      void pool.warm(document.uri);
    }
  };
  // Hovers need a server in each folder that uses the ADK and whose Python files are open.
  const warmAll = () => vscode.workspace.textDocuments.forEach(warm);
  warmAll();
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(warm),
    // Of a folder whose Python files are closed, the status item would not know that another folder's server serves it.
    vscode.window.onDidChangeActiveTextEditor((editor) => {
      if (editor && projects.has(editor.document.uri) && vscode.workspace.textDocuments.some(isSynchronized)) {
        void pool.warm(editor.document.uri);
      }
    }),
    projects.onDidFind(warmAll),
    onDidChangePrograms(() => void pool.reconcile()),
    // With the first key, Voyage's client is installed.
    key.onDidChange(() => void upgradeOrLog(parts).then(() => pool.reconcile(true))),
    upgradeWhenUsed(parts),
    offerRepair(parts),
  );
}

/** Updates the private environment once in a window, when a server is wanted that runs from an older one. */
function upgradeWhenUsed(parts: SetUpParts): vscode.Disposable {
  const { pool } = parts;
  let looked = false;
  return pool.onDidChange(() => {
    const state = pool.state(scopeInUse());
    const used =
      (state.kind === "ready" && state.launch.origin === "privateEnvironment") ||
      (state.kind === "down" && state.problem.code === "environment_outdated");
    if (looked || !used) {
      return;
    }
    looked = true;
    void upgradeOrLog(parts).then((error) => {
      // An older environment that fits serves on; the next window tries again.
      if (state.kind === "down" && error instanceof Problem) {
        void showProblem(error);
      }
    });
  });
}

function upgradeOrLog(parts: SetUpParts): Promise<unknown> {
  return upgrade(parts).catch((error: unknown) => {
    parts.log.warn(`The environment was not updated: ${error instanceof Error ? error.message : ""}`);
    return error;
  });
}

/** Offers once per window to repair a broken environment, whatever needed the environment. */
function offerRepair({ pool }: SetUpParts): vscode.Disposable {
  let offered = false;
  return pool.onDidChange(() => {
    const state = pool.state(scopeInUse());
    if (!offered && state.kind === "down" && state.problem.code === "environment_broken") {
      offered = true;
      void showProblem(state.problem);
    }
  });
}

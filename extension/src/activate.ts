/** Puts the extension together. */

import path from "node:path";
import * as vscode from "vscode";
import { createApi } from "./api/index";
import type { AdkEvidenceApi } from "./api/types";
import { registerDoctor } from "./commands/doctor";
import { registerSetUp, type SetUpParts, upgrade } from "./commands/environment";
import { registerSetKey } from "./commands/key";
import { registerShowLogs } from "./commands/logs";
import { registerRestart } from "./commands/restart";
import { registerEvidence } from "./evidence/register";
import { followEditors, scopeInUse } from "./evidence/scope";
import { createLog } from "./log";
import { registerMcpServers } from "./mcp/provider";
import { Problem } from "./problem";
import { findPayload, PrivateEnvironment } from "./server/environment";
import { VoyageKey } from "./server/key";
import { ServerPool } from "./server/pool";
import { run } from "./server/process";
import { Prober } from "./server/python";
import { onDidRecover } from "./server/recovery";
import { showProblem } from "./server/showProblem";
import { StatusItem } from "./server/status";
import { createWorkspace, extensionVersion, folderOf, onDidChangePrograms } from "./server/workspace";

let pool: ServerPool | undefined;

/** Starts nothing that takes time: servers start when they are needed, or in the background. */
export function activate(context: vscode.ExtensionContext): AdkEvidenceApi {
  const log = createLog();
  const prober = new Prober(run);
  const payload = () => findPayload(path.join(context.extensionPath, "extension", "dist", "server"));
  const environment = new PrivateEnvironment(context.globalStorageUri.fsPath, payload, run, prober.probe);
  const key = new VoyageKey(context.secrets);
  const workspace = createWorkspace({ context, log, prober, environment, key, pool: () => servers });
  const servers: ServerPool = new ServerPool(workspace);
  pool = servers;
  const setUp: SetUpParts = { environment, prober, pool: servers, log };

  context.subscriptions.push(
    log,
    followEditors(),
    new StatusItem(servers, folderOf),
    registerSetUp(setUp),
    registerRestart(servers, log),
    registerShowLogs(log),
    registerDoctor(servers, extensionVersion(context), log),
    registerSetKey(key, log),
    servers.onDidGiveUp((problem) => void showProblem(problem)),
    upgradeWhenUsed(setUp),
    offerRepair(servers),
    restartWhenNeeded(servers, key),
    warmForPython(servers),
    registerMcpServers({
      version: extensionVersion(context),
      key,
      resolve: (folder, fresh) => workspace.resolve(folderOf(folder?.uri), fresh),
      onDidChange: (listener) =>
        vscode.Disposable.from(onDidChangePrograms(listener), environment.onDidSetUp(listener)),
    }),
  );
  return createApi(registerEvidence(context, servers, log, (listener) => onDidRecover(servers, listener)));
}

/** Ends the servers with the window. */
export function deactivate(): Promise<void> | undefined {
  return pool?.stop();
}

/** Updates the private environment once in a window, when a server is wanted that runs from an older one. */
function upgradeWhenUsed(parts: SetUpParts): vscode.Disposable {
  const { pool: servers, log } = parts;
  let looked = false;
  return servers.onDidChange(() => {
    const state = servers.state(scopeInUse());
    const used =
      (state.kind === "ready" && state.launch.origin === "privateEnvironment") ||
      (state.kind === "down" && state.problem.code === "environment_outdated");
    if (looked || !used) {
      return;
    }
    looked = true;
    upgrade(parts).catch((error: unknown) => {
      log.warn(`The environment was not updated: ${error instanceof Error ? error.message : ""}`);
      // An older one that fits serves on; the next window tries again.
      if (state.kind === "down" && error instanceof Problem) {
        void showProblem(error);
      }
    });
  });
}

/** Offers once in a window to repair an environment that is found to be broken, whoever needed it. */
function offerRepair(servers: ServerPool): vscode.Disposable {
  let offered = false;
  return servers.onDidChange(() => {
    const state = servers.state(scopeInUse());
    if (offered || state.kind !== "down" || state.problem.code !== "environment_broken") {
      return;
    }
    offered = true;
    void showProblem(state.problem);
  });
}

/** Looks again at which programs are needed whenever something that decides it has changed. */
function restartWhenNeeded(servers: ServerPool, key: VoyageKey): vscode.Disposable {
  return vscode.Disposable.from(
    onDidChangePrograms(() => void servers.reconcile()),
    key.onDidChange(() => void servers.reconcile(true)),
  );
}

/** Starts servers in the background for the folders whose Python files are open, so that hovers work. */
function warmForPython(servers: ServerPool): vscode.Disposable {
  const warm = (document: vscode.TextDocument) => {
    if (document.languageId === "python") {
      void servers.warm(document.uri);
    }
  };
  vscode.workspace.textDocuments.forEach(warm);
  return vscode.workspace.onDidOpenTextDocument(warm);
}

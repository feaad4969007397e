/** What the pool needs to know of the editor's workspace: folders, settings, interpreters. */

import fs from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";
import {
  diagnosticsWanted,
  expandHere,
  folderPath,
  hoversWanted,
  indexSettings,
  launchSettings,
  serverSettings,
} from "../config";
import { folderInUse } from "../evidence/scope";
import { sourceAddress, workspaceFolderOf } from "../evidence/sourceAddress";
import { isSynchronized } from "../evidence/synchronized";
import { SECTION } from "../ids";
import type { AdkProjects } from "./adkProject";
import { CHECKER } from "./checkers";
import type { PrivateEnvironment } from "./environment";
import type { Interpreters } from "./interpreters";
import type { VoyageKey } from "./key";
import type { Folder, PoolWorkspace, ServerPool } from "./pool";
import { environmentPython, type Prober } from "./python";
import { activePython, onDidChangePython } from "./pythonExtension";
import { type Resolution, resolve } from "./resolve";
import { ClientSession } from "./session";

export interface WorkspaceParts {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly prober: Prober;
  readonly environment: PrivateEnvironment;
  readonly key: VoyageKey;
  readonly interpreters: Interpreters;
  readonly projects: AdkProjects;
  /** The pool itself, which exists only after its workspace. */
  readonly pool: () => ServerPool;
}

export function createWorkspace(parts: WorkspaceParts): PoolWorkspace {
  const { context, log, prober, environment, key, interpreters, projects, pool } = parts;
  const known = new Map<string, Promise<Resolution>>();

  const look = async (folder: Folder): Promise<Resolution> => {
    const workspaceFolder = folderAt(folder);
    const settings = launchSettings(workspaceFolder);
    const resolution = await resolve(
      {
        command: settings.command,
        interpreter: { text: settings.interpreter, path: expandHere(settings.interpreter, workspaceFolder) },
        trusted: vscode.workspace.isTrusted,
        version: extensionVersion(context),
      },
      {
        probe: prober.probe,
        // A folder that is not on a disk has no interpreter.
        activePython: () => activePython(folderPath(workspaceFolder) === undefined ? undefined : folder.uri),
        privateEnvironment: () => environment.state(),
        checkoutPython: () => checkoutPython(context),
      },
    );
    for (const { origin, found } of resolution.trail) {
      log.debug(`${origin}: ${found}`);
    }
    return resolution;
  };

  const isUnserved = (folder: Folder, uri: vscode.Uri) =>
    workspaceFolderOf(uri)?.uri.toString() === folder.id && pool().state(uri).kind !== "ready";

  return {
    folderOf,
    isOpen: (folder) => folder.id === "" || folderAt(folder) !== undefined,
    resolve: (folder, fresh) => {
      const earlier = fresh ? undefined : known.get(folder.id);
      if (fresh) {
        prober.forget();
      }
      const found = earlier ?? look(folder);
      known.set(folder.id, found);
      return found;
    },
    variant: (folder) => JSON.stringify(indexSettings(folderAt(folder))),
    createSession: (launch, sessionKey, folder, ended) =>
      new ClientSession(launch, {
        log,
        version: extensionVersion(context),
        environment: async () => (sessionKey === CHECKER ? {} : key.environment()),
        settings: () => ({
          ...serverSettings(folderAt(folder), log.logLevel),
          interpreters: interpreters.byFolder,
        }),
        settled: () => interpreters.known(),
        onDidChangeSettings: (listener) =>
          vscode.Disposable.from(log.onDidChangeLogLevel(listener), interpreters.onDidChange(listener)),
        synchronizes: isSynchronized,
        onDidSynchronize: (listener) => projects.onDidFind(listener),
        serves: ({ uri }) => (sessionKey === CHECKER ? isUnserved(folder, uri) : pool().serves(sessionKey, uri)),
        hoversWanted: (document) => hoversWanted(document.uri),
        diagnosticsWanted: (document) => diagnosticsWanted(document.uri),
        // Without a folder: the editor then lists a symbol once that several servers know.
        sourceAddress: (file) => sourceAddress(file, undefined),
        ended,
      }),
  };
}

/** The folder of a document; outside of the workspace the folder in use, so that one server serves both. */
export function folderOf(scope: vscode.Uri | undefined): Folder {
  const found = scope && workspaceFolderOf(scope);
  const folder = found ?? folderInUse();
  return folder ? { id: folder.uri.toString(), uri: folder.uri } : { id: "", uri: undefined };
}

function folderAt(folder: Folder): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.workspaceFolders?.find(({ uri }) => uri.toString() === folder.id);
}

export function extensionVersion(context: vscode.ExtensionContext): string {
  const manifest: { version?: unknown } = context.extension.packageJSON;
  return typeof manifest.version === "string" ? manifest.version : "";
}

/** Calls back when something changed that decides which programs serve the folders, and from which index. */
export function onDidChangePrograms(listener: () => void): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => {
      const deciding = ["server", "home"];
      if (deciding.some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) {
        listener();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(listener),
    vscode.workspace.onDidChangeWorkspaceFolders(listener),
    onDidChangePython(listener),
  );
}

/** The interpreter of the checkout, while the extension is developed in it. */
async function checkoutPython(context: vscode.ExtensionContext): Promise<string | undefined> {
  if (context.extensionMode !== vscode.ExtensionMode.Development) {
    return undefined;
  }
  const python = environmentPython(path.join(context.extensionPath, ".venv"));
  return fs.access(python).then(
    () => python,
    () => undefined,
  );
}

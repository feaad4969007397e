import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { GetStarted, type JobParts } from "../../../src/server/getStarted";
import type { ServerState } from "../../../src/server/managedServer";
import type { Answered, ServerPool } from "../../../src/server/pool";
import { StatusItem } from "../../../src/server/status";
import { statusKind } from "../../../src/server/statusText";
import { FakeEditor, Uri } from "../fake-vscode";

const LAUNCH = { command: "p", args: [], isolated: true, key: "p", origin: "command", version: null } as const;
const READY: ServerState = { kind: "ready", launch: LAUNCH };
const USED = { hasInUse: () => true, onDidFind: () => new vscode.Disposable(() => undefined) };

function idleJob(): ConstructorParameters<typeof StatusItem>[2] {
  const memento = { keys: () => [], get: () => undefined, update: async () => undefined };
  return new GetStarted({} as JobParts, memento as unknown as vscode.Memento);
}

describe("the status item", () => {
  let shown: boolean;
  let before: { window: object; workspace: object };
  beforeEach(() => {
    shown = false;
    before = { window: { ...vscode.window }, workspace: { ...vscode.workspace } };
    Object.assign(vscode.window, {
      createStatusBarItem: () => ({
        show: () => {
          shown = true;
        },
        hide: () => {
          shown = false;
        },
        dispose: () => undefined,
      }),
      onDidChangeWindowState: () => new vscode.Disposable(() => undefined),
    });
    Object.assign(vscode.workspace, { onDidGrantWorkspaceTrust: () => new vscode.Disposable(() => undefined) });
  });
  afterEach(() => {
    Object.assign(vscode.window, before.window);
    Object.assign(vscode.workspace, before.workspace);
  });

  it("is there once it can say how things are where the ADK is used, and where somebody has asked all the same", () => {
    const changes = new vscode.EventEmitter<void>();
    const finds = new vscode.EventEmitter<void>();
    let state: ServerState = { kind: "idle" };
    let used = false;
    let looked = false;
    const pool = {
      onDidChange: changes.event,
      onDidAnswer: () => new vscode.Disposable(() => undefined),
      state: () => state,
      look: () => looked,
    } as unknown as ServerPool;
    const status = new StatusItem(pool, () => ({ id: "" }), idleJob(), {
      hasInUse: () => used,
      onDidFind: finds.event,
    });
    assert.equal(shown, false);
    state = { kind: "starting" };
    changes.fire();
    assert.equal(shown, true);
    state = { kind: "idle" };
    changes.fire();
    assert.equal(shown, false);
    used = true;
    finds.fire();
    assert.equal(shown, false);
    looked = true;
    changes.fire();
    assert.equal(shown, true);
    status.dispose();
  });

  it("tells of each folder of the window the index that answers there", async () => {
    const asked: unknown[] = [];
    const answers = new vscode.EventEmitter<Answered>();
    const pool = {
      onDidChange: () => new vscode.Disposable(() => undefined),
      onDidAnswer: answers.event,
      state: () => READY,
      request: async (_method: string, params: object, _token: unknown, scope: vscode.Uri) => {
        asked.push(params);
        const pending = scope.path.startsWith("/old");
        const index = { dense: pending ? "pending" : "complete", created_at: "", corpora: {} };
        answers.fire({
          folder: folderOf(scope),
          method: "adk/status",
          result: { index, projects: [] },
        } as unknown as Answered);
      },
    } as unknown as ServerPool;
    const [old, other] = ["old", "new"].map((name, index) => ({ name, index, uri: Uri.file(`/${name}`) }));
    Object.assign(vscode.workspace, {
      workspaceFolders: [old, other],
      getWorkspaceFolder: ({ path }: vscode.Uri) => [old, other].find((each) => path.startsWith(each?.uri.path ?? "-")),
    });
    const folderOf = (scope?: vscode.Uri) => ({
      id: String(vscode.workspace.getWorkspaceFolder(scope as vscode.Uri)?.uri),
    });
    const kinds = ["/old/a.py", "/new/b.py"].map((path) => {
      Object.assign(vscode.window, { activeTextEditor: new FakeEditor(Uri.file(path), "") });
      const status = new StatusItem(pool, folderOf, idleJob(), USED);
      const kind = statusKind(status.situation());
      status.dispose();
      return kind;
    });
    assert.deepEqual(kinds, ["partial", "ready"]);
    assert.deepEqual(asked, [
      { folder: "file:///old", examined: false },
      { folder: "file:///new", examined: false },
    ]);
  });

  it("asks again for the folder whose answer told more, whichever folder is in use", () => {
    const answers = new vscode.EventEmitter<Answered>();
    const asked: (string | undefined)[] = [];
    const pool = {
      onDidChange: () => new vscode.Disposable(() => undefined),
      onDidAnswer: answers.event,
      state: () => READY,
      request: async (_method: string, _params: object, _token: unknown, scope?: vscode.Uri) => {
        asked.push(scope?.path);
      },
    } as unknown as ServerPool;
    const activate = (path: string) =>
      Object.assign(vscode.window, { activeTextEditor: new FakeEditor(Uri.file(path), "") });
    activate("/b");
    const status = new StatusItem(pool, (scope) => ({ id: scope?.toString() ?? "" }), idleJob(), USED);
    activate("/a");
    const uri = vscode.Uri.file("/b");
    const adk = { indexed: "2.13.0", wanted: "1.18.0", taken_from: ".venv" };
    const answered = { folder: { id: uri.toString(), uri }, method: "adk/evidence", result: { index: null, adk } };
    answers.fire(answered as unknown as Answered);
    // A refresh of the folder in use may ask for that, too.
    assert.deepEqual(
      asked.filter((path) => path === "/b"),
      ["/b", "/b"],
    );
    // A question that failed tells nothing.
    answers.fire({ ...answered, result: undefined } as unknown as Answered);
    answers.fire({ ...answered, method: "adk/ingest", result: {} } as unknown as Answered);
    assert.equal(asked.filter((path) => path === "/b").length, 3);
    status.dispose();
  });
});

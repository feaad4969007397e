import assert from "node:assert/strict";
import { mock } from "node:test";
import { afterEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { Interpreters } from "../../../src/server/interpreters";

function open(...folders: vscode.Uri[]): void {
  Object.assign(vscode.workspace, { workspaceFolders: folders.map((uri, index) => ({ uri, name: "", index })) });
}

describe("the interpreters of the folders", () => {
  afterEach(() => Object.assign(vscode.workspace, { workspaceFolders: undefined }));

  it("are those of the folders on the disk that have one", async () => {
    open(vscode.Uri.file("/a"), vscode.Uri.file("/b"), vscode.Uri.parse("vscode-vfs://x/c"));
    const asked: string[] = [];
    const interpreters = new Interpreters(async ({ path }) => {
      asked.push(path);
      return path === "/a" ? "/a/.venv/bin/python" : undefined;
    });
    let changes = 0;
    interpreters.onDidChange(() => {
      changes += 1;
    });
    await interpreters.known();
    await interpreters.known();
    assert.deepEqual(interpreters.byFolder, { "file:///a": "/a/.venv/bin/python" });
    assert.deepEqual([asked, changes], [["/a", "/b"], 1]);
    interpreters.dispose();
  });

  it("are those of the latest look, also where an earlier one ends later", async () => {
    open(vscode.Uri.file("/a"));
    const { onDidChangeWorkspaceFolders } = vscode.workspace;
    let look = () => {};
    Object.assign(vscode.workspace, {
      onDidChangeWorkspaceFolders: (listener: () => void) => {
        look = listener;
        return { dispose: () => undefined };
      },
    });
    const answers: ((python: string) => void)[] = [];
    const interpreters = new Interpreters(() => new Promise((answer) => answers.push(answer)));
    Object.assign(vscode.workspace, { onDidChangeWorkspaceFolders });
    const first = interpreters.known();
    look();
    answers[1]?.("/new/python");
    await interpreters.known();
    answers[0]?.("/old/python");
    await first;
    assert.deepEqual(interpreters.byFolder, { "file:///a": "/new/python" });
    interpreters.dispose();
  });

  it("are waited for no longer than a second, and told when they are known", async () => {
    open(vscode.Uri.file("/a"));
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      let answer = (_python: string) => {};
      const interpreters = new Interpreters(
        () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      );
      const waited = interpreters.known();
      mock.timers.tick(1000);
      await waited;
      assert.deepEqual(interpreters.byFolder, {});
      const told = new Promise<void>((resolve) => interpreters.onDidChange(resolve));
      answer("/a/python");
      await told;
      assert.deepEqual(interpreters.byFolder, { "file:///a": "/a/python" });
      interpreters.dispose();
    } finally {
      mock.timers.reset();
    }
  });
});

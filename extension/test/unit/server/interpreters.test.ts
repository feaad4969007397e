import assert from "node:assert/strict";
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
});

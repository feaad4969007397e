import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import type { ExtensionContext } from "vscode";
import { WorkspaceMemory } from "../../../src/webview/memory";
import type { SavedState } from "../../../src/webview/messages";
import { docsCandidate, packOf, QUESTION, stateOf } from "../../webview/packs";
import { Uri, workspace } from "../fake-vscode";

const FILE = "/storage/panel.json";

function stateFor(query: string, text = "x"): SavedState {
  const draft = { ...QUESTION, query };
  return { version: 1, view: stateOf(packOf([docsCandidate({ text })])), draft, active: null };
}

describe("what a workspace remembers of the panel", () => {
  const files = new Map<string, Uint8Array>();
  let steps: string[] = [];
  let failure: Error | null = null;
  const step = async (name: string) => {
    steps.push(name);
    await Promise.resolve();
    if (failure !== null) {
      throw failure;
    }
  };
  Object.assign(workspace.fs, {
    createDirectory: () => step("folder"),
    writeFile: async (uri: Uri, bytes: Uint8Array) => {
      await step("write");
      files.set(uri.path, bytes);
    },
    rename: async (from: Uri, to: Uri) => {
      await step("rename");
      files.set(to.path, files.get(from.path) ?? new Uint8Array());
      files.delete(from.path);
    },
    readFile: async (uri: Uri) => {
      const bytes = files.get(uri.path);
      assert.ok(bytes !== undefined, "there is no file");
      return bytes;
    },
  });
  let memory: WorkspaceMemory;
  beforeEach(() => {
    files.clear();
    steps = [];
    failure = null;
    memory = new WorkspaceMemory({ storageUri: Uri.file("/storage") } as unknown as ExtensionContext);
  });

  it("is what was kept last, written whole and by one at a time", async () => {
    await Promise.all(["a", "b"].map((query) => memory.keep(stateFor(query))));
    const during = memory.keep(stateFor("c"));
    await Promise.resolve();
    await Promise.resolve();
    await Promise.all([during, memory.keep(stateFor("d"))]);
    assert.equal((await memory.load())?.draft.query, "d");
    assert.deepEqual(steps.slice(0, 6), ["folder", "write", "rename", "folder", "write", "rename"]);
    assert.deepEqual([...files.keys()], [FILE]);
  });

  it("stays as it was where the disk fails, and no question fails with it", async () => {
    await memory.keep(stateFor("a"));
    failure = new Error("ENOSPC");
    await memory.keep(stateFor("b"));
    assert.equal((await memory.load())?.draft.query, "a");
  });

  it("is nothing where the file is not of this version", async () => {
    files.set(FILE, new TextEncoder().encode('{"version": 9}'));
    assert.equal(await memory.load(), null);
  });

  it("has the questions alone where the pack is too large", async () => {
    await memory.keep(stateFor("a", "x".repeat(3_000_001)));
    const kept = await memory.load();
    assert.deepEqual([kept?.view.pack, kept?.view.history.length], [null, 1]);
  });
});

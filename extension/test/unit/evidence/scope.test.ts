import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Disposable, Uri as VscodeUri } from "vscode";
import { folderInUse, followEditors, scopeInUse } from "../../../src/evidence/scope";
import { sourceAddress } from "../../../src/evidence/sourceAddress";
import { FakeEditor, Uri, window, workspace } from "../fake-vscode";

describe("the folder that is worked in", () => {
  let following: Disposable;

  beforeEach(() => {
    workspace.workspaceFolders = ["/first", "/second"].map((path, index) => ({
      uri: Uri.file(path),
      name: path,
      index,
    }));
    following = followEditors();
  });
  afterEach(() => {
    following.dispose();
    workspace.workspaceFolders = undefined;
    window.activeTextEditor = undefined;
    window.visibleTextEditors = [];
  });

  function activate(uri: Uri | null): void {
    window.activeTextEditor = uri === null ? undefined : new FakeEditor(uri, "");
    window.activeEditorChanged.fire(window.activeTextEditor);
  }

  it("is that of the active editor, not of the first one in sight", () => {
    window.visibleTextEditors = [new FakeEditor(Uri.file("/first/a.py"), "")];
    activate(Uri.file("/second/b.py"));
    assert.equal(scopeInUse()?.path, "/second/b.py");
  });

  it("stays that of the last editor while a panel, or a file of no folder, is active", () => {
    activate(Uri.file("/second/b.py"));
    activate(null);
    assert.equal(scopeInUse()?.path, "/second");
    activate(Uri.file("/elsewhere/c.py"));
    assert.equal(folderInUse()?.name, "/second");
  });

  it("is for a cited source the one whose server knows it", () => {
    activate(Uri.file("/first/a.py"));
    const place = { repo: "google/adk-python", commit: "v1", path: "a.py" };
    activate(sourceAddress(place, Uri.file("/second/b.py") as unknown as VscodeUri) as unknown as Uri);
    assert.equal(folderInUse()?.name, "/second");
  });

  it("is the first one where the last one was closed", () => {
    activate(Uri.file("/second/b.py"));
    activate(null);
    workspace.workspaceFolders = workspace.workspaceFolders?.slice(0, 1);
    assert.equal(folderInUse()?.name, "/first");
  });
});

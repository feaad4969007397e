import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { DEPENDENCY_FILES, type Files, pinIn } from "../../../src/server/adkFiles";
import { AdkProjects } from "../../../src/server/adkProject";
import type { FakeEditor } from "../fake-vscode";

const IMPORTS = "from google.adk.agents import LlmAgent\n";
const OTHER = "import os\n";

/** A disk of files by their paths, which counts what is read of it. */
class Disk implements Files {
  readonly files = new Map<string, string>();
  /** The sizes of files that are larger than their texts. */
  readonly sizes = new Map<string, number>();
  /** What is neither a file nor a folder, and links to folders. */
  readonly types = new Map<string, vscode.FileType>();
  listings = 0;
  reads: string[] = [];

  async readDirectory(folder: vscode.Uri): Promise<[string, vscode.FileType][]> {
    this.listings++;
    const found = new Map<string, vscode.FileType>();
    for (const path of [...this.files.keys(), ...this.types.keys()]) {
      if (path.startsWith(`${folder.path}/`)) {
        const [name = "", ...more] = path.slice(folder.path.length + 1).split("/");
        const type = more.length > 0 ? vscode.FileType.Directory : this.types.get(path);
        found.set(name, type ?? vscode.FileType.File);
      }
    }
    if (found.size === 0) {
      throw new Error("there is no such folder");
    }
    return [...found];
  }

  async readFile(file: vscode.Uri): Promise<Uint8Array> {
    this.reads.push(file.path);
    const text = this.files.get(file.path);
    if (text === undefined) {
      throw new Error("there is no such file");
    }
    return new TextEncoder().encode(text);
  }

  async stat(file: vscode.Uri): Promise<{ type: vscode.FileType; size: number }> {
    const size = this.sizes.get(file.path) ?? this.files.get(file.path)?.length;
    if (size === undefined) {
      throw new Error("there is no such file");
    }
    return { type: this.types.get(file.path) ?? vscode.FileType.File, size };
  }
}

function python(uri: vscode.Uri, text: string, languageId = "python"): vscode.TextDocument {
  const document = {
    uri,
    languageId,
    text,
    positionAt: () => new vscode.Position(document.text.split("\n").length, 0),
    validateRange: (range: vscode.Range) => range,
    getText: ({ start, end }: vscode.Range) =>
      document.text
        .split("\n")
        .slice(start.line, end.line)
        .map((line) => `${line}\n`)
        .join(""),
  };
  return document as unknown as vscode.TextDocument;
}

function file(path: string): vscode.Uri {
  return vscode.Uri.file(path);
}

describe("the projects of a window", () => {
  let before: { window: object; workspace: object; extensions: object; commands: object };
  let disk: Disk;
  let said: string[];
  let context: unknown[];
  let finds: number;
  let projects: AdkProjects | undefined;
  let opened: vscode.EventEmitter<vscode.TextDocument>;
  let saved: vscode.EventEmitter<vscode.TextDocument>;
  let changed: vscode.EventEmitter<unknown>;
  let folders: vscode.EventEmitter<{ removed: readonly vscode.WorkspaceFolder[] }>;
  let active: vscode.EventEmitter<FakeEditor | undefined>;
  let written: Map<string, vscode.EventEmitter<vscode.Uri>>;

  beforeEach(() => {
    before = {
      window: { ...vscode.window },
      workspace: { ...vscode.workspace },
      extensions: { ...vscode.extensions },
      commands: { ...vscode.commands },
    };
    disk = new Disk();
    said = [];
    context = [];
    finds = 0;
    opened = new vscode.EventEmitter();
    saved = new vscode.EventEmitter();
    changed = new vscode.EventEmitter();
    folders = new vscode.EventEmitter();
    active = new vscode.EventEmitter();
    written = new Map();
    Object.assign(vscode.workspace, {
      textDocuments: [],
      onDidOpenTextDocument: opened.event,
      onDidSaveTextDocument: saved.event,
      onDidChangeTextDocument: changed.event,
      onDidChangeWorkspaceFolders: folders.event,
      createFileSystemWatcher: (pattern: string) => {
        const events = new vscode.EventEmitter<vscode.Uri>();
        written.set(pattern, events);
        return { onDidCreate: events.event, onDidChange: events.event, dispose: () => undefined };
      },
    });
    Object.assign(vscode.window, { onDidChangeActiveTextEditor: active.event, activeTextEditor: undefined });
    Object.assign(vscode.commands, { executeCommand: async (...words: unknown[]) => void context.push(words) });
  });
  afterEach(() => {
    projects?.dispose();
    projects = undefined;
    Object.assign(vscode.window, before.window);
    Object.assign(vscode.workspace, before.workspace);
    Object.assign(vscode.extensions, before.extensions);
    Object.assign(vscode.commands, before.commands);
  });

  /** Opens a window on folders, and waits until their files were looked at. */
  async function open(...names: string[]): Promise<AdkProjects> {
    setFolders(...names);
    const made = new AdkProjects({ info: (line: string) => void said.push(line) }, disk);
    projects = made;
    made.onDidFind(() => {
      finds += 1;
    });
    await Promise.all((vscode.workspace.workspaceFolders ?? []).map((folder) => made.hasFolder(folder)));
    return made;
  }

  function setFolders(...names: string[]): void {
    const opened = names.map((name, index) => ({ name, index, uri: file(`/${name}`) }));
    Object.assign(vscode.workspace, { workspaceFolders: opened.length > 0 ? opened : undefined });
  }

  /** Lets what an event has begun come to its end. */
  async function settled(): Promise<void> {
    for (let turn = 0; turn < 200; turn++) {
      await Promise.resolve();
    }
  }

  for (const path of [
    "requirements.txt",
    "requirements/agents.txt",
    "backend/requirements.txt",
    "services/shop/requirements-dev.in",
    "services/shop/pyproject.toml",
  ]) {
    it(`use the ADK where ${path} names it`, async () => {
      disk.files.set(`/shop/${path}`, path.endsWith(".toml") ? 'dependencies = ["google-adk"]' : "google-adk>=1\n");
      const found = await open("shop");
      assert.ok(found.has(file("/shop/any/where.py")));
      assert.ok(found.hasInUse(undefined));
      assert.ok(said[0]?.includes(path), said[0]);
    });
  }

  for (const path of [
    "a/b/c/requirements.txt",
    "node_modules/requirements.txt",
    ".venv/requirements.txt",
    "a/vendor/requirements.txt",
    "README.md",
  ]) {
    it(`do not where nothing but ${path} names it`, async () => {
      disk.files.set(`/shop/${path}`, "google-adk>=1\n");
      const found = await open("shop");
      assert.ok(!found.has(file("/shop/agent.py")));
      assert.ok(!found.hasInUse(undefined));
      assert.deepEqual(disk.reads, []);
      assert.match(said.join("\n"), /shop does not use google-adk/);
    });
  }

  it("keep no key of the shortcut waiting: it asks until they were looked at, and then where the ADK is used", async () => {
    const { contributes } = JSON.parse(await readFile("package.json", "utf8"));
    const [{ when }] = contributes.keybindings;
    const asks = () => {
      const keys = Object.fromEntries((context as [string, string, unknown][]).map(([, key, value]) => [key, value]));
      const known: Record<string, unknown> = { ...keys, editorTextFocus: true, "editorLangId == python": true };
      const holds = (term: string) => (term.startsWith("!") ? !known[term.slice(1)] : Boolean(known[term]));
      return when.split(" || ").some((one: string) => one.split(" && ").every(holds));
    };
    assert.ok(asks(), "the extension is not active yet");
    disk.files.set("/shop/requirements.txt", "google-adk\n");
    await open("other");
    await settled();
    assert.ok(!asks());
    setFolders("shop");
    folders.fire({ removed: [] });
    await settled();
    assert.ok(asks());
  });

  it("name the release that one of their files pins, lock files first", async () => {
    const folder = file("/shop");
    disk.files.set("/shop/requirements.txt", "google-adk==1.18.0\n");
    disk.files.set("/shop/sub/requirements.txt", "google-adk==1.0.0\n");
    assert.deepEqual(await pinIn(folder, disk), { version: "1.18.0", file: "requirements.txt" });
    disk.files.set("/shop/uv.lock", 'name = "google-adk"\nversion = "1.19.0"\n');
    assert.deepEqual(await pinIn(folder, disk), { version: "1.19.0", file: "uv.lock" });
    assert.equal(await pinIn(file("/nowhere"), disk), undefined);
  });

  it("are told apart", async () => {
    disk.files.set("/one/requirements.txt", "google-adk\n");
    disk.files.set("/two/requirements.txt", "requests\n");
    const found = await open("one", "two");
    assert.deepEqual([found.has(file("/one/a.py")), found.has(file("/two/a.py"))], [true, false]);
    assert.deepEqual([found.hasInUse(file("/one/a.md")), found.hasInUse(file("/two/a.py"))], [true, false]);
  });

  it("are looked at within bounds", async () => {
    for (let number = 0; number < 3000; number++) {
      disk.files.set(`/shop/${number % 50}/${number}/requirements.txt`, "requests\n");
      disk.files.set(`/shop/requirements-${number}.txt`, "requests\n");
    }
    disk.files.set("/shop/setup.cfg", `google-adk\n${"x".repeat(100)}`);
    disk.sizes.set("/shop/setup.cfg", 1_000_000_000);
    await open("shop");
    assert.ok(disk.listings < 250, `${disk.listings} folders`);
    assert.ok(disk.reads.length <= 200, `${disk.reads.length} files`);
    assert.ok(!disk.reads.includes("/shop/setup.cfg"));
  });

  it("are looked at without following links or opening pipes", async () => {
    disk.types.set("/shop/circle", vscode.FileType.Directory | vscode.FileType.SymbolicLink);
    disk.types.set("/shop/requirements.txt", vscode.FileType.Unknown);
    await open("shop");
    assert.deepEqual(disk.reads, []);
    const listed = disk.listings;
    projects?.dispose();
    disk.types.delete("/shop/circle");
    await open("shop");
    assert.equal(disk.listings - listed, listed);
  });

  it("use the ADK once a file of dependencies names it", async () => {
    const found = await open("shop");
    disk.files.set("/shop/requirements.txt", "requests\n");
    written.get(DEPENDENCY_FILES)?.fire(file("/shop/requirements.txt"));
    await settled();
    assert.deepEqual([found.has(file("/shop/a.py")), finds], [false, 0]);
    disk.files.set("/shop/requirements.txt", "requests\ngoogle-adk\n");
    written.get(DEPENDENCY_FILES)?.fire(file("/shop/requirements.txt"));
    await settled();
    assert.deepEqual([found.has(file("/shop/a.py")), finds], [true, 1]);
    assert.deepEqual(context.at(-1), ["setContext", "adkEvidence.hasAdk", true]);
  });

  it("are not those of files far below, of packages, or of other folders", async () => {
    const found = await open("shop");
    for (const path of ["/shop/a/b/c/requirements.txt", "/shop/node_modules/requirements.txt", "/x/requirements.txt"]) {
      disk.files.set(path, "google-adk\n");
      written.get(DEPENDENCY_FILES)?.fire(file(path));
      await settled();
    }
    assert.ok(!found.has(file("/shop/a.py")));
  });

  it("use the ADK where an open Python file imports it, and keep it when the file is closed", async () => {
    Object.assign(vscode.workspace, { textDocuments: [python(file("/shop/a.py"), OTHER + IMPORTS)] });
    const found = await open("shop");
    Object.assign(vscode.workspace, { textDocuments: [] });
    assert.ok(found.has(file("/shop/b.py")));
  });

  it("use the ADK once a Python file that imports it is opened or saved", async () => {
    const found = await open("one", "two");
    opened.fire(python(file("/one/a.py"), IMPORTS));
    saved.fire(python(file("/two/a.py"), IMPORTS));
    assert.deepEqual([found.has(file("/one/b.py")), found.has(file("/two/b.py")), finds], [true, true, 2]);
  });

  it("use the ADK as soon as an import is typed, whatever else the file holds", async () => {
    const found = await open("shop");
    const line = (text: string, inserted: string) => {
      const document = python(file("/shop/a.py"), `${OTHER}${text}\n# end\n`);
      changed.fire({ document, contentChanges: [{ range: new vscode.Range(1, 0, 1, 0), text: inserted }] });
      return found.has(document.uri);
    };
    assert.equal(line("from google.ad", "d"), false);
    assert.equal(line("from google.adk.agents import LlmAgent", "k"), true);
  });

  it("are not told by other languages, other schemes, or cited sources", async () => {
    const found = await open("shop");
    opened.fire(python(file("/shop/a.md"), IMPORTS, "markdown"));
    opened.fire(python(vscode.Uri.from({ scheme: "git", path: "/elsewhere/a.py" }), IMPORTS));
    const cited = vscode.Uri.from({ scheme: "adk-evidence", path: "/google/adk-python@1/src/a.py" });
    opened.fire(python(cited, IMPORTS));
    assert.deepEqual([found.has(file("/shop/a.py")), finds], [false, 0]);
    assert.ok(found.has(cited));
  });

  it("count files of no folder by what they import", async () => {
    const found = await open();
    assert.equal(found.hasInUse(undefined), false);
    opened.fire(python(file("/loose/a.py"), OTHER));
    opened.fire(python(file("/loose/b.py"), IMPORTS));
    opened.fire(python(file("/x/site-packages/google/adk/runners.py"), "from . import x\n"));
    const of = (path: string) => found.has(file(path));
    assert.deepEqual([of("/loose/a.py"), of("/loose/b.py")], [false, true]);
    assert.ok(of("/x/site-packages/google/adk/runners.py"));
    assert.equal(found.hasInUse(undefined), true);
    assert.equal(await found.hasFolder(undefined), true);
  });

  it("count the cells of a notebook together", async () => {
    const found = await open();
    const cell = vscode.Uri.from({ scheme: "vscode-notebook-cell", path: "/loose/book.ipynb" });
    opened.fire(python(cell, IMPORTS));
    assert.ok(found.has(vscode.Uri.from({ scheme: "vscode-notebook-cell", path: "/loose/book.ipynb", query: "2" })));
    assert.ok(!found.has(vscode.Uri.from({ scheme: "vscode-notebook-cell", path: "/loose/other.ipynb" })));
  });

  it("count a file of no folder for the folder in use, where the status is shown", async () => {
    disk.files.set("/shop/requirements.txt", "google-adk\n");
    const found = await open("shop");
    assert.deepEqual([found.has(file("/loose/a.py")), found.hasInUse(file("/loose/a.py"))], [false, true]);
  });

  it("are those of the folders that are open", async () => {
    disk.files.set("/one/requirements.txt", "google-adk\n");
    disk.files.set("/two/requirements.txt", "google-adk\n");
    const found = await open("one");
    const [one] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(one);
    setFolders("two");
    folders.fire({ removed: [one] });
    await settled();
    setFolders("one", "two");
    assert.deepEqual([found.has(file("/one/a.py")), found.has(file("/two/a.py"))], [false, true]);
  });
});

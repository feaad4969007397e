import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "mocha";
import type { CodeServer } from "../e2e/codeServer";
import type { Editor } from "../e2e/editor";
import { processesWith } from "../e2e/processes";
import { eventually, until } from "../e2e/until";
import { type Bench, bench, closeWindow, openWindow, ownServer } from "./bench";

const START_MS = 180_000;
const READY = /ADK Evidence is ready/;
const STATUS = "adk-evidence.adk-evidence.status";
const OTHER_FILE = `import os

# How do I retry a tool that throws?
print(os.name)
`;

const OTHER_DEPENDENCIES = "google-adk-extras\n# google-adk\n";

/** Make a folder, by default one whose code and dependencies have nothing to do with the ADK. */
function makeFolder(root: string, name: string, dependencies = OTHER_DEPENDENCIES): string {
  const folder = path.join(root, name);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "app.py"), OTHER_FILE);
  fs.writeFileSync(path.join(folder, "requirements.txt"), dependencies);
  return folder;
}

function servers({ workplace }: Bench): number[] {
  return processesWith("server.py", "lsp", path.dirname(workplace.home));
}

/** Open the Python file, and wait until the extension is active and has looked at the folder. */
async function lookAt(editor: Editor, server: CodeServer, name: string): Promise<void> {
  await editor.openFile("app.py");
  await until("the folder was looked at", 60_000, () => server.logs().includes(`${name} does not use google-adk`));
}

describe("a window without the ADK", () => {
  let server: CodeServer;
  let folder: string;
  let ran: string;
  let editor: Editor;

  before(async function () {
    this.timeout(START_MS);
    server = await ownServer();
    folder = makeFolder(server.root, "plain");
    ran = path.join(server.root, "ran");
    // Whatever interpreter is started leaves a line, however soon it ends.
    const programs = path.join(server.root, "programs");
    fs.mkdirSync(programs);
    for (const name of ["python", "python3", "python3.11", "python3.12", "python3.13", "uv", "interpreter"]) {
      fs.writeFileSync(path.join(programs, name), `#!/bin/sh\necho "$0 $*" >> '${ran}'\nexit 1\n`, { mode: 0o755 });
    }
    // With them, the editor asks for servers for agents, too.
    const user = { "chat.disableAIFeatures": false };
    server.configure(user, { "adkEvidence.server.interpreter": path.join(programs, "interpreter") });
    await server.start({ PATH: `${programs}:${process.env.PATH}` });
    editor = await openWindow(server, folder);
    await lookAt(editor, server, "plain");
  });
  after(() => closeWindow(editor));

  function started(): string {
    return fs.existsSync(ran) ? fs.readFileSync(ran, "utf8") : "";
  }

  it("starts no process and shows nothing", async () => {
    // What the palette runs comes after all that the open file has caused.
    await editor.run("Output: Show Output Channels...");
    await editor.row("ADK Evidence").first().click();
    await editor.page.locator(".panel .view-lines", { hasText: "does not use google-adk" }).first().waitFor();
    assert.equal(started(), "");
    assert.deepEqual(processesWith("serve", "lsp", server.root), []);
    // Any interpreter has left its line; a search for files that names "python" may still run on a slow machine.
    await until("nothing runs", 60_000, () => processesWith("python", server.root).length === 0);
    assert.ok(!(await editor.statusItem(STATUS).isVisible()));
    await editor.picture("screenshots", "quiet");
  });

  it("wakes without being loaded anew when a dependency is added", async () => {
    assert.equal(started(), "");
    fs.appendFileSync(path.join(folder, "requirements.txt"), "google-adk>=1.18\n");
    await until("the interpreter is looked at", 60_000, () => started().includes("interpreter"));
    await editor.statusItem(STATUS).waitFor();
  });
});

describe("a folder without the ADK", () => {
  let shared: Bench;
  let editor: Editor;

  before(async () => {
    shared = await bench();
    await until("no other window's server runs", 60_000, () => servers(shared).length === 0);
    editor = await shared.open(makeFolder(path.dirname(shared.workplace.workspace), "elsewhere"));
    await lookAt(editor, shared.server, "elsewhere");
  });
  after(() => closeWindow(editor));

  it("has no server, and answers all the same when it is asked", async () => {
    assert.deepEqual(servers(shared), []);
    assert.ok(!(await editor.statusItem(STATUS).isVisible()));
    await editor.select(3, 3, 0);
    await editor.run("ADK Evidence: Find ADK Evidence");
    await editor.webview.locator(".card").first().waitFor();
    await editor.status(READY).waitFor();
  });

  it("has hovers as soon as an import is typed", async () => {
    await editor.showTab("app.py");
    await editor.select(1, 1, 0);
    await editor.page.keyboard.insertText("from google.adk.agents import LlmAgent\nagent = LlmAgent\n");
    // The mouse may rest there before the server has the document.
    await eventually(async () => {
      const hover = await editor.hover("agent = LlmAgent", "LlmAgent");
      assert.match(await hover.first().innerText(), /class LlmAgent/);
    });
  });
});

describe("a folder that uses the ADK and has no open file", () => {
  let shared: Bench;
  let editor: Editor;

  before(async () => {
    shared = await bench();
    await until("no other window's server runs", 60_000, () => servers(shared).length === 0);
    editor = await shared.open(makeFolder(path.dirname(shared.workplace.workspace), "unopened", "google-adk\n"));
  });
  after(() => closeWindow(editor));

  it("shows the status item, and starts a server only when a Python file is opened", async () => {
    await editor.status(/ADK Evidence is installed, and starts with a Python file or a question/).waitFor();
    await editor.openFile("requirements.txt");
    // What the palette runs comes after all that the open file has caused.
    await editor.run("View: Toggle Word Wrap");
    assert.deepEqual(servers(shared), []);
    await editor.openFile("app.py");
    await editor.status(READY).waitFor();
    assert.notDeepEqual(servers(shared), []);
  });
});

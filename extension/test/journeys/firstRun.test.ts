import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, it } from "mocha";
import type { CodeServer } from "../e2e/codeServer";
import { processesWith } from "../e2e/processes";
import { until } from "../e2e/until";
import { AGENT_FILE } from "../e2e/workplace";
import { openWindow, ownServer } from "./bench";

/** Packages are installed from the registry, or from pip's cache. */
const SET_UP_MS = 480_000;
const START_MS = 180_000;

describe("the first run", () => {
  let server: CodeServer;
  let workspace: string;
  let planted: string;
  let ran: string;

  // Also each time that a test is tried again: what was trusted or set up before cannot be asked for a second time.
  beforeEach(async function () {
    this.timeout(START_MS);
    server = await ownServer();
    workspace = path.join(server.root, "workspace");
    // A folder from somewhere that names a program of its own as the interpreter.
    planted = path.join(workspace, "python");
    ran = path.join(workspace, "it-ran");
    fs.mkdirSync(path.join(workspace, ".vscode"), { recursive: true });
    fs.writeFileSync(path.join(workspace, "agent.py"), AGENT_FILE);
    fs.writeFileSync(planted, `#!/bin/sh\necho ran > '${ran}'\nexit 1\n`, { mode: 0o755 });
    server.configure({});
    await server.start();
  });

  it("says in Restricted Mode what is missing, and runs no program of the folder", async () => {
    server.configure({ "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" });
    fs.writeFileSync(
      path.join(workspace, ".vscode", "settings.json"),
      JSON.stringify({ "adkEvidence.server.interpreter": planted }),
    );
    const editor = await openWindow(server, workspace);
    await editor.statusItem("status.workspaceTrust").waitFor();
    await editor.openFile("agent.py");
    await editor.run("ADK Evidence: Find ADK Evidence");
    await editor.webview.getByText("has no Python environment yet").waitFor();
    await editor.picture("screenshots", "restricted");
    assert.ok(!fs.existsSync(ran), "the folder's program was run in Restricted Mode");

    await editor.run("Workspaces: Manage Workspace Trust");
    await editor.page.getByRole("button", { name: "Trust", exact: true }).first().click();
    await until("the interpreter of the trusted folder is looked at", 60_000, () => fs.existsSync(ran));
    await editor.close();
  });

  it("sets up a private environment with the user's consent, and the server answers from it", async function () {
    this.timeout(SET_UP_MS + START_MS);
    const editor = await openWindow(server, workspace);
    await editor.openFile("agent.py");
    await editor.run("ADK Evidence: Find ADK Evidence");
    await editor.webview.getByText("has no Python environment yet").waitFor();
    await editor.webview.getByRole("button", { name: "Set Up" }).click();
    const consent = editor.dialog("Set up a Python environment for ADK Evidence?");
    await consent.waitFor();
    await editor.picture("screenshots", "consent");
    assert.deepEqual(processesWith("-m", "pip", server.root), [], "packages are installed before there is consent");
    await editor.press(consent, "Set Up");
    await editor.message("The server is ready.", SET_UP_MS);
    await editor.picture("screenshots", "set-up");
    const [pid, ...others] = processesWith(path.join(server.root, "data"), "serve", "lsp");
    assert.deepEqual(others, []);
    // Agents are served from the same environment.
    const [python = ""] = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    execFileSync(python, ["-I", "-c", "import adk_evidence_mcp.server"]);

    // The panel asked again by itself, and tells what is missing now.
    await editor.webview.getByRole("button", { name: "Ingest" }).waitFor();
    await editor.picture("screenshots", "no-index");
    await editor.close();
  });
});

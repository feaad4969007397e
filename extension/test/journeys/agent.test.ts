import assert from "node:assert/strict";
import path from "node:path";
import { before, describe, it } from "mocha";
import type { Locator } from "playwright-core";
import type { Settings } from "../e2e/codeServer";
import type { Editor } from "../e2e/editor";
import { until } from "../e2e/until";
import { makeWorkplace } from "../e2e/workplace";
import { openWindow, ownServer } from "./bench";

const MODEL = path.join(process.cwd(), "extension", "test", "journeys", "agentModel");
const START_MS = 90_000;
const ENABLE_MS = 15_000;

describe("a model in agent mode", () => {
  let editor: Editor;
  let configure: (more: Settings) => void;

  before(async function () {
    this.timeout(180_000);
    const server = await ownServer();
    const { workspace, machineSettings } = makeWorkplace(path.join(server.root, "place"));
    configure = (more) => server.configure({ "chat.disableAIFeatures": false }, { ...machineSettings, ...more });
    configure({});
    await server.start();
    editor = await openWindow(server, workspace, MODEL);
    await editor.run("Chat: Open Chat (Agent)");
    await input().waitFor();
    // The editor's own agent is off until somebody signs in to its service. It takes another model without that. The
    // command does nothing as long as the window does not know of its extensions.
    const model = editor.page.locator(".interactive-session").getByText("Scripted").first();
    await until("the agent has a model", START_MS, async () => {
      await editor.run("Extensions: Enable All Extensions");
      return model.waitFor({ timeout: ENABLE_MS }).then(
        () => true,
        () => false,
      );
    });
  });

  function input(): Locator {
    return editor.page.locator(".interactive-session:visible .chat-input-container .monaco-editor").first();
  }

  /** Ask in a conversation of its own; the answer, with the steps to it in sight. */
  async function ask(question: string): Promise<Locator> {
    await editor.run("Chat: New Chat Editor");
    await input().click();
    await editor.page.keyboard.type(question);
    await editor.page.keyboard.press("Enter");
    const answer = editor.page.locator(".editor-instance .interactive-response:visible").last();
    const signIn = editor.page.getByText("Sign in to use GitHub Copilot");
    const said = answer.getByText(/The evidence says so|I was offered/);
    await said.or(signIn).first().waitFor({ timeout: START_MS });
    if (await signIn.isVisible()) {
      // Now and then a new conversation does not know of the model yet, and the editor offers its own.
      await editor.page.keyboard.press("Escape");
      return ask(question);
    }
    const steps = answer.getByText(/^Completed \d steps/);
    if (await steps.isVisible()) {
      await steps.click();
    }
    return answer;
  }

  /** The tools that find evidence, of all that the model is offered. */
  async function searches(): Promise<string[]> {
    const answer = await ask("Which tools are there?");
    return (await answer.innerText()).match(/\b\w*find_adk_evidence\b/g) ?? [];
  }

  it("finds evidence with the extension's tool, and nobody had to set anything up", async () => {
    const answer = await ask("How do I retry a failing tool?");
    await answer.getByText("Finding ADK evidence: How do I retry a tool that throws?").waitFor();
    assert.match(await answer.innerText(), /adk-(docs|python)@[0-9a-f]{40}:\S*retry/);
    await editor.picture("screenshots", "agent");
  });

  it("has one tool that finds evidence", async () => {
    assert.deepEqual(await searches(), ["find_adk_evidence"]);
  });

  it("has the tools of the server for agents in its place where the user wants them", async () => {
    configure({ "adkEvidence.mcp.enabled": true });
    const answer = await ask("Where is the plugin? #mcp_adk_evidence_find_adk_symbol");
    assert.match(await answer.innerText(), /adk-python@[0-9a-f]{40}:\S*retry\.py/);
    await editor.picture("screenshots", "agent-mcp");
    assert.deepEqual(await searches(), ["mcp_adk_evidence_find_adk_evidence"]);
  });
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, it } from "mocha";
import type { Browser } from "playwright-core";
import { launchChromium } from "../e2e/chromium";
import { CodeServer, type Settings } from "../e2e/codeServer";
import { Editor } from "../e2e/editor";
import { until } from "../e2e/until";

const PYTHON = path.join(process.cwd(), ".venv", "bin", "python");
const TESTS = path.join(process.cwd(), "extension", "test");
const TAKEN = path.join(process.cwd(), "extension", "out", "pictures", "taken");
/** Where the READMEs have them from. */
const PICTURES = path.join(process.cwd(), "extension", "pictures");
const MOST_BYTES = 200_000;
const SIZE = { width: 1200, height: 760 };
const START_MS = 60_000;

const AGENT = `from google.adk.agents import LlmAgent
from google.adk.plugins import ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner


def weather(city: str) -> dict:
    """Look up the weather of a city."""
    raise ConnectionError("the service is busy")


# How do I retry a tool that throws?
root_agent = LlmAgent(name="helper", tools=[weather])
plugin = ReflectAndRetryToolPlugin(max_retries=3)
runner = InMemoryRunner(agent=root_agent, plugins=[plugin])
`;
const QUESTION = "How do I retry a tool that throws?";
const QUESTION_LINE = 11;

describe("the pictures of the READMEs", () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "adk-evidence-pictures-"));
  const corpus = path.join(root, "corpus");
  const workspace = path.join(root, "weather-agent");
  const server = new CodeServer();
  let browser: Browser;
  let editor: Editor;

  before(async function () {
    this.timeout(240_000);
    fs.rmSync(TAKEN, { recursive: true, force: true });
    execFileSync(PYTHON, [path.join(TESTS, "pictures", "corpus.py"), corpus], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    fs.mkdirSync(workspace);
    fs.writeFileSync(path.join(workspace, "agent.py"), AGENT);
    const machine: Settings = {
      "adkEvidence.home": path.join(corpus, "home"),
      "adkEvidence.server.command": [PYTHON, path.join(TESTS, "e2e", "server.py"), corpus, "serve", "lsp"],
    };
    server.configure(
      { "chat.disableAIFeatures": false, "workbench.colorTheme": "Dark Modern", "breadcrumbs.enabled": false },
      machine,
    );
    await server.install();
    await server.start();
    browser = await launchChromium();
    editor = await Editor.open(browser, server, workspace);
    await editor.page.setViewportSize(SIZE);
    await editor.openFile("agent.py");
    await editor.run("View: Close Primary Side Bar");
  });
  after(async function () {
    this.timeout(60_000);
    await editor?.close();
    await browser?.close();
    await server.stop();
    fs.rmSync(root, { recursive: true, force: true });
  });

  async function picture(...name: string[]): Promise<void> {
    const file = `${path.join(TAKEN, ...name)}.png`;
    fs.mkdirSync(path.dirname(file), { recursive: true });
    await editor.page.screenshot({ path: file, animations: "disabled" });
  }

  /** Takes a picture of the recording, which shows it for so many milliseconds. */
  function frame(number: number, milliseconds: number): Promise<void> {
    return picture("recording", `${String(number).padStart(2, "0")}-${milliseconds}`);
  }

  /** Asks about what is selected, and waits for the answer. */
  async function ask(): Promise<void> {
    await editor.run("ADK Evidence: Find ADK Evidence");
    await editor.webview.locator(".card").first().waitFor({ timeout: START_MS });
    await editor.page.mouse.move(0, 0);
  }

  it("show a hover", async () => {
    const hover = await editor.hover("plugin = ReflectAndRetryToolPlugin", "ReflectAndRetryToolPlugin");
    await hover.getByText("Retries a tool that throws").first().waitFor();
    await picture("hover");
    await editor.page.mouse.move(0, 0);
  });

  it("record the way from a question in the code to the cited lines", async () => {
    // The first question of a server takes longer than the others.
    await editor.select(QUESTION_LINE, 3, QUESTION.length);
    await ask();
    await editor.run("View: Close All Editors");
    await editor.openFile("agent.py");
    await editor.select(1, 1, 0);
    await frame(1, 1500);
    await editor.select(QUESTION_LINE, 3, QUESTION.length);
    await frame(2, 1500);
    await ask();
    await frame(3, 3500);
    await picture("answer");
    const code = editor.webview.locator(".card", { hasText: "reflect_retry_tool_plugin.py" }).first();
    await code.locator(".title-link").first().hover();
    await frame(4, 1200);
    await code.locator(".title-link").first().click();
    await editor.tab("reflect_retry_tool_plugin.py").waitFor();
    await until("the cited lines are marked", START_MS, async () => {
      return (await editor.page.locator(".view-line", { hasText: "ReflectAndRetryToolPlugin" }).count()) > 0;
    });
    await editor.page.mouse.move(0, 0);
    await frame(5, 3500);
  });

  it("show @adk, which answers without a language model", async () => {
    await editor.run("View: Close All Editors");
    // The chat has room for its answer.
    await editor.run("View: Close Primary Side Bar");
    await editor.openFile("agent.py");
    await editor.run("Chat: Open Chat");
    const chat = editor.page.locator(".interactive-session:visible");
    await chat.getByText("Evidence Only").first().waitFor({ timeout: START_MS });
    // At once, and without the suggestions, which come late and take the next key.
    await editor.page.keyboard.insertText(`@adk ${QUESTION} `);
    await editor.page.keyboard.press("Escape");
    await editor.page.keyboard.press("Enter");
    await chat.locator(".monaco-button", { hasText: "Show the Evidence" }).waitFor({ timeout: START_MS });
    const beginning = chat.getByText("No language model is chosen").first();
    await chat.locator(".interactive-response").last().hover();
    await until("the beginning is in sight", START_MS, async () => {
      const { y = 0 } = (await beginning.boundingBox()) ?? {};
      if (y > 150) {
        return true;
      }
      await editor.page.mouse.wheel(0, -200);
      return false;
    });
    await picture("chat");
  });

  it("are small", () => {
    execFileSync(PYTHON, [path.join(TESTS, "pictures", "shrink.py"), TAKEN, PICTURES]);
    const names = fs.readdirSync(PICTURES).sort();
    assert.deepEqual(names, ["answer.png", "chat.png", "hover.png", "recording.webp"]);
    for (const name of names) {
      const { size } = fs.statSync(path.join(PICTURES, name));
      assert.ok(size > 5000 && size < MOST_BYTES, `${name}: ${size} bytes`);
    }
  });
});

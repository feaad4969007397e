/** Starts a real editor with the VSIX and runs the tests in its extension host; ends with their outcome. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { launchChromium } from "../e2e/chromium";
import { CodeServer } from "../e2e/codeServer";
import { until } from "../e2e/until";
import { AGENT_FILE, makeWorkplace, REQUIREMENTS } from "../e2e/workplace";
import { type HostResult, RESULTS } from "./index";

const LIMIT_MS = 300_000;
const CONSUMER = path.join(process.cwd(), "extension", "test", "host", "consumer");

async function main(): Promise<boolean> {
  const results = path.join(__dirname, RESULTS);
  fs.rmSync(results, { force: true });
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "adk-evidence-host-"));
  const server = new CodeServer();
  try {
    const workplace = makeWorkplace(root);
    await server.install();
    // The editor knows of no servers for agents without it.
    server.configure({ "chat.disableAIFeatures": false }, workplace.machineSettings);
    await server.start({ ADK_EVIDENCE_TEST_SETTINGS: JSON.stringify(workplace.machineSettings) });
    const exit = await runTests(server, twoFolders(root, workplace.workspace));
    const told: HostResult[] = fs.existsSync(results) ? JSON.parse(fs.readFileSync(results, "utf8")) : [];
    report(told);
    const passed = exit === 0 && told.length > 0 && told.every(({ failure }) => failure === null);
    if (!passed) {
      keepLogs(server);
    }
    return passed;
  } catch (error) {
    keepLogs(server);
    throw error;
  } finally {
    await server.stop();
    fs.rmSync(root, { recursive: true, force: true });
  }
}

/** A workspace with the folder of the tests and another one. */
function twoFolders(root: string, first: string): string {
  const second = path.join(root, "second");
  fs.mkdirSync(second);
  fs.writeFileSync(path.join(second, "agent.py"), AGENT_FILE);
  fs.writeFileSync(path.join(second, "requirements.txt"), REQUIREMENTS);
  const file = path.join(root, "both.code-workspace");
  fs.writeFileSync(file, JSON.stringify({ folders: [{ path: first }, { path: second }], settings: {} }));
  return file;
}

/** The exit code of the tests. */
async function runTests(server: CodeServer, workspace: string): Promise<number> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    let exit: number | null = null;
    await page.exposeFunction("codeAutomationLog", () => undefined);
    await page.exposeFunction("codeAutomationExit", (code: number) => {
      exit = code;
    });
    const remote = (file: string) => `vscode-remote://${server.authority}${file}`;
    await page.goto(
      server.address(workspace, [
        ["extensionDevelopmentPath", remote(CONSUMER)],
        ["extensionTestsPath", remote(path.join(__dirname, "index.js"))],
        ["skipWelcome", "true"],
      ]),
    );
    await until("the tests have run", LIMIT_MS, () => exit !== null);
    await page.goto("about:blank");
    return exit ?? 1;
  } finally {
    await browser.close();
  }
}

function report(results: HostResult[]): void {
  for (const { title, milliseconds, failure } of results) {
    console.log(`  ${failure === null ? "✔" : "✖"} ${title} (${milliseconds}ms)`);
    if (failure !== null) {
      console.log(failure.replace(/^/gm, "      "));
    }
  }
  const failed = results.filter(({ failure }) => failure !== null).length;
  console.log(`\n  ${results.length - failed} passing${failed > 0 ? `, ${failed} failing` : ""}\n`);
}

function keepLogs(server: CodeServer): void {
  const file = path.join(process.cwd(), "extension", "out", "failures", "host", "editor.log");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, server.logs());
  console.log(`  logs: ${path.relative(process.cwd(), file)}`);
}

process.exitCode = (await main()) ? 0 : 1;

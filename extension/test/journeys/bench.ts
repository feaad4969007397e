import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, afterEach } from "mocha";
import type { Browser } from "playwright-core";
import { launchChromium } from "../e2e/chromium";
import { CodeServer, type Settings } from "../e2e/codeServer";
import { Editor } from "../e2e/editor";
import { makeWorkplace, type Workplace } from "../e2e/workplace";

/** What all journeys share: one browser, one code-server with the VSIX, one small index. */
export interface Bench {
  server: CodeServer;
  workplace: Workplace;
  /** Open a window on a folder; by default on the one with `agent.py`. It is closed with the tests at the latest. */
  open(folder?: string, extension?: string): Promise<Editor>;
  /** Change the user's settings; without an argument they are as they were in the beginning. */
  configure(settings?: Settings): void;
}

const root = fs.mkdtempSync(path.join(os.tmpdir(), "adk-evidence-journeys-"));
const open = new Set<Editor>();
let browser: Promise<Browser> | null = null;
let started: Promise<Bench> | null = null;
const servers: CodeServer[] = [];

/** The shared bench; the first who asks starts it. */
export function bench(): Promise<Bench> {
  started ??= start();
  return started;
}

/** A code-server of its own, with the VSIX installed but not started. It is stopped with the tests. */
export async function ownServer(): Promise<CodeServer> {
  const server = new CodeServer();
  servers.push(server);
  await server.install();
  return server;
}

/**
 * Open a window of a server. It is closed with the tests at the latest.
 *
 * @param extension The folder of an extension to run in this window alone.
 */
export async function openWindow(server: CodeServer, folder: string, extension?: string): Promise<Editor> {
  browser ??= launchChromium();
  const editor = await Editor.open(await browser, server, folder, extension);
  open.add(editor);
  return editor;
}

/** Close a window. */
export async function closeWindow(editor: Editor): Promise<void> {
  open.delete(editor);
  await editor.close();
}

async function start(): Promise<Bench> {
  const workplace = makeWorkplace(root);
  const server = await ownServer();
  const configure = (settings: Settings = {}) => server.configure(settings, workplace.machineSettings);
  configure();
  await server.start();
  return {
    server,
    workplace,
    configure,
    open: (folder = workplace.workspace, extension) => openWindow(server, folder, extension),
  };
}

afterEach(async function (this: Mocha.Context) {
  // A test that is tried again has no state.
  if (!this.currentTest || this.currentTest.isPending() || this.currentTest.state === "passed") {
    return;
  }
  const name = this.currentTest.fullTitle().replace(/\W+/g, "-").slice(0, 100);
  let number = 0;
  for (const editor of open) {
    await editor.picture("failures/journeys", `${name}-${++number}`).catch(() => undefined);
  }
  const folder = path.join(process.cwd(), "extension", "out", "failures", "journeys");
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${name}.log`), servers.map((server) => server.logs()).join("\n"));
  console.log(`      pictures and logs: extension/out/failures/journeys/${name}*`);
});

after(async function (this: Mocha.Context) {
  this.timeout(60_000);
  for (const editor of open) {
    await editor.close();
  }
  await (await browser)?.close();
  for (const server of servers) {
    await server.stop();
  }
  fs.rmSync(root, { recursive: true, force: true });
});

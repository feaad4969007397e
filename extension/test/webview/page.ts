/** The built page in a browser, under its real policy, with a stand-in for the editor around it. */

import fs from "node:fs";
import path from "node:path";
import * as esbuild from "esbuild";
import type { Browser, Page } from "playwright-core";
import { pageHtml } from "../../src/webview/html";
import type { FromPage, ToPage, ViewState } from "../../src/webview/messages";
import { THEMES, type ThemeName } from "./themes";

const ORIGIN = "https://page.test";
const EXTENSION = path.resolve("extension");

/** What the stand-in keeps in the page. */
interface Editor {
  sent: FromPage[];
  state: unknown;
}

declare global {
  interface Window {
    __editor: Editor;
    __executed: string[];
  }
}

export interface PageOptions {
  theme?: ThemeName;
  width?: number;
  height?: number;
  /** What the editor kept of an earlier page. */
  saved?: unknown;
  reducedMotion?: boolean;
}

let script: Promise<string> | null = null;

/** The page's script, built as extension/build.mjs does. */
function builtScript(): Promise<string> {
  script ??= esbuild
    .build({
      absWorkingDir: EXTENSION,
      entryPoints: ["src/webview/app/main.tsx"],
      bundle: true,
      write: false,
      platform: "browser",
      format: "iife",
      target: "chrome128",
      jsx: "automatic",
      jsxImportSource: "preact",
      logLevel: "warning",
    })
    .then(({ outputFiles }) => outputFiles[0]?.text ?? "");
  return script;
}

export class TestPage {
  /** What the page asked the network for, besides its own three files. */
  readonly requests: string[] = [];
  /** Errors of scripts, and what the policy refused. */
  readonly problems: string[] = [];
  readonly dialogs: string[] = [];
  readonly popups: string[] = [];

  private constructor(
    readonly page: Page,
    readonly close: () => Promise<void>,
  ) {}

  /** Opens the page and waits until it has said that it is ready. */
  static async open(browser: Browser, options: PageOptions = {}): Promise<TestPage> {
    const { theme = "dark", width = 900, height = 800 } = options;
    const context = await browser.newContext({
      viewport: { width, height },
      reducedMotion: options.reducedMotion === false ? "no-preference" : "reduce",
    });
    const test = new TestPage(await context.newPage(), () => context.close());
    const { page } = test;
    const files = new Map([
      [
        "/",
        [
          "text/html",
          pageHtml({
            cspSource: ORIGIN,
            scriptUri: `${ORIGIN}/webview.js`,
            styleUri: `${ORIGIN}/webview.css`,
            nonce: "test-nonce",
            language: "en",
            title: "ADK Evidence",
            strings: {},
          }),
        ],
      ],
      ["/webview.js", ["text/javascript", await builtScript()]],
      ["/webview.css", ["text/css", fs.readFileSync(path.join(EXTENSION, "media", "webview.css"), "utf8")]],
    ]);
    await context.route("**/*", async (route) => {
      const url = new URL(route.request().url());
      const file = url.origin === ORIGIN && url.search === "" ? files.get(url.pathname) : undefined;
      if (file === undefined) {
        test.requests.push(route.request().url());
        await route.abort();
      } else {
        await route.fulfill({ contentType: `${file[0]}; charset=utf-8`, body: file[1] ?? "" });
      }
    });
    page.on("pageerror", (error) => test.problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && test.problems.push(message.text()));
    page.on("dialog", async (dialog) => {
      test.dialogs.push(dialog.message());
      await dialog.dismiss();
    });
    context.on("page", (opened) => opened !== page && test.popups.push(opened.url()));
    await page.addInitScript(
      ({ saved, variables, bodyClass }) => {
        const editor: Editor = { sent: [], state: saved };
        window.__editor = editor;
        window.__executed = [];
        Object.assign(window, {
          acquireVsCodeApi: () => ({
            // The editor's own messages are JSON, too.
            postMessage: (message: FromPage) => editor.sent.push(JSON.parse(JSON.stringify(message))),
            getState: () => editor.state,
            setState: (state: unknown) => {
              editor.state = JSON.parse(JSON.stringify(state));
            },
          }),
        });
        document.addEventListener("DOMContentLoaded", () => {
          document.body.className = bodyClass;
          for (const [name, value] of Object.entries(variables)) {
            document.documentElement.style.setProperty(`--vscode-${name}`, value);
          }
        });
      },
      { saved: options.saved, ...THEMES[theme] },
    );
    await page.goto(`${ORIGIN}/`);
    await page.waitForFunction(() => window.__editor.sent.some(({ type }) => type === "ready"));
    return test;
  }

  /** Sends what the host would, as the editor does. */
  async send(message: ToPage): Promise<void> {
    await this.page.evaluate((sent) => window.postMessage(JSON.parse(sent), "*"), JSON.stringify(message));
  }

  /** Shows a state and waits until it is on the page. */
  async show(state: ViewState): Promise<void> {
    await this.send({ type: "state", state });
    const marker = {
      empty: ".empty",
      loading: ".loading",
      error: ".failure",
      ready: ".summary",
    }[state.phase];
    await this.page.waitForSelector(marker);
  }

  /** The messages that the host got, without the first. */
  async sent(): Promise<FromPage[]> {
    return (await this.page.evaluate(() => window.__editor.sent)).filter(({ type }) => type !== "ready");
  }

  /** Forgets the messages so far. */
  async forget(): Promise<void> {
    await this.page.evaluate(() => {
      window.__editor.sent.length = 0;
    });
  }
}

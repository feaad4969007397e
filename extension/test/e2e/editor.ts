import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext, FrameLocator, Locator, Page } from "playwright-core";
import type { CodeServer } from "./codeServer";
import { eventually, until } from "./until";

const READY_MS = 90_000;
const PALETTE_MS = 5_000;
const STEP_MS = 30_000;
const HOVER_MS = 3_000;
const FOCUS_MS = 3_000;

/** One window of the editor, in a browser profile of its own. */
export class Editor {
  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
  ) {}

  /**
   * Open a folder or workspace file and wait until the window is there. Close it.
   *
   * @param extension The folder of an extension to run in this window alone.
   */
  static async open(browser: Browser, server: CodeServer, workspace: string, extension?: string): Promise<Editor> {
    const context = await browser.newContext({
      viewport: { width: 1400, height: 900 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    const editor = new Editor(page, context);
    const development = `vscode-remote://${server.authority}${extension}`;
    const payload: [string, string][] = extension === undefined ? [] : [["extensionDevelopmentPath", development]];
    await page.goto(server.address(workspace, payload), { timeout: READY_MS });
    await editor.ready();
    return editor;
  }

  /** Leave the page, so that its extension host ends, and close it. */
  async close(): Promise<void> {
    await this.page.goto("about:blank").catch(() => undefined);
    await this.context.close();
  }

  /** Wait until the window is there. */
  async ready(): Promise<void> {
    await this.page.locator(".monaco-workbench").waitFor({ timeout: READY_MS });
    await this.page.locator('[id="status.host"]').waitFor({ timeout: READY_MS });
  }

  /** Load the window anew as a user does, so that it saves what it keeps. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent("load", { timeout: READY_MS });
    await this.run("Developer: Reload Window");
    await loaded;
    await this.ready();
  }

  /** Run a command by its title in the palette, as soon as it is there: "ADK Evidence: Status". */
  async run(title: string): Promise<void> {
    const row = this.row(title).first();
    await until(`the palette has ${title}`, READY_MS, async () => {
      await this.page.keyboard.press("F1");
      try {
        await this.quickInput.fill(`>${title}`, { timeout: PALETTE_MS });
      } catch {
        return false; // the key met a list that was about to close
      }
      await this.page.locator(".quick-input-list .monaco-list-row").first().waitFor();
      if (await row.isVisible()) {
        return true;
      }
      // It does not notice commands that come later.
      await this.page.keyboard.press("Escape");
      return false;
    });
    await row.click();
  }

  /** Choose a colour theme by its name; `kind` is the class that the window gets. */
  async theme(name: string, kind: "vs" | "vs-dark" | "hc-black"): Promise<void> {
    await this.run("Preferences: Color Theme");
    await this.quickInput.fill(name);
    await this.row(name).first().click();
    await this.page.locator(`.monaco-workbench.${kind}`).waitFor();
  }

  /** The titles that the palette offers for a text. */
  async palette(text: string): Promise<string[]> {
    await this.page.keyboard.press("F1");
    await this.quickInput.fill(`>${text}`);
    await this.page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    const titles = await this.page.locator(".quick-input-list .monaco-list-row .label-name").allInnerTexts();
    await this.page.keyboard.press("Escape");
    return titles;
  }

  /** The box of the palette, of pickers and of questions. */
  get quickInput(): Locator {
    return this.page.locator(".quick-input-widget:visible .quick-input-box input");
  }

  /** A row of the palette or of a picker. */
  row(text: string): Locator {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text });
  }

  /** Open a file of the workspace by its name. */
  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press("Control+P");
    await this.quickInput.fill(name);
    // The first list of files waits for the extension host.
    await this.row(name).first().click({ timeout: READY_MS });
    await this.tab(name).waitFor();
  }

  /** Show an editor that is open, in its group. */
  async showTab(name: string): Promise<void> {
    await this.page.locator(".tabs-container .tab", { hasText: name }).first().click();
    await this.tab(name).waitFor();
  }

  /** The tab of an active editor. */
  tab(name: string): Locator {
    return this.page.locator(".tabs-container .tab.active", { hasText: name }).first();
  }

  /** Select `length` characters of the focused editor from a line and column, both counted from 1. */
  async select(line: number, column: number, length: number): Promise<void> {
    await this.page.keyboard.press("Control+G");
    await this.quickInput.fill(`:${line}:${column}`);
    // Enter does nothing before the box has understood what was typed.
    await this.row(`line ${line} `).waitFor();
    await this.page.keyboard.press("Enter");
    await this.cursor(`Ln ${line}, Col ${column}`);
    for (let i = 0; i < length; i++) {
      await this.page.keyboard.press("Shift+ArrowRight");
    }
    if (length > 0) {
      await this.cursor(`(${length} selected)`);
    }
  }

  /** Wait until the status bar says this of cursor and selection. */
  async cursor(text: string | RegExp): Promise<void> {
    await this.selection.filter({ hasText: text }).waitFor();
  }

  /**
   * Wait until a file is open, with cursor and selection as the status bar would say it. That speaks of the editor with
   * the focus alone, which a panel takes back sometimes when it was clicked just before.
   */
  async cursorIn(name: string, text: RegExp): Promise<void> {
    await this.tab(name).waitFor();
    await eventually(async () => {
      await this.showTab(name);
      assert.match(await this.selection.innerText({ timeout: FOCUS_MS }), text);
    });
  }

  /** Press keys in an open file, and see that it takes none of them. */
  async cannotBeEdited(name: string): Promise<void> {
    await this.showTab(name);
    const lines = await this.visibleLines(name);
    for (const key of ["x", "Backspace", "Delete"]) {
      await this.page.keyboard.press(key);
    }
    await this.page.locator(".monaco-editor-overlaymessage", { hasText: "cited source" }).first().waitFor();
    assert.deepEqual(await this.visibleLines(name), lines);
    assert.equal(await this.page.locator(".tabs-container .tab.dirty").count(), 0);
    await this.page.keyboard.press("Escape");
  }

  /** What the status bar says of cursor and selection. */
  private get selection(): Locator {
    return this.page.locator('[id="status.editor.selection"]');
  }

  /** Wait until lines of an open file are in sight and have these texts, by their numbers. */
  async showsLines(name: string, wanted: Record<number, string | undefined>): Promise<void> {
    await eventually(async () => {
      const lines = await this.visibleLines(name);
      assert.deepEqual(
        Object.fromEntries(Object.keys(wanted).map((number) => [number, lines.get(Number(number))])),
        wanted,
      );
    });
  }

  /** The lines in sight of the file in whose group it is the active one, each with its number. */
  private async visibleLines(name: string): Promise<Map<number, string>> {
    const group = this.page.locator(".editor-group-container", { has: this.tab(name) });
    const editor = group.locator(".editor-instance .monaco-editor");
    const byTop = async (selector: string) => {
      const found = await editor
        .locator(selector)
        .evaluateAll((elements) =>
          elements.map((element) => ({ top: element.getBoundingClientRect().top, text: element.textContent ?? "" })),
        );
      return new Map(found.map(({ top, text }) => [Math.round(top), text.replaceAll("\u00a0", " ")]));
    };
    const numbers = await byTop(".margin-view-overlays .line-numbers");
    const texts = await byTop(".view-lines .view-line");
    return new Map([...numbers].map(([top, number]) => [Number(number), texts.get(top) ?? ""]));
  }

  /** The text of the clipboard. */
  clipboard(): Promise<string> {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /**
   * Rest the mouse on a word of the line with this text until something opens, which is returned. A server that starts
   * does not answer yet.
   */
  async hover(line: string, word: string): Promise<Locator> {
    const lines = this.page.locator(".monaco-editor .view-line").filter({ hasText: line });
    const hover = this.page.locator(".monaco-hover:visible .hover-contents");
    await until(`there is a hover over ${word}`, STEP_MS, async () => {
      // Lines move when something opens above them.
      const place = await lines.first().evaluate(centreOf, word);
      await this.page.mouse.move(0, 0);
      await this.page.mouse.move(place.x, place.y);
      return hover
        .first()
        .waitFor({ timeout: HOVER_MS })
        .then(
          () => true,
          () => false,
        );
    });
    return hover;
  }

  /** The page inside the visible webview. */
  get webview(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  }

  /** A message in the corner, or in the list of messages once that is open. */
  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-list-item:visible", { hasText: text });
  }

  /** Wait for a message: it may have left the corner for the list behind the bell. */
  async message(text: string | RegExp, limit = STEP_MS): Promise<Locator> {
    const message = this.notification(text);
    await until(`there is a message ${text}`, limit, async () => {
      if (await message.first().isVisible()) {
        return true;
      }
      const list = this.page.locator(".notifications-center.visible");
      if (!(await list.isVisible())) {
        await this.statusItem("status.notifications").click();
      }
      return message.first().isVisible();
    });
    return message;
  }

  /** A modal question. */
  dialog(text: string | RegExp): Locator {
    return this.page.locator(".monaco-dialog-box", { hasText: text });
  }

  /** Press a button in a message or a modal question. */
  async press(where: Locator, button: string): Promise<void> {
    await where.locator(".monaco-button", { hasText: button }).first().click();
  }

  /** An item of the status bar by its id. */
  statusItem(id: string): Locator {
    return this.page.locator(`[id="${id}"]`);
  }

  /** The item of the extension in the status bar, where it says this. */
  status(text: RegExp): Locator {
    return this.statusItem("adk-evidence.adk-evidence.status").and(this.page.getByLabel(text));
  }

  /** Save a picture as extension/out/FOLDER/NAME.png. */
  async picture(folder: string, name: string): Promise<void> {
    const file = path.join(process.cwd(), "extension", "out", folder, `${name}.png`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    await this.page.screenshot({ path: file });
  }
}

/** Where a word of an element's text stands; runs in the page. */
function centreOf(element: Element, word: string): { x: number; y: number } {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const at = node.textContent?.indexOf(word) ?? -1;
    if (at < 0) {
      continue;
    }
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    const { left, top, width, height } = range.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }
  throw new Error(`${word} is not in the line`);
}

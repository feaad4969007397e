import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import type { Locator } from "playwright-core";
import type { Editor } from "../e2e/editor";
import { until } from "../e2e/until";
import { bench, closeWindow } from "./bench";

describe("the list of ADK symbols", () => {
  let editor: Editor;

  before(async () => {
    editor = await (await bench()).open();
    await editor.openFile("agent.py");
  });
  after(() => closeWindow(editor));

  /** Opens the list and types a text. */
  async function type(text: string): Promise<Locator> {
    await editor.run("ADK Evidence: Go to ADK Symbol…");
    const input = editor.page.getByPlaceholder("A name, the beginning of one");
    await input.waitFor();
    await input.pressSequentially(text);
    return input;
  }

  /** Presses a button of a symbol's row. */
  async function press(row: Locator, button: string): Promise<void> {
    await row.hover();
    await row.getByRole("button", { name: button }).click();
  }

  it("is searched while somebody types, and says where each is imported from and what it is for", async () => {
    await type("RetryPl");
    const row = editor.row("RetryPlugin").first();
    await row.waitFor();
    await row.filter({ hasText: "google.adk.plugins" }).locator(".codicon-symbol-class").waitFor();
    await editor.picture("screenshots", "symbols");
    await editor.page.keyboard.press("Escape");
  });

  it("finds by what a symbol is for", async () => {
    await type("throws again");
    await editor.row("RetryPlugin").first().waitFor();
    await editor.page.keyboard.press("Escape");
  });

  it("opens the definition that is chosen, with nothing selected", async () => {
    await type("RetryPlugin");
    await editor.row("google.adk.plugins").first().click();
    await editor.cursorIn("retry.py", /^Ln \d+, Col 1$/);
  });

  it("copies an import", async () => {
    await type("RetryPlugin");
    await press(editor.row("google.adk.plugins").first(), "Copy import");
    await until("the import is copied", 10_000, async () =>
      /^from google\.adk\.plugins[\w.]* import RetryPlugin$/.test(await editor.clipboard()),
    );
  });

  it("shows hostile docstrings as text", async () => {
    await type("hostile_");
    const rows = editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "hostile_" });
    await rows.first().waitFor();
    for (const row of await rows.all()) {
      assert.equal(await row.locator(":is(a[href], img, script, iframe, svg)").count(), 0, await row.innerText());
    }
    await editor.page.keyboard.press("Escape");
  });

  it("finds the evidence for a symbol", async () => {
    await type("RetryPlugin");
    await press(editor.row("google.adk.plugins").first(), "Find evidence");
    await editor.webview.locator(".card").first().waitFor();
  });
});

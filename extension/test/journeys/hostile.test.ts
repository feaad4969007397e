import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import type { Editor } from "../e2e/editor";
import { eventually, until } from "../e2e/until";
import { HOSTILE_WORD } from "../e2e/workplace";
import { type Bench, bench, closeWindow } from "./bench";

/** What Markdown may read as marks, and where it breaks lines. */
const MARKS = /[*_`~[\]()!#>|\\+\n-]+/u;
/** What no text of a corpus may become in the page. */
const ACTIVE =
  "a[href]:not([href^='https://']), area, base, embed, form[action], iframe, img, link, math, meta, object, script, style, video";
// The page names them instead: they would hide or reorder what is around them.
const ACTING = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/u;

describe("text of the corpora that tries to be more than text", () => {
  let shared: Bench;
  let editor: Editor;
  const opened: string[] = [];

  before(async () => {
    shared = await bench();
    shared.configure({ "adkEvidence.maxResults": 100 });
    editor = await shared.open();
    editor.page.on("dialog", (dialog) => {
      opened.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    editor.page.context().on("request", (request) => {
      if (/evil\.example|javascript:/i.test(request.url())) {
        opened.push(request.url());
      }
    });
    editor.page.context().on("page", (page) => opened.push(`window ${page.url()}`));
  });
  after(async () => {
    shared.configure();
    await closeWindow(editor);
  });

  it("is text in the panel", async () => {
    assert.ok(shared.workplace.hostile.length >= 50);
    await editor.run("ADK Evidence: Ask a Question…");
    await editor.quickInput.fill(`${HOSTILE_WORD} payload`);
    await editor.page.keyboard.press("Enter");
    await editor.webview.locator(".card").first().waitFor();
    await editor.webview.getByRole("button", { name: "Filter" }).click();
    await editor.webview.getByRole("radio", { name: "Docs" }).check();
    await editor.webview.locator(".meta", { hasText: " 0 code" }).waitFor();
    const cards = editor.webview.locator(".results");
    const folded = cards.locator("button.fold[aria-expanded=false]");
    // A page that is being drawn anew may fold a card again.
    await eventually(async () => {
      await folded.evaluateAll((buttons) => {
        for (const button of buttons) {
          if (button instanceof HTMLElement) {
            button.click();
          }
        }
      });
      assert.equal(await folded.count(), 0);
    });
    assert.equal(await cards.locator(ACTIVE).count(), 0);
    const handlers = await cards.evaluate((element) =>
      [...element.querySelectorAll("*")].flatMap((one) =>
        one.getAttributeNames().filter((name) => name.startsWith("on")),
      ),
    );
    assert.deepEqual(handlers, []);
    // Not the inner text: cards out of sight are not laid out.
    const shown = ((await cards.textContent()) ?? "").replaceAll(/\s+/g, " ");
    const missing = shared.workplace.hostile.filter((payload) => !shown.includes(visible(payload)));
    assert.ok(
      missing.length <= shared.workplace.hostile.length - 50,
      `not shown: ${JSON.stringify(missing).slice(0, 2000)}`,
    );
    await editor.picture("screenshots", "hostile");
  });

  it("is copied without a way to act in a terminal or a page", async () => {
    await editor.run("ADK Evidence: Copy Evidence…");
    await editor.row("Markdown").first().click();
    await until("it is copied", 30_000, async () => (await editor.clipboard()).includes(HOSTILE_WORD));
    assert.doesNotMatch((await editor.clipboard()).replaceAll(/[\n\t]/g, ""), /[\p{Cc}\p{Cf}]/u);
  });

  it("runs nothing and opens nothing", () => {
    assert.deepEqual(opened, []);
  });
});

/** The longest part of a payload that the page shows as it is: Markdown reads its marks. */
function visible(payload: string): string {
  const parts = payload.split(ACTING).flatMap((part) => part.split(MARKS));
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), "");
  return longest.replaceAll(/\s+/g, " ").trim().slice(0, 300);
}

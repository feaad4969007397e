import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { after, before, describe, it } from "mocha";
import type { Locator } from "playwright-core";
import type { Editor } from "../e2e/editor";
import { eventually, until } from "../e2e/until";
import { RETRY_GUIDE_URL } from "../e2e/workplace";
import { type Bench, bench, closeWindow } from "./bench";

const QUESTION = "How do I retry a tool that throws?";
const CODE_CITATION = /^adk-python@[0-9a-f]{40}:(src\/\S+\.py)#L(\d+)-L(\d+)$/;

describe("evidence in the editor", () => {
  let shared: Bench;
  let editor: Editor;

  before(async () => {
    shared = await bench();
    editor = await shared.open();
    await editor.openFile("agent.py");
  });
  after(() => closeWindow(editor));

  /** The first card of a kind. */
  function card(kind: "docs" | "code"): Locator {
    return editor.webview.locator(".card", { has: editor.page.locator(`.badge-${kind}`) }).first();
  }

  /** The citation of the first card of a kind, which is told with why the card is there. */
  async function citation(kind: "docs" | "code"): Promise<string> {
    const text = card(kind).locator(".citation-text");
    if (!(await text.isVisible())) {
      await card(kind).press("w");
    }
    return text.innerText();
  }

  /** Wait until the next key goes to a result. */
  function resultsHaveTheKeys(): Promise<void> {
    const body = editor.webview.locator("body");
    return eventually(async () =>
      assert.ok(await body.evaluate(() => document.hasFocus() && document.activeElement?.matches(".card"))),
    );
  }

  /** Wait until the panel has this question. */
  function asks(question: string): Promise<void> {
    return eventually(async () => assert.equal(await editor.webview.locator("#query").inputValue(), question));
  }

  it("is shown in the side bar for a selection, which is named", async () => {
    await editor.showTab("agent.py");
    await editor.select(6, 10, "RetryPlugin".length);
    await editor.run("ADK Evidence: Find ADK Evidence");
    await card("docs").waitFor();
    await card("code").waitFor();
    await editor.webview.locator(".summary", { hasText: "from the selection" }).waitFor();
    assert.match(await editor.webview.locator("#query").inputValue(), /RetryPlugin/);
    assert.equal(await editor.page.locator(".tabs-container .tab", { hasText: "ADK Evidence" }).count(), 0);
    await card("code").locator(".verification", { hasText: "Verified" }).waitFor();
  });

  it("looks right in light, dark and high contrast", async () => {
    for (const [name, theme, kind, page] of [
      ["dark", "Dark Modern", "vs-dark", "vscode-dark"],
      ["high-contrast", "Dark High Contrast", "hc-black", "vscode-high-contrast"],
      ["light", "Light Modern", "vs", "vscode-light"],
    ] as const) {
      await editor.theme(theme, kind);
      await editor.webview.locator(`body.${page}`).waitFor();
      await editor.picture("screenshots", `panel-${name}`);
    }
  });

  it("opens a code citation at its lines, marked and not selected, beside the panel", async () => {
    const found = CODE_CITATION.exec(await citation("code"));
    assert.ok(found);
    const [, path = "", start, end] = found;
    await card("code")
      .getByRole("button", { name: /^Show all/ })
      .click();
    const quoted = (await card("code").locator(".text > .code").first().innerText()).split("\n");
    const file = path.split("/").at(-1) ?? "";
    await card("code").locator(".title-link").click();
    await editor.cursorIn(file, new RegExp(`^Ln ${start}, Col 1$`));
    await editor.showsLines(file, { [Number(start)]: quoted[0], [Number(end)]: quoted.at(-1) });
    assert.ok(await card("code").isVisible(), "the panel is hidden by the file");
  });

  it("leaves the cited file as it is when a key is pressed in it", async () => {
    const [, path = ""] = CODE_CITATION.exec(await citation("code")) ?? [];
    const cited = join(dirname(shared.workplace.home), "code", path);
    const before = readFileSync(cited, "utf8");
    await editor.cannotBeEdited(basename(path));
    assert.equal(readFileSync(cited, "utf8"), before);
  });

  it("opens the cited file itself, to edit it, where that is asked for", async () => {
    const [, path = "", start = ""] = CODE_CITATION.exec(await citation("code")) ?? [];
    // The title bar offers this for a read-only source alone.
    const offered = editor.page.getByRole("button", { name: "Open Cited File on Disk" });
    // The tab of the source comes first, also where an earlier try has opened the file.
    await editor.showTab(basename(path));
    await offered.first().waitFor();
    await editor.run("ADK Evidence: Open Cited File on Disk");
    await offered.first().waitFor({ state: "hidden" });
    await editor.cursor(new RegExp(`^Ln ${start}, Col 1$`));
  });

  it("asks before it opens the page of a docs citation in the browser", async () => {
    const question = editor.dialog("open the external website");
    // One that an earlier try left open is in the way.
    if (await question.isVisible()) {
      await editor.press(question, "Cancel");
    }
    // A narrow view has a card's actions in the menu alone.
    await card("docs").hover();
    await card("docs").getByRole("button", { name: "More actions" }).click();
    await editor.webview.getByRole("menuitem", { name: "Open page" }).click();
    await question.filter({ hasText: RETRY_GUIDE_URL }).waitFor();
    await editor.press(question, "Cancel");
    await question.waitFor({ state: "hidden" });
  });

  it("opens the Markdown source of a docs citation at its lines, where the title is clicked", async () => {
    await card("docs").locator(".title-link").click();
    await editor.cursorIn("retry.md", /^Ln 19, Col 1$/);
    await editor.showsLines("retry.md", { 19: "## Use the RetryPlugin" });
    assert.ok(await card("docs").isVisible(), "the panel is hidden by the file");
  });

  it("gets the keys back from a cited source with Escape", async () => {
    await editor.page.keyboard.press("Escape");
    await resultsHaveTheKeys();
  });

  it("is copied as a citation, Markdown, JSON and a prompt", async () => {
    const cited = await citation("code");
    await card("code").getByRole("button", { name: "More actions" }).click();
    await editor.webview.getByRole("menuitem", { name: "Copy citation" }).click();
    await editor.webview.getByText("Citation copied.").waitFor();
    assert.equal(await editor.clipboard(), cited);
    for (const [kind, check] of [
      ["Markdown", (text: string) => text.startsWith("# Evidence") && text.includes(cited)],
      ["JSON", (text: string) => text.startsWith("{") && citations(text).includes(cited)],
      ["Prompt", (text: string) => text.includes("data") && text.includes(cited)],
    ] as const) {
      await editor.run("ADK Evidence: Copy Evidence…");
      await editor.row(kind).first().click();
      await until(`the clipboard has ${kind}`, 30_000, async () => check(await editor.clipboard()));
    }
  });

  it("answers a question that is typed", async () => {
    await editor.run("ADK Evidence: Ask a Question…");
    await editor.quickInput.fill(QUESTION);
    await editor.row(QUESTION).first().click();
    await editor.webview.locator(".card-title", { hasText: "Retry a tool" }).first().waitFor();
    await asks(QUESTION);
    await resultsHaveTheKeys();
    await editor.page.keyboard.press("j");
    await editor.webview.locator("#card-1.active").waitFor();
  });

  it("is shown again from the history", async () => {
    await editor.run("ADK Evidence: Ask a Question…");
    await editor.row("RetryPlugin").first().click();
    await eventually(async () => assert.match(await editor.webview.locator("#query").inputValue(), /RetryPlugin/));
    await editor.run("ADK Evidence: Ask a Question…");
    await editor.row(QUESTION).first().click();
    await asks(QUESTION);
  });

  it("is a hover over a name", async () => {
    await editor.showTab("agent.py");
    const hover = await editor.hover("plugin = RetryPlugin", "RetryPlugin");
    await hover.getByText("Retries a tool that throws.").waitFor();
    await hover.filter({ hasText: /class RetryPlugin[\s\S]*adk-python@/ }).waitFor();
    await hover.getByRole("link", { name: "Use the RetryPlugin" }).waitFor();
    await editor.picture("screenshots", "hover");
  });

  it("is still there after the window was loaded anew, without being asked again", async () => {
    await editor.reload();
    await editor.webview.locator(".card-title", { hasText: "Retry a tool" }).first().waitFor();
    await asks(QUESTION);
  });

  it("is found by the link in a hover", async () => {
    await editor.showTab("agent.py");
    const hover = await editor.hover("plugin = RetryPlugin", "RetryPlugin");
    await hover.getByRole("link", { name: "Find evidence" }).click();
    await until("the panel asks for it", 30_000, async () =>
      (await editor.webview.locator("#query").inputValue()).includes("RetryPlugin"),
    );
  });
});

/** The citations of a pack as JSON. */
function citations(json: string): string[] {
  const pack: { candidates: { citation: string }[] } = JSON.parse(json);
  return pack.candidates.map(({ citation }) => citation);
}

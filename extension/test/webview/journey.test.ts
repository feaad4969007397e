import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import type { Browser } from "playwright-core";
import type { EvidenceResult } from "../../src/protocol/generated";
import type { FromPage, SavedState } from "../../src/webview/messages";
import { launchChromium } from "../e2e/chromium";
import { codeCandidate, docsCandidate, outlineOf, packOf, QUESTION, stateOf, variedPack } from "./packs";
import { TestPage } from "./page";

describe("the page", () => {
  let browser: Browser;
  let test: TestPage;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    test = await TestPage.open(browser);
  });
  afterEach(async () => {
    assert.deepEqual(test.problems, []);
    await test.close();
  });

  /** The messages once there are as many. */
  async function messages(count: number): Promise<FromPage[]> {
    await test.page.waitForFunction((expected) => window.__editor.sent.length >= expected, count + 1);
    return test.sent();
  }

  describe("names the version", () => {
    const adk = { indexed: "1.18.0", wanted: "1.18.0", taken_from: ".venv" };
    const warnings = ["version_not_indexed: The project uses google-adk 1.18.0; run this.", "other: Something else."];

    it("that the project uses", async () => {
      await test.show(stateOf(packOf([docsCandidate()], { adk })));
      await test.page.getByText("google-adk 1.18.0, from .venv").waitFor();
      assert.equal(await test.page.getByRole("button", { name: "Index google-adk" }).count(), 0);
    });

    it("that is not indexed, once, with a way to index it", async () => {
      await test.show(stateOf(packOf([docsCandidate()], { adk: { ...adk, indexed: "2.13.0" }, warnings })));
      await test.page.getByText("That version is not indexed. This evidence is of 2.13.0.").waitFor();
      assert.equal(await test.page.getByText("run this").count(), 0);
      await test.page.getByText("Something else.").waitFor();
      await test.page.getByRole("button", { name: "Index google-adk 1.18.0" }).click();
      assert.deepEqual(await messages(1), [{ type: "action", id: "indexVersion" }]);
    });
  });

  it("offers to index no version for a saved pack", async () => {
    const adk = { indexed: "2.13.0", wanted: "1.18.0", taken_from: ".venv" };
    const warnings = ["version_not_indexed: Run this."];
    await test.show({ ...stateOf(packOf([docsCandidate()], { adk, warnings })), notice: "This is a saved pack." });
    await test.page.getByText("When this pack was made, the project used google-adk 1.18.0 (from .venv).").waitFor();
    assert.equal(await test.page.getByRole("button", { name: "Index google-adk" }).count(), 0);
  });

  describe("asks", () => {
    it("when Enter is pressed, with what narrows the question", async () => {
      await test.show(stateOf(null));
      const { page } = test;
      await page.keyboard.press("/");
      await page.keyboard.type("What is");
      await page.keyboard.press("Shift+Enter");
      await page.keyboard.type("LlmAgent?");
      await page.getByLabel("Task").selectOption("explain");
      await page.getByRole("radio", { name: "Code" }).check({ force: true });
      await page.getByLabel("Path").fill("src/**");
      await page.getByLabel("Path").press("Enter");
      assert.deepEqual(await messages(1), [
        {
          type: "ask",
          question: { query: "What is\nLlmAgent?", taskMode: "explain", sources: "code", path: "src/**" },
        },
      ]);
    });

    it("nothing for an empty question", async () => {
      await test.show(stateOf(null));
      await test.page.keyboard.press("/");
      await test.page.keyboard.type("  ");
      await test.page.keyboard.press("Enter");
      assert.ok(await test.page.getByRole("button", { name: "Ask" }).isDisabled());
      assert.deepEqual(await test.sent(), []);
    });

    it("again when the sources of a shown pack are changed", async () => {
      await test.show(stateOf(variedPack()));
      await test.page.getByRole("radio", { name: "Docs" }).check({ force: true });
      assert.deepEqual(await messages(1), [{ type: "ask", question: { ...QUESTION, sources: "docs" } }]);
    });

    it("an example of the empty page, which offers to ingest, too", async () => {
      await test.show(stateOf(null));
      await test.page.getByRole("button", { name: "How do I retry a failing tool?" }).click();
      await test.page.getByRole("button", { name: "Ingest corpora" }).click();
      assert.deepEqual(await messages(2), [
        { type: "ask", question: QUESTION },
        { type: "action", id: "ingest" },
      ]);
    });

    it("and cancels with Escape or the button", async () => {
      await test.show(stateOf(null, { phase: "loading", question: QUESTION }));
      assert.equal(await test.page.locator("main").getAttribute("aria-busy"), "true");
      await test.page.keyboard.press("Escape");
      await test.page.getByRole("button", { name: "Cancel" }).click();
      assert.deepEqual(await messages(2), [{ type: "cancel" }, { type: "cancel" }]);
    });

    it("and keeps what is typed while an answer arrives", async () => {
      await test.show(stateOf(null, { phase: "loading", question: QUESTION }));
      const field = test.page.getByLabel("Question about the ADK");
      await field.fill("the next question");
      await test.show(stateOf(variedPack()));
      assert.equal(await field.inputValue(), "the next question");
    });
  });

  describe("by keyboard", () => {
    beforeEach(() => test.show(stateOf(variedPack())));

    const focused = () => test.page.evaluate(() => document.activeElement?.id ?? "");

    it("walks the results, opens, copies and explains them", async () => {
      const { keyboard } = test.page;
      await keyboard.press("j");
      assert.equal(await focused(), "card-0");
      await keyboard.press("j");
      await keyboard.press("ArrowDown");
      assert.equal(await focused(), "card-2");
      await keyboard.press("k");
      await keyboard.press("ArrowUp");
      assert.equal(await focused(), "card-0");
      await keyboard.press("End");
      assert.equal(await focused(), "card-4");
      await keyboard.press("Home");
      await keyboard.press("j");
      await keyboard.press("Enter");
      await keyboard.press("c");
      await keyboard.press("w");
      await test.page.waitForSelector("#card-1 .why");
      assert.deepEqual(await test.sent(), [
        { type: "open", candidateId: "code-1", where: "default" },
        { type: "copy", what: "citation", candidateId: "code-1" },
      ]);
      await keyboard.press("w");
      await test.page.waitForSelector("#card-1 .why", { state: "detached" });
      await keyboard.press("/");
      assert.equal(await focused(), "query");
      await keyboard.type("jkcw");
      assert.equal((await test.sent()).length, 2);
    });

    it("has one card in the tab order, with its buttons", async () => {
      const { page } = test;
      const stops = () =>
        page.evaluate(() => [
          ...new Set(
            [...document.querySelectorAll<HTMLElement>(".results [tabindex='0']")].map(
              (element) => element.closest(".card")?.id,
            ),
          ),
        ]);
      assert.deepEqual(await stops(), ["card-0"]);
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      assert.deepEqual(await stops(), ["card-1"]);
      await page.keyboard.press("Tab");
      assert.ok(await page.evaluate(() => document.activeElement?.matches("#card-1 .title-link")));
    });

    it("leaves keys with a modifier to the editor", async () => {
      await test.page.keyboard.press("j");
      await test.page.keyboard.press("Control+c");
      await test.page.keyboard.press("Alt+w");
      assert.deepEqual(await test.sent(), []);
      assert.equal(await test.page.locator(".why").count(), 0);
    });

    it("copies the pack from a menu that gives the focus back", async () => {
      const { page } = test;
      const button = page.getByRole("button", { name: "Copy", exact: true });
      await button.focus();
      await page.keyboard.press("Enter");
      await page.waitForSelector("[role=menu]");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      assert.deepEqual(await messages(1), [{ type: "copy", what: "prompt", candidateId: null }]);
      assert.ok(await button.evaluate((element) => element === document.activeElement));
      await page.keyboard.press("Enter");
      await page.waitForSelector("[role=menu]");
      await page.keyboard.press("Escape");
      await page.waitForSelector("[role=menu]", { state: "detached" });
      assert.equal((await test.sent()).length, 1);
    });
  });

  describe("shows a candidate", () => {
    it("without the header that ingestion put on top of it", async () => {
      const { why } = docsCandidate();
      await test.show(stateOf(packOf([docsCandidate({ why: { ...why, matched_terms: [] } })])));
      const text = await test.page.locator(".code").first().textContent();
      assert.ok(text?.startsWith("## Add Reflect and Retry Plugin"), text ?? "");
    });

    it("with its words of the question marked and its tokens coloured", async () => {
      await test.show(stateOf(packOf([codeCandidate()])));
      const marks = await test.page.locator(".code mark").allTextContents();
      assert.ok(marks.includes("error") && marks.includes("tool"), marks.join(" "));
      assert.equal(await test.page.locator(".code .hljs-keyword").first().textContent(), "class");
    });

    it("folded, and whole when asked", async () => {
      const text = Array.from({ length: 40 }, (_, line) => `line ${line + 1}`).join("\n");
      await test.show(stateOf(packOf([docsCandidate({ text })])));
      const { page } = test;
      assert.ok(!(await page.locator(".code").textContent())?.includes("line 40"));
      await page.getByRole("button", { name: "Show all 40 lines" }).click();
      assert.ok((await page.locator(".code").textContent())?.includes("line 40"));
      await page.getByRole("button", { name: "Show less" }).click();
      assert.ok(!(await page.locator(".code").textContent())?.includes("line 40"));
    });

    it("by the passage that matches, and whole with other languages closed", async () => {
      const text = Array.from({ length: 40 }, (_, line) => `line ${line + 1}`).join("\n");
      const candidate = docsCandidate({
        text,
        lines: { start: 101, end: 140 },
        passages: [{ lines: { start: 120, end: 121 }, text: "line 20\nline 21" }],
        left_out: [{ lines: { start: 131, end: 135 }, language: "typescript" }],
      });
      await test.show(stateOf(packOf([candidate])));
      const { page } = test;
      assert.equal(await page.locator(".code").innerText(), "line 20\nline 21");
      await page.getByRole("button", { name: "Show all 40 lines" }).click();
      assert.ok(!(await page.locator("details .code").isVisible()));
      await page.getByText("Lines 131\u2013135: TypeScript").click();
      assert.match(await page.locator("details .code").innerText(), /^line 31\nline 32/);
      assert.match(await page.locator(".text").innerText(), /line 30[\s\S]*line 36/);
    });

    it("with every state of its citation in words", async () => {
      await test.show(stateOf(variedPack()));
      const states = await test.page.locator(".verification").allTextContents();
      assert.deepEqual(states, [
        "Verified",
        "Moved, now lines 201\u2013215",
        "Not verified",
        "Changed, now lines 201\u2013215",
        "Gone",
      ]);
      const reasons = await test.page.locator(".reason").allTextContents();
      assert.equal(reasons[0], "The same text stands 11 lines further down.");
    });

    it("with a way to each place that it can be opened at", async () => {
      await test.show(stateOf(packOf([docsCandidate(), codeCandidate()])));
      const { page } = test;
      await page.locator("#card-0").getByText("Open page").click();
      await page.locator("#card-0").getByText("Open source").click();
      await page.locator("#card-1").getByText("Open", { exact: true }).click();
      await page.locator("#card-1 .title-link").click();
      assert.deepEqual(await messages(4), [
        { type: "open", candidateId: "docs-1", where: "browser" },
        { type: "open", candidateId: "docs-1", where: "source" },
        { type: "open", candidateId: "code-1", where: "source" },
        { type: "open", candidateId: "code-1", where: "default" },
      ]);
    });

    it("and why it stands where it stands", async () => {
      await test.show(stateOf(variedPack()));
      await test.page.locator("#card-1 .disclosure").click();
      const why = await test.page
        .locator("#card-1 .why")
        .evaluate((element) => [...element.querySelectorAll("p, th, td")].map((part) => part.textContent).join(" "));
      for (const expected of [
        "Entered the pool at 5; the reranker moved it up 3 places.",
        "Keywords 4 ",
        "9.20",
        "Symbol 1 ",
        "Fused 3 ",
        "0.028",
        "Reranked 2 ",
        "1.60",
        "definition 0.816",
      ]) {
        assert.ok(why.includes(expected), `${expected}: ${why}`);
      }
    });
  });

  describe("shows what else a page or class holds", () => {
    it("in a line under the first of its results, and opens the lines of a part", async () => {
      await test.show(stateOf(variedPack()));
      const { page } = test;
      assert.equal(await page.locator(".outline").count(), 2);
      assert.equal(
        await page.locator("#card-0 .outline").innerText(),
        "Also in Reflect and Retry plugin for ADK: Configuration settings (lines 76\u2013112) Next steps (lines 114\u2013121)",
      );
      const list = page.getByRole("list", { name: "Also in Reflect and Retry plugin for ADK:" });
      await list.getByRole("button", { name: "Open Next steps (lines 114\u2013121)" }).click();
      const { citation } = outlineOf();
      assert.deepEqual(await messages(1), [{ type: "openCitation", citation: `${citation}#L114-L121` }]);
    });

    it("by keyboard, on the active card alone", async () => {
      await test.show(stateOf(variedPack()));
      const { page } = test;
      const stops = () => page.locator(".outline [tabindex='0']").count();
      assert.equal(await stops(), 2);
      await page.keyboard.press("End");
      assert.equal(await stops(), 2);
      await page.keyboard.press("j");
      await page.locator("#card-0 .outline button").first().focus();
      await page.keyboard.press("Enter");
      const { citation } = outlineOf();
      assert.deepEqual(await messages(1), [{ type: "openCitation", citation: `${citation}#L76-L112` }]);
    });

    it("whole when asked, with a way to what is not listed", async () => {
      await test.show(stateOf(variedPack()));
      const outline = test.page.locator("#card-1 .outline");
      const shown = await outline.getByRole("button", { name: /^Open / }).count();
      assert.equal(shown, 3);
      await outline.getByRole("button", { name: "4 more", exact: true }).click();
      assert.equal(await outline.getByRole("button", { name: /^Open / }).count(), 5);
      await outline.getByRole("button", { name: "2 more in this file" }).click();
      const citation = "adk-python@v2.13.0:src/google/adk/plugins/reflect_retry_tool_plugin.py";
      assert.deepEqual(await messages(1), [{ type: "openCitation", citation }]);
      await outline.getByRole("button", { name: "Show less" }).click();
      assert.equal(await outline.getByRole("button", { name: /^Open / }).count(), 3);
    });

    it("in at most two lines", async () => {
      await test.show(stateOf(variedPack()));
      for (const index of [0, 1]) {
        const box = await test.page.locator(`#card-${index} .outline`).boundingBox();
        assert.ok(box !== null && box.height <= 40, `${box?.height}`);
      }
    });

    it("nowhere where a server sends no outlines", async () => {
      const { outlines: _, ...older } = variedPack();
      await test.show(stateOf(older as EvidenceResult));
      assert.equal(await test.page.locator(".card").count(), 5);
      assert.equal(await test.page.locator(".outline").count(), 0);
    });
  });

  it("tells how much there is, how good it is and from which index", async () => {
    await test.show(stateOf(variedPack()));
    const summary = await test.page.locator(".summary").textContent();
    for (const expected of [
      "5 results",
      "Mixed quality",
      "2 of them strong",
      "RetryTool is nowhere",
      "979a8fa",
      "26 ms",
    ]) {
      assert.ok(summary?.includes(expected), `${expected}: ${summary}`);
    }
    assert.ok(!summary?.includes("unknown_name"));
    const announced = await test.page.locator("p[role=status]").textContent();
    assert.ok(announced?.startsWith("5 results."), announced ?? "");
  });

  it("shows the question that was made of a selection", async () => {
    const pack = packOf([docsCandidate()]);
    await test.show(stateOf({ ...pack, queryUsed: { ...pack.queryUsed, origin: "selection", text: "Runner.run" } }));
    assert.equal(await test.page.locator(".question").textContent(), "Question made of the selection: Runner.run");
  });

  it("recalls and clears the session's questions", async () => {
    const items = [
      { ...QUESTION, id: "entry-1", results: 5, askedAt: "2026-11-21T06:00:00Z" },
      { ...QUESTION, query: "an earlier one", id: "entry-0", results: 1, askedAt: "2026-11-21T05:00:00Z" },
    ];
    await test.show(stateOf(variedPack(), { history: items }));
    const { page } = test;
    await page.getByRole("button", { name: "History 2" }).click();
    assert.equal(await page.locator(".history-item[aria-current]").count(), 1);
    await page.getByRole("button", { name: "an earlier one" }).click();
    await page.getByRole("button", { name: "Clear" }).click();
    assert.deepEqual(await messages(2), [{ type: "history", id: "entry-0" }, { type: "clearHistory" }]);
  });

  it("offers what mends an error", async () => {
    const actions = [{ title: "Ingest Corpora", id: "fix-0" }];
    await test.show(stateOf(null, { phase: "error", error: { message: "There is no index.", actions } }));
    assert.equal(await test.page.getByRole("alert").locator("p").textContent(), "There is no index.");
    await test.page.getByRole("button", { name: "Ingest Corpora" }).click();
    assert.deepEqual(await messages(1), [{ type: "action", id: "fix-0" }]);
  });

  it("says what the host has to say", async () => {
    await test.show(stateOf(variedPack()));
    await test.send({ type: "say", text: "Citation copied." });
    await test.page.waitForSelector(".said p");
    assert.equal(await test.page.locator(".said[role=status]").textContent(), "Citation copied.");
  });

  it("saves its state and goes on from it", async () => {
    await test.show(stateOf(variedPack()));
    await test.page.keyboard.press("j");
    await test.page.keyboard.press("j");
    await test.page.getByLabel("Question about the ADK").fill("half a quest");
    await test.page.waitForFunction(
      () => (window.__editor.state as SavedState | undefined)?.draft.query === "half a quest",
    );
    const saved = await test.page.evaluate(() => window.__editor.state);
    const again = await TestPage.open(browser, { saved });
    await again.show(stateOf(variedPack()));
    assert.equal(await again.page.getByLabel("Question about the ADK").inputValue(), "half a quest");
    await again.page.keyboard.press("j");
    assert.equal(await again.page.evaluate(() => document.activeElement?.id), "card-1");
    await again.close();
  });

  it("starts afresh from a saved state that is not its own", async () => {
    const other = await TestPage.open(browser, { saved: { version: 1, view: "<b>", draft: null, active: 7 } });
    await other.show(stateOf(variedPack()));
    assert.equal(await other.page.locator(".card").count(), 5);
    assert.deepEqual(other.problems, []);
    await other.close();
  });

  it("answers keys at once with a hundred long results", async () => {
    const text = `def f():\n${"    call_something(argument, 'text')  # a comment\n".repeat(240)}`;
    const many = Array.from({ length: 100 }, (_, index) =>
      codeCandidate({ rank: index + 1, candidate_id: `many-${index}`, text }),
    );
    await test.show(stateOf(packOf(many)));
    const slowest = await test.page.evaluate(async () => {
      let most = 0;
      for (let step = 0; step < 20; step++) {
        const start = performance.now();
        document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
        await new Promise((resolve) => requestAnimationFrame(resolve));
        most = Math.max(most, performance.now() - start);
      }
      return most;
    });
    assert.equal(await test.page.evaluate(() => document.activeElement?.id), "card-19");
    // A frame is 16 ms; this machine may be busy with other things.
    assert.ok(slowest < 500, `${Math.round(slowest)} ms`);
  });

  it("moves nothing by itself where motion is not wanted", async () => {
    await test.show(stateOf(null, { phase: "loading", question: QUESTION }));
    assert.equal(await test.page.evaluate(() => document.getAnimations().length), 0);
    const lively = await TestPage.open(browser, { reducedMotion: false });
    await lively.show(stateOf(null, { phase: "loading", question: QUESTION }));
    assert.ok((await lively.page.evaluate(() => document.getAnimations().length)) > 0);
    await lively.close();
  });
});

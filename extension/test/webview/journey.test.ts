import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import type { Browser } from "playwright-core";
import type { EvidenceResult } from "../../src/protocol/generated";
import type { FromPage, SavedState } from "../../src/webview/messages";
import { codeCandidate, docsCandidate, outlineOf, PLAN, packOf, QUESTION, stateOf, variedPack } from "./packs";
import { TestPage } from "./page";
import { withPage } from "./suite";

describe("the page", () => {
  let browser: Browser;
  let test: TestPage;
  withPage((opened, started) => {
    test = opened;
    browser = started;
  });

  /** The messages once there are as many. */
  async function messages(count: number): Promise<FromPage[]> {
    await test.page.waitForFunction((expected) => window.__editor.sent.length >= expected, count + 1);
    return test.sent();
  }

  describe("names the version", () => {
    const adk = { indexed: "1.18.0", wanted: "1.18.0", taken_from: ".venv" };
    const warnings: EvidenceResult["warnings"] = [
      { code: "version_not_indexed", text: "The project uses google-adk 1.18.0; run this." },
      { code: "docs_fallback", text: "Something else." },
    ];

    it("that the project uses", async () => {
      await test.show(stateOf(packOf([docsCandidate()], { adk })));
      await test.page.getByText("google-adk 1.18.0").waitFor();
      assert.equal(
        await test.page.locator(".version").getAttribute("title"),
        "Your project\u2019s version, from .venv",
      );
      assert.equal(await test.page.getByRole("button", { name: "Index google-adk" }).count(), 0);
    });

    it("that is not indexed, once, with a way to index it, while nothing is indexed", async () => {
      await test.show(stateOf(packOf([docsCandidate()], { adk: { ...adk, indexed: "2.13.0" }, warnings })));
      await test.page.getByText("That version is not indexed. This evidence is of 2.13.0.").waitFor();
      assert.equal(await test.page.getByText("run this").count(), 0);
      await test.page.getByText("Something else.").waitFor();
      await test.page.getByRole("button", { name: "Index google-adk 1.18.0" }).click();
      assert.deepEqual(await messages(1), [{ type: "action", id: "indexVersion" }]);
      const job = { title: "Indexing google-adk 1.18.0", lines: [], left: "", actions: [] };
      await test.send({ type: "job", job: { ...job, fraction: 0.1 } });
      await test.page.getByRole("button", { name: "Index google-adk" }).waitFor({ state: "detached" });
      assert.equal(await test.page.getByText("That version is not indexed.").count(), 1);
      // It is not the project's.
      assert.equal(await test.page.locator(".version[title]").count(), 0);
      await test.send({ type: "job", job: { ...job, fraction: null } });
      await test.page.getByRole("button", { name: "Index google-adk" }).waitFor();
    });
  });

  it("offers to index no version for a saved pack", async () => {
    const adk = { indexed: "2.13.0", wanted: "1.18.0", taken_from: ".venv" };
    const warnings: EvidenceResult["warnings"] = [{ code: "version_not_indexed", text: "Run this." }];
    await test.show({ ...stateOf(packOf([docsCandidate()], { adk, warnings })), notice: "This is a saved answer." });
    await test.page.getByText("When this answer was saved, the project used google-adk 1.18.0 (from .venv).").waitFor();
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
      await page.getByRole("button", { name: "Filter" }).click();
      await page.getByRole("radio", { name: "Code" }).check({ force: true });
      await page.getByLabel("Path").fill("src/**");
      await page.getByLabel("Path").press("Enter");
      assert.deepEqual(await messages(1), [
        {
          type: "ask",
          question: { query: "What is\nLlmAgent?", taskMode: "build", sources: "code", path: "src/**" },
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
      await test.page.getByRole("button", { name: "Filter" }).click();
      await test.page.getByRole("radio", { name: "Docs" }).check({ force: true });
      assert.deepEqual(await messages(1), [{ type: "ask", question: { ...QUESTION, sources: "docs" } }]);
    });

    it("an example of the empty page, which does not ask whether there is an index", async () => {
      await test.show(stateOf(null));
      await test.page.getByRole("button", { name: "How do I retry a failing tool?" }).click();
      assert.deepEqual(await messages(1), [{ type: "ask", question: QUESTION }]);
      assert.equal(await test.page.getByText(/index/i).count(), 0);
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
      await keyboard.press("e");
      await test.page.waitForSelector("#card-1 .outline");
      await keyboard.press("/");
      assert.equal(await focused(), "query");
      await keyboard.type("jkcw");
      assert.equal((await test.sent()).length, 2);
    });

    it("goes from the question to the results and back", async () => {
      const { keyboard } = test.page;
      await keyboard.press("Control+f");
      assert.equal(await focused(), "query");
      await keyboard.press("Escape");
      assert.equal(await focused(), "card-0");
      await keyboard.press("j");
      await keyboard.press("Tab");
      await keyboard.press("Escape");
      assert.equal(await focused(), "card-1");
      assert.match((await test.page.locator(".results").getAttribute("aria-description")) ?? "", /j and k walk/);
      assert.deepEqual(await test.sent(), []);
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

    it("copies a citation from a card's menu, which gives the focus back", async () => {
      const { page } = test;
      await page.keyboard.press("j");
      const button = page.locator("#card-0").getByRole("button", { name: "More actions" });
      await button.focus();
      await page.keyboard.press("Enter");
      await page.waitForSelector("[role=menu]");
      const labels = await page.getByRole("menuitem").allInnerTexts();
      assert.deepEqual(
        labels.map((label) => label.split("\n")[0]),
        [
          "Copy citation",
          "Copy link",
          "Copy code",
          "Insert code",
          "Open page",
          "Open source",
          "Show the whole text",
          "Why this result",
        ],
      );
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      assert.deepEqual(await messages(1), [{ type: "copy", what: "citation", candidateId: "docs-1" }]);
      assert.ok(await button.evaluate((element) => element === document.activeElement));
      await page.keyboard.press("Enter");
      await page.waitForSelector("[role=menu]");
      await page.keyboard.press("Escape");
      await page.waitForSelector("[role=menu]", { state: "detached" });
      assert.equal((await test.sent()).length, 1);
    });

    it("copies a link and the code of a result from its menu, and inserts the code", async () => {
      const { page } = test;
      for (const item of ["Copy link", "Copy code", "Insert code"]) {
        await page.locator("#card-0").hover();
        await page.locator("#card-0").getByRole("button", { name: "More actions" }).click();
        await page.getByRole("menuitem", { name: item }).click();
      }
      assert.deepEqual(await messages(3), [
        { type: "copy", what: "link", candidateId: "docs-1" },
        { type: "copy", what: "code", candidateId: "docs-1" },
        { type: "copy", what: "insert", candidateId: "docs-1" },
      ]);
    });
  });

  describe("gives the focus to the results", () => {
    const focused = () => test.page.evaluate(() => document.activeElement?.id ?? "");

    it("of a question that was typed, also when they are replaced", async () => {
      await test.show(stateOf(null));
      const { page } = test;
      await page.keyboard.press("/");
      await page.keyboard.type(QUESTION.query);
      await page.keyboard.press("Enter");
      await test.show(stateOf(null, { phase: "loading", question: QUESTION }));
      const state = stateOf(variedPack());
      await test.show(state);
      await page.waitForFunction(() => document.activeElement?.id === "card-0");
      await page.keyboard.press("j");
      assert.equal(await focused(), "card-1");
      await test.show({ ...state, current: "better" });
      await page.waitForFunction(() => document.activeElement?.id === "card-0");
    });

    it("when the page gets the focus, unless something in it has the focus", async () => {
      const { page } = test;
      const comes = () => page.evaluate(() => window.dispatchEvent(new Event("focus")));
      await test.show(stateOf(variedPack()));
      await page.keyboard.press("j");
      await page.evaluate(() => (document.activeElement as HTMLElement).blur());
      await comes();
      assert.equal(await focused(), "card-1");
      await page.keyboard.press("/");
      await comes();
      assert.equal(await focused(), "query");
    });
  });

  describe("shows a candidate", () => {
    it("without its title once more, which the whole text has", async () => {
      await test.show(stateOf(packOf([docsCandidate()])));
      const text = test.page.locator(".text").first();
      assert.ok(!(await text.innerText()).includes("Add Reflect and Retry Plugin"));
      await test.page.locator(".fold").first().click();
      assert.ok((await text.innerText()).startsWith("Add Reflect and Retry Plugin"));
    });

    it("of the docs as it reads, with code in the colours of its language", async () => {
      await test.show(stateOf(packOf([docsCandidate()])));
      const { page } = test;
      await page.locator(".fold").click();
      const text = await page.locator(".text").innerText();
      assert.ok(!/\*\*|```|^##/m.test(text), text);
      assert.equal(await page.locator(".prose li strong code").first().innerText(), "max_retries");
      assert.equal(await page.locator(".prose .hljs-keyword").first().textContent(), "from");
    });

    it("with the question's words marked, whole, and no others", async () => {
      await test.show(stateOf(packOf([codeCandidate()])));
      await test.page.locator(".fold").click();
      const marks = await test.page.locator(".code mark").allTextContents();
      assert.ok(marks.includes("failing") && marks.includes("tool") && marks.includes("max_retries"), marks.join(" "));
      assert.ok(!marks.some((mark) => /^(?:do|a|how|i|to)$/i.test(mark)), marks.join(" "));
      assert.equal(await test.page.locator(".code .hljs-keyword").first().textContent(), "class");
    });

    it("by its lines that match, and whole when asked", async () => {
      const text = Array.from({ length: 40 }, (_, line) => `line ${line + 1}`).join("\n");
      const best = { start: 41, end: 41 };
      const lines = { start: 1, end: 41 };
      await test.show(stateOf(packOf([codeCandidate({ text: `${text}\nretry`, lines, best })])));
      const { page } = test;
      assert.match(await page.locator(".code").innerText(), /line 40\nretry$/);
      await page.getByRole("button", { name: "Show all 41 lines" }).click();
      assert.match(await page.locator(".code").last().innerText(), /^line 1\n/);
      await page.getByRole("button", { name: "Show less" }).click();
      assert.ok(!(await page.locator(".code").innerText()).includes("line 1\n"));
    });

    it("of a docstring as words below the first line of its definition", async () => {
      const body = Array.from({ length: 12 }, (_, line) => `    - retry ${line}`).join("\n");
      const text = `  def run(self):\n    """Runs.\n\n${body}\n    """\n    return tool`;
      const candidate = codeCandidate({ text, lines: { start: 1, end: 17 }, best: { start: 13, end: 15 } });
      await test.show(stateOf(packOf([candidate])));
      const words = test.page.locator(".excerpt .docstring");
      assert.match(await words.innerText(), /^- retry 8\n/);
      assert.equal(await words.locator("[class^=hljs]").count(), 0);
      assert.deepEqual(await test.page.locator(".code").allInnerTexts(), ["def run(self):", "return tool"]);
    });

    it("for its readers, with other languages closed", async () => {
      const text = '=== "Python"\n\n    retry the tool\n\n=== "TypeScript"\n\n    retryTheTool()\n';
      const candidate = docsCandidate({
        text,
        lines: { start: 101, end: 107 },
        left_out: [{ lines: { start: 105, end: 107 }, language: "typescript" }],
      });
      await test.show(stateOf(packOf([candidate])));
      const { page } = test;
      assert.equal((await page.locator(".text").innerText()).replaceAll(/\n+/g, "\n"), "Python\nretry the tool");
      await page.getByRole("button", { name: "Show all 7 lines" }).click();
      assert.ok(!(await page.getByText("retryTheTool()").isVisible()));
      await page.getByText("Other languages: TypeScript").click();
      assert.ok(await page.getByText("retryTheTool()").isVisible());
    });

    it("with a remark on every citation that does not hold, and a mark on those that do", async () => {
      await test.show(stateOf(variedPack()));
      const states = await test.page.locator(".verification").allTextContents();
      assert.deepEqual(states, [
        "Verified",
        "Moved, now lines 201\u2013215",
        "Not verified",
        "Changed, now lines 201\u2013215",
        "Gone",
      ]);
      assert.equal(await test.page.locator("#card-0 .remark").count(), 0);
      assert.match(
        (await test.page.locator("#card-0 .verification").getAttribute("title")) ?? "",
        /exactly these lines/,
      );
      const reasons = await test.page.locator(".reason").allTextContents();
      assert.equal(reasons[0]?.trim(), "The same text stands 11 lines further down.");
    });

    it("that shows what another does in a line, until it is asked for", async () => {
      await test.show(
        stateOf(packOf([docsCandidate(), docsCandidate({ candidate_id: "docs-2", rank: 2, same_as: 1 })])),
      );
      const { page } = test;
      assert.ok(await page.locator("#card-1").getByText("The same text as result 1.").isVisible());
      await page.locator("#card-1 .fold").click();
      assert.ok(await page.locator("#card-1 .prose").isVisible());
    });

    it("with a way to each place that it can be opened at", async () => {
      await test.show(stateOf(packOf([docsCandidate(), codeCandidate()])));
      const { page } = test;
      await page.locator("#card-0").hover();
      await page.locator("#card-0").getByRole("button", { name: "Open page" }).click();
      await page.locator("#card-0").getByRole("button", { name: "Open source" }).click();
      await page.locator("#card-1").hover();
      await page.locator("#card-1").getByRole("button", { name: "Open source" }).click();
      await page.locator("#card-1 .title-link").click();
      assert.deepEqual(await messages(4), [
        { type: "open", candidateId: "docs-1", where: "browser" },
        { type: "open", candidateId: "docs-1", where: "source" },
        { type: "open", candidateId: "code-1", where: "source" },
        { type: "open", candidateId: "code-1", where: "default" },
      ]);
    });

    it("and why it is here in three lines, with the numbers where they are asked for", async () => {
      const pack = variedPack();
      const candidates = pack.candidates.map((one) => ({
        ...one,
        why: { ...one.why, task: "Retry a tool that fails", task_role: "registration" },
      }));
      await test.show(stateOf({ ...pack, candidates, retrieval_plan: PLAN }));
      await test.page.keyboard.press("j");
      await test.page.keyboard.press("w");
      const shown = test.page.locator("#card-1 .why");
      const lines = (await shown.innerText()).split("\n").filter((line) => line !== "");
      assert.deepEqual(lines.filter((_, at) => at % 2 === 0).slice(0, 3), ["Found", "Fits the question", "Citation"]);
      const why = lines.join(" ");
      for (const expected of [
        "Found by meaning, by keywords, by its name; words of the question: ",
        "part of a task: Retry a tool that fails",
        "Fits the question well",
        "Citation adk-python@v2.13.0:src/google/adk/plugins/reflect_retry_tool_plugin.py#L190-L204",
      ]) {
        assert.ok(why.includes(expected), `${expected}: ${why}`);
      }
      assert.doesNotMatch(why, /place|%|token/);
      await shown.getByText("Numbers").click();
      const numbers = (await shown.innerText()).replaceAll("\n", " ");
      for (const expected of [
        "meaning place 3 of 80",
        "keywords place 4 of 120",
        "together place 5",
        "look place 2",
        "72 %",
      ]) {
        assert.ok(numbers.includes(expected), `${expected}: ${numbers}`);
      }
      // A score that compares with nothing says nothing.
      assert.doesNotMatch(numbers, /9\.2|0\.0279|1\.6|0\.816|0\.71/);
    });
  });

  describe("shows what else a page or class holds", () => {
    /** Shows the whole text of the first cards. */
    async function unfold(cards: number): Promise<void> {
      for (let index = 0; index < cards; index++) {
        await test.page.locator(`#card-${index} .fold`).click();
      }
    }

    it("in a line under the first of its results, and opens the lines of a part", async () => {
      await test.show(stateOf(variedPack()));
      await unfold(2);
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
      await unfold(2);
      const { page } = test;
      const stops = () => page.locator(".outline [tabindex='0']").count();
      await page.keyboard.press("j");
      assert.equal(await stops(), 0);
      await page.keyboard.press("Home");
      await page.locator("#card-0 .outline button").first().focus();
      await page.keyboard.press("Enter");
      const { citation } = outlineOf();
      assert.deepEqual(await messages(1), [{ type: "openCitation", citation: `${citation}#L76-L112` }]);
    });

    it("whole when asked, with a way to what is not listed", async () => {
      await test.show(stateOf(variedPack()));
      await unfold(2);
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
      await unfold(2);
      for (const index of [0, 1]) {
        const box = await test.page.locator(`#card-${index} .outline`).boundingBox();
        assert.ok(box !== null && box.height <= 40, `${box?.height}`);
      }
    });

    it("and, before the whole text is shown, where else a file matches", async () => {
      const [, ofCode] = variedPack().outlines;
      assert.ok(ofCode !== undefined);
      await test.show(stateOf({ ...variedPack(), places: [ofCode] }));
      const places = test.page.locator(".outline");
      assert.equal(await places.count(), 1);
      const list = test.page.locator("#card-1").getByRole("list", { name: "7 more places in this file:" });
      await list.getByRole("button", { name: "Open after_tool_callback (lines 131\u2013168)" }).click();
      assert.deepEqual(await messages(1), [{ type: "openCitation", citation: `${ofCode.citation}#L131-L168` }]);
    });

    it("nowhere where there are no outlines", async () => {
      await test.show(stateOf({ ...variedPack(), outlines: [] }));
      assert.equal(await test.page.locator(".card").count(), 5);
      assert.equal(await test.page.locator(".outline").count(), 0);
    });
  });

  it("tells how much there is, how good it is and from which index", async () => {
    await test.show(stateOf(variedPack()));
    const summary = await test.page.locator(".summary").innerText();
    for (const expected of ["5 results", "google-adk 2.13.0", "Less certain"]) {
      assert.ok(summary.includes(expected), `${expected}: ${summary}`);
    }
    const banner = await test.page.locator(".banner").innerText();
    assert.ok(banner.includes("RetryTool is nowhere") && !banner.includes("unknown_name"), banner);
    const facts = await test.page.locator(".meta").innerText();
    assert.ok(facts.includes("979a8fa") && facts.includes("26 ms"), facts);
    const announced = await test.page.locator("p[role=status]").textContent();
    assert.ok(announced?.startsWith("5 results."), announced ?? "");
  });

  it("says what a question was made of, and nothing where all is well", async () => {
    const pack = packOf([docsCandidate()]);
    await test.show(stateOf({ ...pack, queryUsed: { ...pack.queryUsed, origin: "selection", text: "Runner.run" } }));
    assert.equal(await test.page.locator(".origin").textContent(), "from the selection");
    assert.equal(await test.page.locator(".quality, .banner, .remark").count(), 0);
  });

  it("shows code of a notice as code, and markup as it is written", async () => {
    const text = "It has an extra: `pip install <b>google-adk[mcp]</b>`.";
    await test.show(stateOf(packOf([docsCandidate()], { warnings: [{ code: "extra_missing", text }] })));
    assert.equal(await test.page.locator(".banner code").textContent(), "pip install <b>google-adk[mcp]</b>");
    assert.equal(await test.page.locator(".banner").innerText(), text.replaceAll("`", ""));
  });

  it("says in a banner that the question may be about something else", async () => {
    const quality = {
      level: "none",
      note: "The question may not be about the ADK; the nearest results are shown.",
    } as const;
    await test.show(stateOf(packOf([docsCandidate()], { quality })));
    assert.equal(await test.page.locator(".banner").innerText(), quality.note);
  });

  it("has the question once, in a header of two lines", async () => {
    await test.show(stateOf(variedPack()));
    const box = await test.page.locator(".top").boundingBox();
    assert.ok(box !== null && box.height <= 80, `${box?.height}`);
    assert.equal(await test.page.getByLabel("Question about the ADK").inputValue(), QUESTION.query);
    assert.ok(!(await test.page.locator("body").innerText()).includes(QUESTION.query));
  });

  it("offers what mends an error", async () => {
    const actions = [{ title: "Update Index", id: "fix-0" }];
    await test.show(stateOf(null, { phase: "error", error: { message: "There is no index.", actions } }));
    assert.equal(await test.page.getByRole("alert").locator("p").textContent(), "There is no index.");
    await test.page.getByRole("button", { name: "Update Index" }).click();
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
    await test.page.getByLabel("Question about the ADK").fill("half a quest");
    await test.page.waitForFunction(
      () => (window.__editor.state as SavedState | undefined)?.draft.query === "half a quest",
    );
    const saved = await test.page.evaluate(() => window.__editor.state);
    const again = await TestPage.open(browser, { saved });
    await again.show(stateOf(variedPack()));
    assert.equal(await again.page.getByLabel("Question about the ADK").inputValue(), "half a quest");
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

  it("changes nothing but the two cards between which a key moves, however many results there are", async () => {
    const text = `def f():\n${"    call_something(argument, 'text')  # a comment\n".repeat(240)}`;
    const many = Array.from({ length: 100 }, (_, index) =>
      codeCandidate({ rank: index + 1, candidate_id: `many-${index}`, text }),
    );
    await test.show(stateOf(packOf(many)));
    const press = () =>
      test.page.evaluate(async () => {
        const changed = new Set<string>();
        const observer = new MutationObserver((records) => {
          for (const { target } of records) {
            changed.add((target as Element).closest(".card")?.id ?? target.nodeName);
          }
        });
        observer.observe(document.querySelector(".results") as Element, {
          attributes: true,
          characterData: true,
          childList: true,
          subtree: true,
        });
        document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
        await new Promise((resolve) => setTimeout(resolve));
        await new Promise((resolve) => requestAnimationFrame(resolve));
        observer.disconnect();
        return [...changed].sort();
      });
    assert.deepEqual(await press(), ["card-0", "card-1"]);
    assert.deepEqual(await press(), ["card-1", "card-2"]);
    assert.equal(await test.page.evaluate(() => document.activeElement?.id), "card-2");
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

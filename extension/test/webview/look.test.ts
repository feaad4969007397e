import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, it } from "mocha";
import type { Browser } from "playwright-core";
import type { ViewJob, ViewState } from "../../src/webview/messages";
import { codeCandidate, docsCandidate, longPack, packOf, QUESTION, stateOf, variedPack } from "./packs";
import { TestPage } from "./page";
import { withBrowser } from "./suite";
import { THEMES, type ThemeName } from "./themes";

/** Where pictures are kept, for people to look at. */
const PICTURES = process.env.ADK_EVIDENCE_PICTURES;

describe("the page's look", () => {
  let browser: Browser;
  withBrowser((started) => {
    browser = started;
  });

  const states: Record<string, () => ViewState> = {
    empty: () => stateOf(null),
    loading: () => stateOf(null, { phase: "loading", question: QUESTION }),
    error: () =>
      stateOf(null, {
        phase: "error",
        question: QUESTION,
        error: {
          message: "There is no index yet. Ingest the corpora once, then ask again.",
          actions: [
            { title: "Update Index", id: "fix-0" },
            { title: "Try Again", id: "retry" },
          ],
        },
      }),
    nothing: () => stateOf(packOf([], { quality: { level: "none", note: "Nothing in the index is close to it." } })),
    pack: () => {
      const state = stateOf(variedPack());
      const earlier = ["What does before_model_callback receive?", "AttributeError: 'LlmAgent' has no 'runn'"];
      const others = earlier.map((query, index) => ({
        ...QUESTION,
        query,
        id: `entry-${index + 2}`,
        results: 12,
        askedAt: "2026-11-21T05:00:00Z",
      }));
      return { ...state, history: [...state.history, ...others] };
    },
  };

  for (const theme of Object.keys(THEMES) as ThemeName[]) {
    // The narrowest side bar of the editor leaves 173 pixels.
    for (const width of [173, 300, 1000]) {
      it(`fits ${width} pixels in ${theme}`, async () => {
        const test = await TestPage.open(browser, { theme, width, height: 900 });
        for (const [name, state] of Object.entries(states)) {
          await test.show(state());
          if (name === "pack" && PICTURES !== undefined) {
            await picture(test, `first-${theme}-${width}`);
          }
          if (name === "pack") {
            await test.page.getByRole("button", { name: "Filter" }).click();
            for (const key of ["j", "e", "w"]) {
              await test.page.keyboard.press(key);
            }
            await test.page.waitForSelector("#card-0 .why");
          }
          const { page: wide, parts } = await test.page.evaluate(() => ({
            page: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
            // Nothing of a card or of the header may stand out of it either, where it would be cut.
            parts: [...document.querySelectorAll(".top, .card")].flatMap((card) =>
              [...card.querySelectorAll("*:not(.hidden, .path *)")]
                .filter((part) => {
                  const { right } = card.getBoundingClientRect();
                  // What an excerpt has no room for is beside the card as a whole.
                  return [...part.getClientRects()].some((rect) => rect.left < right && rect.right > right);
                })
                .map((part) => part.className.toString()),
            ),
          }));
          assert.deepEqual({ wide, parts }, { wide: 0, parts: [] }, name);
          if (PICTURES !== undefined) {
            await picture(test, `${name}-${theme}-${width}`);
          }
        }
        assert.deepEqual(test.problems, []);
        await test.close();
      });
    }
  }

  it("cuts nothing of a summary that takes several lines", async () => {
    const test = await TestPage.open(browser, { width: 173 });
    await test.show(stateOf(variedPack()));
    await test.page.waitForSelector(".summary .version");
    const cut = await test.page.evaluate(() => {
      const summary = document.querySelector(".summary");
      const visible = (summary?.getBoundingClientRect().left ?? 0) + 16;
      const range = document.createRange();
      return [...(summary?.children ?? [])].flatMap((part) => {
        range.selectNodeContents(part);
        const lines = [...range.getClientRects()];
        return lines.filter(({ left }) => left < visible - 0.5).map(({ left }) => `${part.textContent} at ${left}`);
      });
    });
    assert.deepEqual(cut, []);
    await test.close();
  });

  for (const width of [173, 300, 420, 900]) {
    it(`covers no text of a card by its tools, and shows file and lines of its place, at ${width} pixels`, async () => {
      const test = await TestPage.open(browser, { width, height: 900 });
      const path = "src/deep/folder/in/the/project/agent_of_the_desk.py";
      const ofShop = codeCandidate({ candidate_id: "of-shop", index: "my-shop-of-2026", path });
      await test.show(stateOf(packOf([docsCandidate(), codeCandidate(), ofShop])));
      const files = ["reflect-and-retry.md:26", "reflect_retry_tool_plugin.py:190", "agent_of_the_desk.py:190"];
      for (const [at, file] of files.entries()) {
        const seen = await test.page.locator(`#card-${at}`).evaluate((card) => {
          const rects = (part: Element | null) => {
            const range = document.createRange();
            range.selectNodeContents(part ?? card);
            return [...range.getClientRects()];
          };
          const tools = card.querySelector(".tools")?.getBoundingClientRect() ?? new DOMRect();
          const covers = ({ left, right, top, bottom }: DOMRect) =>
            left < tools.right && right > tools.left && top < tools.bottom - 4 && bottom > tools.top + 4;
          const name = card.querySelector(".path > bdi");
          const { left, right } = card.getBoundingClientRect();
          return {
            covered: [...rects(card.querySelector(".title-link")), ...rects(card.querySelector(".path"))].filter(
              covers,
            ),
            file: name?.textContent?.split("\u2013")[0],
            isWhole: rects(name).every((rect) => rect.left >= left && rect.right <= right),
          };
        });
        assert.deepEqual(seen, { covered: [], file, isWhole: true });
      }
      await test.close();
    });
  }

  for (const [width, height] of [
    [173, 520],
    [300, 600],
    [400, 600],
  ] as const) {
    it(`has the first result in sight at ${width} by ${height} pixels, whatever comes before it`, async () => {
      const test = await TestPage.open(browser, { width, height });
      const text = "The name is nowhere in the index. ".repeat(30);
      const frame = { number: 1, function: null, path: "a.py", line: 1, text: "", citation: "", rank: null };
      const frames = [{ ...frame, verification: "exact" } as const];
      const error = { type: "ValueError", message: text, calls: 2, frames };
      const warnings = Array.from({ length: 8 }, () => ({ code: "unknown_name", text }) as const);
      const quality = { level: "none", note: text } as const;
      const pack = packOf([docsCandidate(), codeCandidate()], { warnings, quality, errors: [error] });
      await test.show(stateOf(pack, { notice: text }));
      const running: ViewJob = { title: "Indexing it", lines: [], fraction: 0.3, left: "1 minute", actions: ["Stop"] };
      const lines = [1, 2, 3, 4].map((number) => `${number}. ${text}`);
      const actions = ["Ask a Question\u2026", "Close"];
      for (const job of [null, running, { ...running, lines, fraction: null, actions }]) {
        await test.send({ type: "job", job });
        await test.page.waitForFunction(
          (labels) => document.querySelector(".get-started-actions")?.textContent?.endsWith(labels) ?? labels === "",
          job?.actions.join("") ?? "",
        );
        const title = await test.page.locator("#card-0 .title-link").boundingBox();
        assert.ok(title !== null && title.y > 0 && title.y + 18 < height, JSON.stringify({ title, job }));
        const over = await test.page.evaluate(() => {
          const card = document.querySelector(".get-started");
          const right = card?.getBoundingClientRect().right ?? 0;
          return [...(card?.querySelectorAll("button") ?? [])].filter(
            (one) => one.getBoundingClientRect().right > right,
          );
        });
        assert.equal(over.length, 0, "a button stands out of the card");
        if (PICTURES !== undefined) {
          await picture(test, `before-${width}-${job?.actions[0]?.slice(0, 4) ?? "none"}`);
        }
      }
      assert.equal(await test.page.locator(".banner").count(), 10);
      await test.close();
    });
  }

  for (const [width, size] of [
    [173, 12],
    [300, 14],
    [300, 20],
    [900, 14],
  ] as const) {
    it(`ends excerpts with whole lines at ${width} pixels, with code of ${size} pixels`, async () => {
      const test = await TestPage.open(browser, { width });
      await test.page.evaluate(
        (value) => document.documentElement.style.setProperty("--vscode-editor-font-size", value),
        `${size}px`,
      );
      const words = "This is told before the request is sent, so that a tool can be tried again. ".repeat(6);
      const text = `async def retry(\n    self, *, tool_context: ToolContext, llm_request: LlmRequest\n) -> None:\n  """${words}"""\n`;
      const documented = codeCandidate({ candidate_id: "documented", text, symbol: "retry" });
      await test.show(stateOf(packOf([documented, ...variedPack().candidates, ...longPack().candidates])));
      await test.page.waitForSelector("#card-9");
      const cut = await test.page.evaluate(() =>
        [...document.querySelectorAll(".excerpt")].flatMap((excerpt) => {
          const found: string[] = [];
          const nodes = document.createTreeWalker(excerpt, NodeFilter.SHOW_TEXT);
          const range = document.createRange();
          while (nodes.nextNode()) {
            range.selectNodeContents(nodes.currentNode);
            for (const box of [excerpt, nodes.currentNode.parentElement?.closest(".excerpt > .code") ?? excerpt]) {
              const { right, bottom } = box.getBoundingClientRect();
              const over = [...range.getClientRects()].filter(
                (rect) => rect.left < right && rect.top < bottom - 3 && rect.bottom > bottom + 3,
              );
              found.push(...over.map(() => `${nodes.currentNode.textContent}`));
            }
          }
          return found;
        }),
      );
      assert.deepEqual(cut, []);
      await test.close();
    });
  }

  it("leaves the titles of the narrowest cards whole words, beside the one button that stands over them", async () => {
    const test = await TestPage.open(browser, { width: 173 });
    const named = (name: string, at: number) => codeCandidate({ candidate_id: name, symbol: name, rank: at + 1 });
    const gone = { state: "gone", lines: null, path: null, reason: "" } as const;
    const titles = [docsCandidate({ headings: ["Callbacks"] }), ...["LlmAgent", "guard"].map(named)];
    await test.show(stateOf(packOf([...titles, codeCandidate({ symbol: "LlmAgent", verification: gone })])));
    await test.page.waitForSelector("#card-3");
    const seen = await test.page.evaluate(() =>
      [...document.querySelectorAll(".card")].map((card) => {
        const range = document.createRange();
        range.selectNodeContents(card.querySelector(".trail-last > bdi") ?? card);
        const tools = card.querySelector(".tools")?.getBoundingClientRect() ?? new DOMRect();
        const rects = [...range.getClientRects()].filter(({ width }) => width > 0);
        const covered = rects.some(({ right, top }) => right > tools.left && top < tools.bottom - 4);
        return [new Set(rects.map(({ top }) => Math.round(top))).size, covered];
      }),
    );
    assert.deepEqual(seen, Array(4).fill([1, false]));
    await test.close();
  });

  describe("has room", () => {
    for (const [width, results] of [
      [1000, 4],
      [300, 2],
    ] as const) {
      it(`for ${results} results at ${width} by 900 pixels`, async () => {
        const test = await TestPage.open(browser, { width, height: 900 });
        await test.show(stateOf(longPack()));
        const seen = await test.page.evaluate(
          () =>
            [...document.querySelectorAll(".card")].filter((card) => card.getBoundingClientRect().bottom <= innerHeight)
              .length,
        );
        assert.ok(seen >= results, `${seen}`);
        const lines = await test.page.evaluate(() =>
          [...document.querySelectorAll(".excerpt")].map((text) => text.getBoundingClientRect().height),
        );
        assert.ok(lines.length >= 4 && lines.every((height) => height >= 3 * 18), lines.join(" "));
        await test.close();
      });
    }
  });
});

async function picture({ page }: TestPage, name: string): Promise<void> {
  fs.mkdirSync(PICTURES ?? "", { recursive: true });
  await page.screenshot({ path: path.join(PICTURES ?? "", `${name}.png`) });
}

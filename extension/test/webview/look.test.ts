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
                .filter((part) => part.getBoundingClientRect().right > card.getBoundingClientRect().right)
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

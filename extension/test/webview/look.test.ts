import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, it } from "mocha";
import type { Browser } from "playwright-core";
import type { ViewState } from "../../src/webview/messages";
import { longPack, packOf, QUESTION, stateOf, variedPack } from "./packs";
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

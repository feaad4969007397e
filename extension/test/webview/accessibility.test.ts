import assert from "node:assert/strict";
import type { AxeResults, RunOptions } from "axe-core";
import { source as axeSource } from "axe-core";
import { describe, it } from "mocha";
import type { Browser } from "playwright-core";
import type { ViewState } from "../../src/webview/messages";
import { packOf, QUESTION, stateOf, variedPack } from "./packs";
import { TestPage } from "./page";
import { withBrowser } from "./suite";
import { THEMES, type ThemeName } from "./themes";

declare global {
  interface Window {
    axe: { run(options: RunOptions): Promise<AxeResults> };
  }
}

const STATES: Record<string, ViewState> = {
  empty: stateOf(null),
  loading: stateOf(null, { phase: "loading", question: QUESTION }),
  error: stateOf(null, { phase: "error", error: { message: "No index.", actions: [{ title: "Ingest", id: "x" }] } }),
  nothing: stateOf(packOf([])),
  pack: stateOf(variedPack()),
};

describe("the page, to assistive technology,", () => {
  let browser: Browser;
  withBrowser((started) => {
    browser = started;
  });

  for (const theme of Object.keys(THEMES) as ThemeName[]) {
    it(`breaks no rule of axe in ${theme}`, async () => {
      const test = await TestPage.open(browser, { theme, height: 3000 });
      // Evaluated by the debugger: the page's own policy lets no such script in.
      await test.page.evaluate(axeSource);
      for (const [name, state] of Object.entries(STATES)) {
        await test.show(state);
        if (name === "pack") {
          await test.page.getByRole("button", { name: "Filter" }).click();
          await test.page.locator("#card-0 .fold").click();
          await test.page.keyboard.press("w");
          await test.page.mouse.move(0, 0);
        }
        const { violations } = await test.page.evaluate(() => window.axe.run({}));
        const told = violations.flatMap(({ id, nodes }) =>
          nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
        );
        assert.deepEqual(told, [], `${name} in ${theme}`);
      }
      await test.close();
    });
  }

  it("has landmarks, headings and named results", async () => {
    const test = await TestPage.open(browser);
    await test.show(stateOf(variedPack()));
    const { page } = test;
    for (const role of ["main", "search", "banner"] as const) {
      assert.equal(await page.getByRole(role).count(), 1, role);
    }
    assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
    assert.equal(await page.getByRole("heading", { level: 3 }).count(), 5);
    const name = "Result 1, Docs: Reflect and Retry plugin for ADK \u203a Add Reflect and Retry Plugin";
    assert.equal(await page.getByRole("article", { name }).count(), 1);
    assert.equal(await page.getByRole("button", { name: /^Copy citation: .*on_tool_error_callback$/ }).count(), 1);
    await test.close();
  });
});

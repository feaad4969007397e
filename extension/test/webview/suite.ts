/** The browser of a suite, and a page for each of its tests. */

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "mocha";
import type { Browser } from "playwright-core";
import { launchChromium } from "../e2e/chromium";
import { TestPage } from "./page";

/** Starts a browser before the tests of the suite around the call, gives it to `use`, and closes it after them. */
export function withBrowser(use: (browser: Browser) => void): void {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
    use(browser);
  });
  after(() => browser.close());
}

/** Opens a page before each test, gives it to `use`, and closes it after the test, when `check` has seen it. */
export function withPage(
  use: (test: TestPage, browser: Browser) => void,
  check: (test: TestPage) => Promise<void> = assertClean,
): void {
  let browser: Browser;
  let test: TestPage;
  withBrowser((started) => {
    browser = started;
  });
  beforeEach(async () => {
    test = await TestPage.open(browser);
    use(test, browser);
  });
  afterEach(async () => {
    await check(test);
    await test.close();
  });
}

/** No error, no request but for the page's own files, and no script of a text. */
async function assertClean(test: TestPage): Promise<void> {
  assert.deepEqual([test.problems, test.requests, await test.page.evaluate(() => window.__executed)], [[], [], []]);
}

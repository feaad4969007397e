import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import type { Browser } from "playwright-core";
import { launchChromium } from "../e2e/chromium";
import { codeCandidate, docsCandidate, packOf, stateOf } from "./packs";
import { TestPage } from "./page";

describe("a pack of two indexes on the page", () => {
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
    assert.deepEqual([test.problems, test.requests, await test.page.evaluate(() => window.__executed)], [[], [], []]);
    await test.close();
  });

  it("says of each card which index it is of, also to those who hear it", async () => {
    const { page } = test;
    const results = [docsCandidate({ index: "adk" }), codeCandidate({ index: "shop" })];
    await test.show(stateOf(packOf(results)));
    assert.deepEqual(await page.locator(".card .of-index").allTextContents(), ["adk", "shop"]);
    assert.deepEqual(await page.locator(".card-title .hidden").allTextContents(), [
      "Result 1, Docs of adk: ",
      "Result 2, Code of shop: ",
    ]);
  });

  it("names the repositories of both indexes at the end", async () => {
    const pack = packOf([docsCandidate({ index: "adk" })]);
    const { index } = pack;
    assert.ok(index);
    const corpus = { repo: "shop", commit: "tree-1234567", ref: null, source: "folder", chunks: 20, content: null };
    const beside = {
      name: "shop",
      beside: "adk",
      index: { ...index, corpora: { shop: corpus } },
      retrieval_plan: null,
    };
    await test.show(stateOf({ ...pack, beside }));
    await test.page.getByRole("list", { name: "Index" }).getByText("shop").waitFor();
  });

  it("shows no index where one alone was asked", async () => {
    await test.show(stateOf(packOf([docsCandidate(), codeCandidate()])));
    assert.equal(await test.page.locator(".card").count(), 2);
    assert.equal(await test.page.locator(".of-index").count(), 0);
  });
});

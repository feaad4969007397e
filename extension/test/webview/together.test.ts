import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { codeCandidate, docsCandidate, packOf, stateOf } from "./packs";
import type { TestPage } from "./page";
import { withPage } from "./suite";

describe("a pack of two indexes on the page", () => {
  let test: TestPage;
  withPage((opened) => {
    test = opened;
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

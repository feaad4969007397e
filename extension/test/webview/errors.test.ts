import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { ErrorFrame, PastedError } from "../../src/protocol/generated";
import { codeCandidate, docsCandidate, packOf, stateOf } from "./packs";
import type { TestPage } from "./page";
import { withPage } from "./suite";

const CITATION = "adk-python@v2.13.0:src/google/adk/runners.py#L12-L12";
const HOSTILE = "<img src=x onerror=window.__executed.push('x')> [x](command:evil) \u202e";

function frame(change: Partial<ErrorFrame> = {}): ErrorFrame {
  return {
    number: 2,
    function: "run_async",
    path: "src/google/adk/runners.py",
    line: 12,
    text: "    raise ValueError('no session')",
    citation: CITATION,
    verification: "exact",
    rank: 1,
    ...change,
  };
}

function error(change: Partial<PastedError> = {}): PastedError {
  return { type: "ValueError", message: "no session", calls: 7, frames: [frame()], ...change };
}

describe("a pasted error on the page", () => {
  let test: TestPage;
  withPage((opened) => {
    test = opened;
  });

  it("is a line, below which its calls are when they are asked for, each a link to its line", async () => {
    const { page } = test;
    await test.show(stateOf(packOf([codeCandidate()], { errors: [error()] })));
    const call = page.getByRole("button", { name: "Open src/google/adk/runners.py:12" });
    assert.equal(await call.isVisible(), false);
    await page.getByText("1 of 7 calls can be opened").click();
    await page.getByText("raise ValueError('no session')").waitFor();
    await call.click();
    await page.waitForFunction(() => window.__editor.sent.some(({ type }) => type === "openCitation"));
    assert.deepEqual((await test.sent()).at(-1), { type: "openCitation", citation: CITATION });
  });

  it("counts no calls where all can be opened", async () => {
    await test.show(stateOf(packOf([codeCandidate()], { errors: [error({ calls: 1 })] })));
    assert.equal(await test.page.locator(".error-trace summary").innerText(), "ValueError no session");
  });

  it("says where the version has other code, and where the source has changed", async () => {
    const frames = [frame({ line: null, text: "" }), frame({ verification: "changed" })];
    await test.show(stateOf(packOf([codeCandidate()], { errors: [error({ frames })] })));
    await test.page.locator(".error-trace summary").click();
    await test.page.getByText("This version has other code there.").waitFor();
    await test.page.getByText("The source has changed.").waitFor();
  });

  it("is not shown without calls", async () => {
    await test.show(stateOf(packOf([codeCandidate()], { errors: [error({ frames: [] })] })));
    assert.equal(await test.page.locator(".error-trace").count(), 0);
  });

  it("is told on each card by what the card's text is to the error", async () => {
    const part = { frame: 3, calls: 7, line: 12, citation: CITATION };
    const nothing = { frame: null, calls: null, line: null, citation: null };
    const cards = [
      codeCandidate({ candidate_id: "a", error: { role: "raise_site", ...part } }),
      codeCandidate({ candidate_id: "b", error: { role: "frame", ...part } }),
      docsCandidate({ candidate_id: "c", error: { role: "remedy", ...nothing } }),
      docsCandidate({ candidate_id: "d", error: null }),
    ];
    await test.show(stateOf(packOf(cards)));
    const said = await test.page.locator(".error-role").allInnerTexts();
    assert.deepEqual(said, ["Raises the error: line 12", "Call 3 of 7: line 12", "May say what to do"]);
  });

  it("is text, whatever it says", async () => {
    const frames = [frame({ function: HOSTILE, path: HOSTILE, text: HOSTILE, citation: HOSTILE })];
    await test.show(
      stateOf(packOf([codeCandidate()], { errors: [error({ type: HOSTILE, message: HOSTILE, frames })] })),
    );
    await test.page.locator(".error-trace summary").click();
    assert.equal(await test.page.locator(".error-trace img, .error-trace a").count(), 0);
    assert.ok(!(await test.page.locator(".error-trace").innerText()).includes("\u202e"));
  });
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import {
  isFromPage,
  isSavedState,
  isToPage,
  MAX_HISTORY,
  MAX_PATH,
  MAX_QUERY,
  MAX_SYMBOL_QUERY,
} from "../../../src/protocol/check";
import { QUESTION, stateOf, variedPack } from "../../webview/packs";

describe("the limits of the protocol", () => {
  it("are those of the schema", () => {
    const limits = [MAX_QUERY, MAX_SYMBOL_QUERY, MAX_PATH, MAX_HISTORY];
    assert.deepEqual(limits, [100_000, 1000, 2000, 50]);
  });
});

describe("messages from the page", () => {
  it("are taken if they are of the contract", () => {
    for (const message of [
      { type: "ready" },
      { type: "ask", question: QUESTION },
      { type: "cancel" },
      { type: "open", candidateId: "x", where: "source" },
      { type: "openCitation", citation: "adk-docs@x:docs/a.md#L1-L2" },
      { type: "copy", what: "citation", candidateId: "x" },
      { type: "copy", what: "insert", candidateId: "x" },
      { type: "action", id: "ingest" },
    ]) {
      assert.ok(isFromPage(message), JSON.stringify(message));
    }
  });

  it("are refused otherwise", () => {
    for (const message of [
      null,
      undefined,
      "ready",
      [],
      {},
      { type: "eval" },
      { type: "ask" },
      { type: "ask", question: { ...QUESTION, query: 1 } },
      { type: "ask", question: { ...QUESTION, query: "x".repeat(100_001) } },
      { type: "ask", question: { ...QUESTION, taskMode: "destroy" } },
      { type: "open", candidateId: "x", where: "https://evil.test" },
      { type: "open", candidateId: { toString: "x" }, where: "source" },
      { type: "open", candidateId: "x".repeat(5000), where: "source" },
      { type: "openCitation", citation: "x".repeat(5000) },
      { type: "openCitation", citation: null },
      { type: "copy", what: "everything", candidateId: "x" },
      { type: "copy", what: "citation", candidateId: null },
      { type: "action" },
      Object.create({ type: "ready" }),
    ]) {
      assert.ok(!isFromPage(message), JSON.stringify(message));
    }
  });
});

describe("messages to the page", () => {
  it("are states and sentences", () => {
    assert.ok(isToPage({ type: "say", text: "Copied." }));
    assert.ok(isToPage({ type: "state", state: stateOf(variedPack()) }));
    assert.ok(!isToPage({ type: "state", state: {} }));
    assert.ok(!isToPage({ type: "say" }));
  });
});

describe("a saved state", () => {
  const good = { version: 1, view: stateOf(variedPack()), draft: QUESTION, active: null };

  it("is taken if this version saved it", () => {
    assert.ok(isSavedState(JSON.parse(JSON.stringify(good))));
  });

  it("is taken if it has words that only a newer server knows, or lacks what older windows did not save", () => {
    const { view } = good;
    const candidates = view.pack?.candidates.map((one) => ({
      ...one,
      verification: { ...one.verification, state: "withdrawn" },
      citation_confidence: "certain",
    }));
    const pack = { ...view.pack, candidates, status: "partial", quality: { level: "splendid", note: "" } };
    assert.ok(isSavedState({ ...good, view: { ...view, pack } }));
    assert.ok(isToPage({ type: "state", state: { ...view, pack } }));
    const { scope: _, ...older } = { ...view, scope: null };
    assert.ok(isSavedState({ ...good, view: older }));
  });

  it("is not taken if its words are markup, or the names of what all objects have", () => {
    const { view } = good;
    for (const status of ["<b>", "a b", "", "x".repeat(41), "constructor", "toString", "__proto__"]) {
      assert.ok(!isSavedState({ ...good, view: { ...view, pack: { ...view.pack, status } } }), status);
    }
  });

  it("is refused if anything of it is not what it should be", () => {
    const { view } = good;
    const candidate = view.pack?.candidates[0];
    const wrong: unknown[] = [
      undefined,
      { ...good, version: 2 },
      { ...good, draft: undefined },
      { ...good, view: { ...view, phase: "done" } },
      { ...good, view: { ...view, pack: { ...view.pack, candidates: [{ ...candidate, text: 1 }] } } },
      { ...good, view: { ...view, pack: { ...view.pack, candidates: [{ ...candidate, rank: Number.NaN }] } } },
      { ...good, view: { ...view, pack: { ...view.pack, warnings: "none" } } },
      { ...good, view: { ...view, history: Array(MAX_HISTORY + 1).fill(view.history[0]) } },
    ];
    for (const state of wrong) {
      assert.ok(!isSavedState(state));
    }
  });
});

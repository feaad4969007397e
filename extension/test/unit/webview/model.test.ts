import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { commandOf } from "../../../src/webview/app/keyboard";
import { fitLabel } from "../../../src/webview/app/labels";
import { type Event, initial, type Model, NO_QUESTION, reduce, saved, toAsk } from "../../../src/webview/app/model";
import type { ViewState } from "../../../src/webview/messages";
import { docsCandidate, packOf, QUESTION, stateOf, variedPack } from "../../webview/packs";

const after = (model: Model, ...events: Event[]): Model => events.reduce(reduce, model);
const state = (view: ViewState): Event => ({ type: "message", message: { type: "state", state: view } });

describe("the page's model", () => {
  it("takes the host's question and makes the first candidate active", () => {
    const model = after(initial(null), state(stateOf(variedPack())));
    assert.deepEqual([model.draft, model.active], [QUESTION, "docs-1"]);
  });

  it("keeps what is typed until another question is asked", () => {
    const typed = { ...QUESTION, query: "half" };
    const loading = stateOf(null, { phase: "loading", question: QUESTION });
    const model = after(initial(null), state(loading), { type: "draft", draft: typed }, state(stateOf(variedPack())));
    assert.deepEqual(model.draft, typed);
    const other = { ...QUESTION, query: "another" };
    assert.deepEqual(after(model, state(stateOf(variedPack(), { question: other }))).draft, other);
  });

  it("asks what is newly typed in the usual mode, and the same words again in the mode that they had", () => {
    const before = { ...QUESTION, query: "Traceback", taskMode: "debug" } as const;
    assert.deepEqual(toAsk({ ...before, query: " Traceback ", sources: "docs" }, before), {
      ...before,
      sources: "docs",
    });
    assert.equal(toAsk({ ...before, query: "How do I retry?" }, before).taskMode, "build");
  });

  it("unfolds and explains, and forgets that with the pack", () => {
    const shown = after(
      initial(null),
      state(stateOf(variedPack())),
      { type: "expand", id: "docs-1" },
      { type: "explain", id: "code-1" },
      { type: "activate", id: "code-1" },
    );
    assert.ok(shown.expanded.has("docs-1") && shown.explained.has("code-1"));
    assert.ok(!after(shown, { type: "expand", id: "docs-1" }).expanded.has("docs-1"));
    const cleared = after(shown, state(stateOf(variedPack(), { history: [] })));
    assert.deepEqual([cleared.active, cleared.expanded.size], ["code-1", 1]);
    const next = after(shown, state(stateOf(packOf([docsCandidate()]), { current: "entry-2" })));
    assert.deepEqual([next.active, next.expanded.size, next.explained.size], ["docs-1", 0, 0]);
  });

  it("goes on from a saved state", () => {
    const before = after(
      initial(null),
      state(stateOf(variedPack())),
      { type: "draft", draft: { ...QUESTION, query: "half" } },
      { type: "activate", id: "code-2" },
    );
    const again = after(initial(saved(before)), state(stateOf(variedPack())));
    assert.deepEqual([again.draft.query, again.active], ["half", "code-2"]);
  });

  it("saves nothing before there is anything, and no pack of many megabytes", () => {
    assert.equal(saved(initial(null)), null);
    assert.deepEqual(initial(null).draft, NO_QUESTION);
    const giant = packOf([docsCandidate({ text: "x".repeat(3_000_001) })]);
    const state_ = saved(after(initial(null), state(stateOf(giant))));
    assert.deepEqual([state_?.view.pack, state_?.view.current, state_?.view.history.length], [null, null, 1]);
  });

  it("tells two sentences of the same text apart", () => {
    const say: Event = { type: "message", message: { type: "say", text: "Copied." } };
    const once = after(initial(null), say);
    assert.notEqual(after(once, say).said?.number, once.said?.number);
    assert.equal(after(once, { type: "silence" }).said, null);
  });
});

describe("the page's keys", () => {
  const key = (name: string, place: "field" | "card" | "inside" | "page", modified = false) =>
    commandOf({ key: name, modified, place });

  it("are for where there is no text field", () => {
    assert.equal(key("j", "page"), "next");
    assert.equal(key("j", "field"), null);
    assert.equal(key("Escape", "field"), "leave");
    assert.equal(key("e", "field"), null);
    assert.equal(key("e", "card"), "expand");
    assert.equal(key("c", "page"), null);
    assert.equal(key("c", "inside"), "copy");
    assert.equal(key("Enter", "card"), "open");
    assert.equal(key("Enter", "inside"), null);
    assert.equal(key("ArrowDown", "page"), null);
    assert.equal(key("c", "card", true), null);
    assert.equal(key("constructor", "card"), null);
  });

  it("leave those with a modifier to the editor, but for the one that finds", () => {
    for (const place of ["field", "card", "page"] as const) {
      assert.equal(commandOf({ key: "f", modified: true, finds: true, place }), "query");
      assert.equal(commandOf({ key: "f", modified: true, finds: false, place }), null);
    }
  });
});

describe("how well a result fits", () => {
  it("is told in a word", () => {
    assert.deepEqual([0.72, 0.5, 0.25, 0.02].map(fitLabel), ["well", "well", "partly", "little"]);
  });
});

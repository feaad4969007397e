import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import type { Uri as VscodeUri, WebviewView } from "vscode";
import { type Fix, Problem } from "../../../src/problem";
import { isToPage, MAX_HISTORY } from "../../../src/protocol/check";
import type { EvidenceResult } from "../../../src/protocol/generated";
import type { PanelActions } from "../../../src/webview/actions";
import type { PanelMemory } from "../../../src/webview/memory";
import type { Question, SavedState, ViewState } from "../../../src/webview/messages";
import { PackPanel } from "../../../src/webview/panel";
import { docsCandidate, outlineOf, packOf, QUESTION, stateOf, variedPack } from "../../webview/packs";
import { commands, FakeView, Uri } from "../fake-vscode";

/** A request that a test answers when it likes. */
interface Asked {
  question: Question;
  cancelled(): boolean;
  answer(pack: EvidenceResult): void;
  fail(reason: unknown): void;
}

/** What a workspace remembers, in memory; it outlives a panel. */
class FakeMemory implements PanelMemory {
  used = false;
  open = false;
  kept: SavedState | null = null;

  noteUse(): void {
    this.used = true;
  }

  noteOpen(open: boolean): void {
    this.open = open;
  }

  async load(): Promise<SavedState | null> {
    return this.kept;
  }

  async keep(state: SavedState): Promise<void> {
    this.kept = JSON.parse(JSON.stringify(state));
  }
}

class Fixture {
  readonly views: FakeView[] = [];
  readonly asked: Asked[] = [];
  readonly opened: unknown[][] = [];
  readonly openedCitations: unknown[][] = [];
  readonly copied: unknown[][] = [];
  readonly fixed: Fix[] = [];
  readonly folders = new Map<EvidenceResult, string>();
  readonly scopes = new Map<EvidenceResult, string>();
  copyFails: Problem | null = null;
  readonly panel: PackPanel;

  constructor(readonly memory = new FakeMemory()) {
    const actions: PanelActions = {
      ask: (question, token) =>
        new Promise((answer, fail) => {
          this.asked.push({ question, cancelled: () => token.isCancellationRequested, answer, fail });
        }),
      open: async (...all) => {
        this.opened.push(all);
      },
      openCitation: async (...all) => {
        this.openedCitations.push(all);
      },
      copy: async (...all) => {
        if (this.copyFails !== null) {
          throw this.copyFails;
        }
        this.copied.push(all);
        return `${all[0]} copied`;
      },
      folderOf: (pack) => this.folders.get(pack) ?? null,
      scopeOf: (pack) => this.scopes.get(pack) ?? null,
      takeUp: (pack, scope) => {
        this.scopes.set(pack, scope);
      },
      act: async (fix) => {
        this.fixed.push(fix);
      },
    };
    this.panel = new PackPanel(Uri.file("/extension") as unknown as VscodeUri, actions, memory, "build");
  }

  get view(): FakeView {
    const view = this.views.at(-1);
    assert.ok(view !== undefined, "no view is open");
    return view;
  }

  get states(): ViewState[] {
    return this.view.posted.filter(isState).map(({ state }) => state);
  }

  get last(): ViewState {
    const state = this.states.at(-1);
    assert.ok(state !== undefined, "no state was posted");
    return state;
  }

  get said(): string[] {
    return this.view.posted.filter(isSay).map(({ text }) => text);
  }

  /** Opens the panel's view, whose page does not listen yet. */
  begin(): void {
    const view = new FakeView();
    this.views.push(view);
    this.panel.resolveWebviewView(view as unknown as WebviewView);
  }

  /** Opens the panel's view with its page listening. */
  async open(): Promise<this> {
    this.begin();
    await ready(this.view);
    return this;
  }

  request(index: number): Asked {
    const request = this.asked[index];
    assert.ok(request !== undefined, `nothing was asked ${index + 1} times`);
    return request;
  }

  async answered(question: Question, pack: EvidenceResult): Promise<void> {
    const shown = this.panel.ask(question);
    this.asked.at(-1)?.answer(pack);
    await shown;
  }
}

function isState(message: unknown): message is { state: ViewState } {
  return typeof message === "object" && message !== null && "state" in message;
}

function isSay(message: unknown): message is { text: string } {
  return typeof message === "object" && message !== null && "text" in message;
}

function packFor(query: string): EvidenceResult {
  const pack = packOf([docsCandidate()]);
  return { ...pack, query, queryUsed: { ...pack.queryUsed, text: query } };
}

/** Lets the page say that it listens. */
async function ready(page: { received: { fire(message: unknown): void } }): Promise<void> {
  page.received.fire({ type: "ready" });
  await settled();
}

/** Lets promises that are settled be seen. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await Promise.resolve();
  }
}

describe("the panel", () => {
  let fixture: Fixture;
  beforeEach(() => {
    fixture = new Fixture();
  });

  it("lets the page load its own script and style and nothing else", async () => {
    await fixture.open();
    const { html, options } = fixture.view.webview;
    assert.ok(html.includes("default-src 'none'"));
    assert.ok(!/unsafe|<script>|https?:/.test(html), html);
    const nonce = /'nonce-([\w-]{20,})'/.exec(html)?.[1];
    assert.ok(
      nonce !== undefined &&
        html.includes(`<script nonce="${nonce}" src="file:///extension/extension/dist/webview.js">`),
    );
    assert.equal(options.enableCommandUris, false);
    assert.deepEqual(
      String(options.localResourceRoots),
      "file:///extension/extension/dist,file:///extension/extension/media",
    );
  });

  it("shows a request while it runs, and its answer with the question that was made of it", async () => {
    await fixture.open();
    const shown = fixture.panel.show({ question: { taskMode: "debug" }, run: async () => packFor("Runner.run") });
    assert.deepEqual([fixture.last.phase, fixture.last.question.query], ["loading", ""]);
    const pack = await shown;
    assert.equal(pack?.query, "Runner.run");
    assert.deepEqual([fixture.last.phase, fixture.last.question.query], ["ready", "Runner.run"]);
    assert.equal(fixture.panel.pack, pack);
  });

  it("says where an answer comes from that is no fresh one, also after a reload of the window", async () => {
    await fixture.open();
    await fixture.panel.show({ question: {}, run: async () => packFor("saved"), notice: () => "Saved long ago." });
    assert.equal(fixture.last.notice, "Saved long ago.");
    const view = fixture.last;
    void fixture.panel.ask({ ...QUESTION, query: "fresh" });
    assert.equal(fixture.last.notice, null);
    const later = new Fixture();
    const state: SavedState = { version: 1, view, draft: QUESTION, active: null };
    later.memory.kept = JSON.parse(JSON.stringify(state));
    await later.open();
    assert.equal(later.last.notice, "Saved long ago.");
  });

  it("never lets a late answer replace a newer one", async () => {
    await fixture.open();
    const first = fixture.panel.ask({ ...QUESTION, query: "first" });
    const second = fixture.panel.ask({ ...QUESTION, query: "second" });
    assert.ok(fixture.request(0).cancelled());
    fixture.request(1).answer(packFor("second"));
    await second;
    fixture.request(0).answer(packFor("first"));
    assert.equal(await first, null);
    assert.equal(fixture.last.question.query, "second");
    assert.deepEqual(
      fixture.last.history.map(({ query }) => query),
      ["second"],
    );
  });

  it("does not let a superseded request's failure show", async () => {
    await fixture.open();
    const first = fixture.panel.ask({ ...QUESTION, query: "first" });
    const second = fixture.panel.ask({ ...QUESTION, query: "second" });
    fixture.request(0).fail(new Problem("cancelled", "cancelled"));
    await first;
    assert.equal(fixture.last.phase, "loading");
    fixture.request(1).answer(packFor("second"));
    await second;
    assert.equal(fixture.last.phase, "ready");
  });

  it("cancels, and shows again what was there before", async () => {
    await (await fixture.open()).answered(QUESTION, packFor(QUESTION.query));
    const shown = fixture.panel.ask({ ...QUESTION, query: "other" });
    fixture.view.received.fire({ type: "cancel" });
    assert.ok(fixture.request(1).cancelled());
    assert.deepEqual([fixture.last.phase, fixture.last.pack?.query], ["ready", QUESTION.query]);
    assert.equal(fixture.last.question.query, QUESTION.query, "another question stands above the results");
    fixture.request(1).fail(new Problem("cancelled", "cancelled"));
    assert.equal(await shown, null);
    assert.equal(fixture.last.phase, "ready");
  });

  it("tells what is wrong, and offers what mends it", async () => {
    await fixture.open();
    const fix = { title: "Ingest", command: "adkEvidence.ingest" };
    const shown = fixture.panel.ask(QUESTION);
    fixture.request(0).fail(new Problem("There is no index.", "no_index", [fix]));
    assert.equal(await shown, null);
    assert.equal(fixture.last.error?.message, "There is no index.");
    const [first, again] = fixture.last.error?.actions ?? [];
    assert.deepEqual([first?.title, again?.title], ["Ingest", "Try Again"]);
    fixture.view.received.fire({ type: "action", id: first?.id });
    await settled();
    assert.deepEqual(fixture.fixed, [fix]);
    fixture.view.received.fire({ type: "action", id: again?.id });
    assert.deepEqual(fixture.request(1).question, QUESTION);
  });

  it("asks again by itself once what was wrong is mended, and only then", async () => {
    await fixture.open();
    const shown = fixture.panel.ask(QUESTION);
    fixture.request(0).fail(new Problem("There is no index.", "no_index"));
    await shown;
    await fixture.panel.retryAfter(["no_environment", "start_failed"]);
    assert.equal(fixture.asked.length, 1);
    const again = fixture.panel.retryAfter(["no_index"]);
    assert.deepEqual(fixture.request(1).question, QUESTION);
    fixture.request(1).answer(packFor(QUESTION.query));
    await again;
    assert.equal(fixture.last.phase, "ready");
    await fixture.panel.retryAfter(["no_index"]);
    assert.equal(fixture.asked.length, 2);
  });

  it("does not ask again behind a closed panel", async () => {
    await fixture.open();
    const shown = fixture.panel.ask(QUESTION);
    fixture.request(0).fail(new Problem("There is no index.", "no_index"));
    await shown;
    fixture.view.disposed.fire();
    await fixture.panel.retryAfter(["no_index"]);
    assert.equal(fixture.asked.length, 1);
  });

  it("puts the better answer in the place of one by keywords, without taking that away meanwhile", async () => {
    await fixture.open();
    const byKeywords = packFor(QUESTION.query);
    await fixture.answered(QUESTION, {
      ...byKeywords,
      index: byKeywords.index && { ...byKeywords.index, dense: "pending" },
    });
    const improved = Promise.all([fixture.panel.improve(), fixture.panel.improve()]);
    assert.equal(fixture.last.phase, "ready");
    const better = packFor(QUESTION.query);
    fixture.request(1).answer(better);
    await improved;
    assert.equal(fixture.last.pack, better);
    assert.equal(fixture.asked.length, 2);
    // That one is as good as it gets.
    await fixture.panel.improve();
    assert.equal(fixture.asked.length, 2);
  });

  it("asks again once the version of the project is indexed, where another one has answered", async () => {
    await fixture.open();
    const adk = { indexed: "2.13.0", wanted: "1.18.0", taken_from: "requirements.txt" };
    await fixture.answered(QUESTION, { ...packFor(QUESTION.query), adk });
    const improved = fixture.panel.improve();
    const fitting = { ...packFor(QUESTION.query), adk: { ...adk, indexed: "1.18.0" } };
    fixture.request(1).answer(fitting);
    await improved;
    assert.equal(fixture.last.pack, fitting);
    await fixture.panel.improve();
    assert.equal(fixture.asked.length, 2);
  });

  it("asks again for an answer that comes late, and for an earlier one that is shown again", async () => {
    await fixture.open();
    const adk = { indexed: "2.13.0", wanted: "1.18.0", taken_from: "requirements.txt" };
    const [other, fitting] = ["2.13.0", "1.18.0"].map((indexed) => ({
      ...packFor(QUESTION.query),
      adk: { ...adk, indexed },
    })) as [EvidenceResult, EvidenceResult];
    const late = fixture.panel.ask(QUESTION);
    // The version is indexed while the question is answered.
    await fixture.panel.improve();
    fixture.request(0).answer(other);
    await late;
    // Another ingestion ends.
    const joined = fixture.panel.improve();
    fixture.request(1).answer({ ...other });
    await new Promise(setImmediate);
    fixture.request(2).answer(fitting);
    await joined;
    assert.equal(fixture.last.pack, fitting);
    await fixture.answered({ ...QUESTION, query: "Another?" }, { ...other, queryUsed: packFor("Another?").queryUsed });
    await fixture.answered({ ...QUESTION, query: "A third?" }, packFor("A third?"));
    await fixture.panel.recall(fixture.panel.history[1]?.id ?? "");
    fixture.request(5).answer(fitting);
    await new Promise(setImmediate);
    assert.equal(fixture.last.pack, fitting);
  });

  it("makes an answer by keywords of an earlier window better, too", async () => {
    const pack = packFor(QUESTION.query);
    const byKeywords: EvidenceResult = { ...pack, index: pack.index && { ...pack.index, dense: "pending" } };
    const saved: SavedState = { version: 1, view: stateOf(byKeywords), draft: QUESTION, active: null };
    fixture.memory.kept = saved;
    await fixture.open();
    const improved = fixture.panel.improve();
    fixture.request(0).answer(pack);
    await improved;
    assert.equal(fixture.last.pack, pack);
  });

  it("keeps the answer by keywords where no better one can be had, and what was asked meanwhile", async () => {
    await fixture.open();
    const pack = packFor(QUESTION.query);
    const byKeywords: EvidenceResult = { ...pack, index: pack.index && { ...pack.index, dense: "pending" } };
    await fixture.answered(QUESTION, byKeywords);
    const failed = fixture.panel.improve();
    fixture.request(1).fail(new Problem("x", "server_ended"));
    await failed;
    assert.equal(fixture.last.pack, byKeywords);
    const late = fixture.panel.improve();
    await fixture.answered({ ...QUESTION, query: "Another?" }, packFor("Another?"));
    fixture.request(2).answer(packFor(QUESTION.query));
    await late;
    assert.equal(fixture.last.pack?.query, "Another?");
  });

  it("shows how far setting up is, and does what the card's buttons say, and nothing after the card is gone", async () => {
    await fixture.open();
    const actions: Fix[] = [{ title: "Stop", command: "adkEvidence.stopGettingStarted" }];
    fixture.panel.showJob({ title: "Setting up", lines: ["Writing the index"], fraction: 0.5, left: "", actions });
    assert.deepEqual(fixture.view.posted.at(-1), {
      type: "job",
      job: { title: "Setting up", lines: ["Writing the index"], fraction: 0.5, left: "", actions: ["Stop"] },
    });
    assert.ok(isToPage(fixture.view.posted.at(-1)));
    fixture.view.received.fire({ type: "action", id: "job-Stop" });
    fixture.view.received.fire({ type: "action", id: "job-Other" });
    await settled();
    assert.deepEqual(fixture.fixed, actions);
    const consent: Fix = { title: "Get Started", command: "adkEvidence.getStarted" };
    fixture.panel.showJob({ title: "Get started", lines: [], fraction: null, left: "", actions: [consent] });
    fixture.view.received.fire({ type: "action", id: "job-Stop" });
    fixture.panel.showJob(null);
    fixture.view.received.fire({ type: "action", id: "job-Get Started" });
    await settled();
    assert.equal(fixture.fixed.length, 1);
  });

  it("shows no stack of an error that nobody expected", async () => {
    await fixture.open();
    const shown = fixture.panel.ask(QUESTION);
    fixture.request(0).fail(new TypeError("x is not a function at /home/me"));
    await shown;
    assert.ok(!fixture.last.error?.message.includes("/home/me"));
  });

  it("runs no command that it did not offer", async () => {
    await fixture.open();
    fixture.view.received.fire({ type: "action", id: "workbench.action.terminal.new" });
    fixture.view.received.fire({ type: "action", id: "fix-0" });
    await settled();
    assert.deepEqual(fixture.fixed, []);
  });

  it("indexes the version that the project of its pack uses", async () => {
    await fixture.open();
    const shown = packOf([]);
    fixture.folders.set(shown, "file:///work");
    const done = fixture.panel.ask(QUESTION);
    fixture.request(0).answer(shown);
    await done;
    fixture.view.received.fire({ type: "action", id: "indexVersion" });
    await settled();
    assert.deepEqual(fixture.fixed, [
      { title: "Update Index", command: "adkEvidence.ingest", arguments: [{ folder: "file:///work" }] },
    ]);
  });

  it("indexes no version for a pack that is no fresh answer", async () => {
    await fixture.open();
    await fixture.panel.show({ question: {}, run: async () => packFor("saved"), notice: () => "Saved long ago." });
    fixture.view.received.fire({ type: "action", id: "indexVersion" });
    await settled();
    assert.deepEqual(fixture.fixed, []);
  });

  it("saves what its pack was asked for, and takes it up after the window was loaded anew", async () => {
    const pack = packFor(QUESTION.query);
    fixture.scopes.set(pack, "file:///second/a.py");
    await (await fixture.open()).answered(QUESTION, pack);
    assert.equal(fixture.last.scope, "file:///second/a.py");
    const saved: SavedState = { version: 1, view: fixture.last, draft: QUESTION, active: null };
    const next = new Fixture();
    next.memory.kept = JSON.parse(JSON.stringify(saved));
    await next.open();
    assert.equal(next.scopes.get(next.panel.pack as EvidenceResult), "file:///second/a.py");
  });

  it("goes on with its own mode where a pack has one that is new", async () => {
    const pack = { ...packFor(QUESTION.query), task_mode: "review" as "build" };
    await (await fixture.open()).answered({ ...QUESTION, taskMode: "debug" }, pack);
    assert.equal(fixture.last.question.taskMode, "debug");
    assert.ok(isToPage({ type: "state", state: fixture.last }));
  });

  it("drops messages that are not of the contract", async () => {
    await (await fixture.open()).answered(QUESTION, packFor(QUESTION.query));
    for (const message of [null, "ready", { type: "open" }, { type: "ask", question: "x" }, { type: "eval" }]) {
      fixture.view.received.fire(message);
    }
    await settled();
    assert.deepEqual([fixture.asked.length, fixture.opened.length], [1, 0]);
  });

  it("opens and copies candidates of its pack, and no others", async () => {
    const pack = packFor(QUESTION.query);
    await (await fixture.open()).answered(QUESTION, pack);
    fixture.view.received.fire({ type: "open", candidateId: "docs-1", where: "source" });
    fixture.view.received.fire({ type: "open", candidateId: "other", where: "source" });
    fixture.view.received.fire({ type: "copy", what: "citation", candidateId: "docs-1" });
    fixture.view.received.fire({ type: "copy", what: "citation", candidateId: "other" });
    fixture.view.received.fire({ type: "copy", what: "insert", candidateId: "docs-1" });
    await settled();
    assert.deepEqual(fixture.opened, [[pack.candidates[0], pack, "source"]]);
    assert.deepEqual(fixture.copied, [
      ["citation", pack, pack.candidates[0]],
      ["insert", pack, pack.candidates[0]],
    ]);
    assert.deepEqual(fixture.said, ["citation copied", "insert copied"]);
  });

  it("opens what the outlines of its pack cite, and nothing else", async () => {
    const outline = outlineOf({ parts: [{ name: "Next steps", lines: { start: 114, end: 121 } }] });
    const places = { ...outline, citation: "shop@x:src/cart.py" };
    const pack = { ...packFor(QUESTION.query), outlines: [outline], places: [places] };
    await (await fixture.open()).answered(QUESTION, pack);
    const lines = `${outline.citation}#L114-L121`;
    const place = `${places.citation}#L114-L121`;
    const others = [`${outline.citation}#L1-L121`, `${places.citation}#L1-L121`, "adk-docs@x:docs/a.md", ""];
    for (const citation of [lines, outline.citation, place, ...others]) {
      fixture.view.received.fire({ type: "openCitation", citation });
    }
    const { outlines: _, ...older } = packFor("older");
    await fixture.answered({ ...QUESTION, query: "older" }, older as EvidenceResult);
    fixture.view.received.fire({ type: "openCitation", citation: lines });
    await settled();
    assert.deepEqual(fixture.openedCitations, [
      [lines, pack],
      [outline.citation, pack],
      [place, pack],
    ]);
  });

  it("says what became of an action that failed", async () => {
    await (await fixture.open()).answered(QUESTION, packFor(QUESTION.query));
    fixture.copyFails = new Problem("The clipboard is not there.", "clipboard");
    fixture.view.received.fire({ type: "copy", what: "link", candidateId: "docs-1" });
    await settled();
    assert.deepEqual(fixture.said, ["The clipboard is not there."]);
  });

  describe("whose page does not listen", () => {
    it("posts nothing before the page has said that it is ready, then all", async () => {
      fixture.begin();
      await fixture.answered(QUESTION, packFor(QUESTION.query));
      assert.deepEqual(fixture.view.posted, []);
      await ready(fixture.view);
      assert.deepEqual([fixture.states.length, fixture.last.phase], [1, "ready"]);
    });

    it("keeps what it has to say while it is hidden", async () => {
      await (await fixture.open()).answered(QUESTION, packFor(QUESTION.query));
      const { view } = fixture;
      view.visible = false;
      view.visibilityChanged.fire();
      const before = view.posted.length;
      fixture.copyFails = new Problem("The clipboard is not there.", "clipboard");
      view.received.fire({ type: "copy", what: "link", candidateId: "docs-1" });
      await fixture.answered({ ...QUESTION, query: "hidden" }, packFor("hidden"));
      assert.equal(view.posted.length, before);
      view.visible = true;
      view.visibilityChanged.fire();
      assert.equal(view.posted.length, before);
      await ready(view);
      assert.equal(fixture.last.question.query, "hidden");
      assert.deepEqual(fixture.said, ["The clipboard is not there."]);
    });
  });

  describe("with a history", () => {
    it("has the latest question first, each once", async () => {
      await fixture.open();
      for (const query of ["a", "b", "a"]) {
        await fixture.answered({ ...QUESTION, query }, packFor(query));
      }
      await fixture.answered({ ...QUESTION, query: "a", sources: "docs" }, packFor("a"));
      assert.deepEqual(
        fixture.last.history.map(({ query, sources }) => `${query} ${sources}`),
        ["a docs", "a both", "b both"],
      );
    });

    it("has a saved pack beside the fresh answer to its question", async () => {
      await fixture.open();
      const saved = { question: QUESTION, run: async () => packFor("a"), notice: () => "Saved." };
      await fixture.answered({ ...QUESTION, query: "a" }, packFor("a"));
      await fixture.panel.show(saved);
      assert.equal(fixture.last.history.length, 2);
      await fixture.answered({ ...QUESTION, query: "a" }, packFor("a"));
      await fixture.panel.show(saved);
      assert.equal(fixture.last.history.length, 2);
      await fixture.panel.recall(fixture.last.history[1]?.id ?? "");
      assert.equal(fixture.last.notice, null);
    });

    it("remembers so many and no more", async () => {
      await fixture.open();
      for (let index = 0; index < MAX_HISTORY + 5; index++) {
        await fixture.answered({ ...QUESTION, query: `q${index}` }, packFor(`q${index}`));
      }
      assert.equal(fixture.last.history.length, MAX_HISTORY);
      assert.equal(fixture.last.history[0]?.query, `q${MAX_HISTORY + 4}`);
    });

    it("shows an earlier pack without asking again, and stops what runs", async () => {
      await fixture.open();
      for (const query of ["a", "b"]) {
        await fixture.answered({ ...QUESTION, query }, packFor(query));
      }
      const running = fixture.panel.ask({ ...QUESTION, query: "c" });
      await fixture.panel.recall(fixture.last.history[1]?.id ?? "");
      assert.deepEqual([fixture.last.pack?.query, fixture.last.question.query], ["a", "a"]);
      assert.ok(fixture.request(2).cancelled());
      fixture.request(2).answer(packFor("c"));
      await running;
      assert.equal(fixture.last.pack?.query, "a");
      fixture.panel.clearHistory();
      assert.deepEqual(
        fixture.last.history.map(({ query }) => query),
        ["a"],
      );
    });
  });

  it("forgets cleared questions for the next window, too, whatever it shows", async () => {
    await fixture.open();
    for (const query of ["a", "b"]) {
      await fixture.answered({ ...QUESTION, query }, packFor(query));
    }
    const running = fixture.panel.ask({ ...QUESTION, query: "c" });
    fixture.panel.clearHistory();
    fixture.request(2).fail(new Problem("x", "x"));
    await running;
    const next = new Fixture(fixture.memory);
    await next.panel.restore();
    assert.deepEqual(
      next.panel.history.map(({ query }) => query),
      ["b"],
    );
    assert.equal(next.panel.pack?.query, "b");
  });

  describe("after a reload of the window", () => {
    const saved = (change: Partial<ViewState> = {}): SavedState => {
      const state = stateOf(variedPack());
      const older = { ...QUESTION, query: "older", id: "entry-0", results: 3, askedAt: "2026-11-21T05:00:00Z" };
      return {
        version: 1,
        view: { ...state, history: [...state.history, older], ...change },
        draft: QUESTION,
        active: null,
      };
    };
    const restore = async (state: SavedState) => {
      fixture.memory.kept = state;
      await fixture.open();
    };

    it("shows its question, pack and history again", async () => {
      const state = saved();
      await restore(JSON.parse(JSON.stringify(state)));
      assert.equal(fixture.last.phase, "ready");
      assert.deepEqual([fixture.last.pack, fixture.last.history], [state.view.pack, state.view.history]);
      fixture.view.received.fire({ type: "open", candidateId: "docs-1", where: "default" });
      await settled();
      assert.equal(fixture.opened.length, 1);
    });

    it("asks an older question again, as its pack was not kept", async () => {
      await restore(saved());
      void fixture.panel.recall("entry-0");
      assert.equal(fixture.request(0).question.query, "older");
      fixture.request(0).answer(packFor("older"));
      await settled();
      assert.deepEqual(
        fixture.last.history.map(({ query }) => query),
        ["older", QUESTION.query],
      );
    });

    it("takes up nothing that was running or had failed", async () => {
      await restore(saved({ phase: "loading", pack: null, current: null }));
      assert.deepEqual([fixture.last.phase, fixture.last.question.query], ["empty", QUESTION.query]);
      assert.equal(fixture.asked.length, 0);
    });
  });

  it("gives the next keys to the results of a question that was typed or chosen again", async () => {
    await fixture.open();
    const asked = fixture.panel.ask(QUESTION, true);
    fixture.request(0).answer(packFor(QUESTION.query));
    await asked;
    await fixture.panel.recall(fixture.last.history[0]?.id ?? "");
    assert.deepEqual(fixture.view.shown, [false, false]);
    const next = new Fixture();
    commands.executed.length = 0;
    void next.panel.ask(QUESTION, true);
    await settled();
    assert.deepEqual(commands.executed.at(-1), ["adkEvidence.view.focus", { preserveFocus: false }]);
  });

  it("is in sight again in the next window, if it was in this one", async () => {
    await fixture.open();
    commands.executed.length = 0;
    new Fixture(fixture.memory);
    await settled();
    assert.deepEqual(commands.executed, [
      ["setContext", "adkEvidence.panelUsed", true],
      ["adkEvidence.view.focus", { preserveFocus: true }],
    ]);
    fixture.view.visible = false;
    fixture.view.visibilityChanged.fire();
    commands.executed.length = 0;
    new Fixture(fixture.memory);
    await settled();
    assert.deepEqual(commands.executed, [["setContext", "adkEvidence.panelUsed", true]]);
  });

  it("is what the first answer opens, without taking the focus", async () => {
    commands.executed.length = 0;
    void fixture.panel.ask(QUESTION);
    await settled();
    assert.deepEqual(commands.executed, [
      ["setContext", "adkEvidence.panelUsed", true],
      ["adkEvidence.view.focus", { preserveFocus: true }],
    ]);
    await fixture.open();
    assert.equal(fixture.last.phase, "loading");
    fixture.request(0).answer(packFor(QUESTION.query));
    await settled();
    assert.equal(fixture.last.phase, "ready");
    void fixture.panel.ask(QUESTION);
    assert.deepEqual(fixture.view.shown, [true]);
  });

  it("has the last pack again in the next window", async () => {
    const pack = packFor(QUESTION.query);
    fixture.scopes.set(pack, "file:///second/a.py");
    const shown = fixture.panel.ask(QUESTION);
    fixture.request(0).answer(pack);
    await shown;
    const next = await new Fixture(fixture.memory).open();
    assert.deepEqual([next.last.phase, next.last.pack?.query], ["ready", QUESTION.query]);
    assert.equal(next.scopes.get(next.panel.pack as EvidenceResult), "file:///second/a.py");
    assert.equal(next.asked.length, 0);
  });

  it("does not bring an old pack back over a question of this window", async () => {
    await (await fixture.open()).answered(QUESTION, packFor(QUESTION.query));
    const next = new Fixture(fixture.memory);
    const asked = next.panel.ask({ ...QUESTION, query: "new" });
    await next.open();
    assert.equal(next.last.phase, "loading");
    next.request(0).answer(packFor("new"));
    await asked;
    assert.equal(next.last.pack?.query, "new");
    assert.deepEqual(
      next.panel.history.map(({ query }) => query),
      ["new", QUESTION.query],
    );
  });

  it("cancels when it is closed, and keeps the session for when it is opened again", async () => {
    await (await fixture.open()).answered(QUESTION, packFor(QUESTION.query));
    const running = fixture.panel.ask({ ...QUESTION, query: "other" });
    fixture.view.disposed.fire();
    assert.ok(fixture.request(1).cancelled());
    fixture.request(1).fail(new Problem("cancelled", "cancelled"));
    assert.equal(await running, null);
    await fixture.open();
    assert.deepEqual([fixture.last.phase, fixture.last.history.length], ["ready", 1]);
  });

  it("tells when the shown pack is another one", async () => {
    const packs: (string | undefined)[] = [];
    fixture.panel.onDidChangePack((pack) => packs.push(pack?.query));
    await fixture.open();
    for (const query of ["a", "b"]) {
      await fixture.answered({ ...QUESTION, query }, packFor(query));
    }
    await fixture.panel.recall(fixture.last.history[1]?.id ?? "");
    assert.deepEqual(packs, ["a", "b", "a"]);
  });
});

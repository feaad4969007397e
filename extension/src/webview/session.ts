/** The questions of one session and their outcomes. This module knows neither editor, nor page, nor server. */

import { randomUUID } from "node:crypto";
import type { CancellationToken } from "vscode";
import { type Fix, Problem } from "../problem";
import { isTaskMode, MAX_HISTORY } from "../protocol/check";
import type { Candidate, EvidenceResult } from "../protocol/generated";
import { MENDED_BY_SETTING_UP } from "../server/setUpCodes";
import type { ShownRequest } from "./actions";
import { ACTIONS, type HistoryItem, type Question, type SavedState, type ViewError, type ViewState } from "./messages";
import { questionOf, sameQuestion } from "./question";

/** What a request is cancelled with; the editor's `CancellationTokenSource` is one. */
export interface Cancellation {
  readonly token: CancellationToken;
  cancel(): void;
  dispose(): void;
}

export interface PackSessionParts {
  newCancellation(): Cancellation;
  /** Answers a question. */
  ask(question: Question, token: CancellationToken): Promise<EvidenceResult>;
  /** Something that the page shows has changed. */
  changed(): void;
  /** The document or folder of a pack's question, as a URI; null if that is not known. */
  scopeOf(pack: EvidenceResult): string | null;
  /** Words for the panel, in the user's language. */
  readonly words: { tryAgain: string; unexpected: string };
}

interface Entry {
  item: HistoryItem;
  /** Null for an entry of an earlier session, whose pack was not kept. */
  pack: EvidenceResult | null;
  notice: string | null;
  /** The request that the pack answers; there is none for a pack of an earlier window. */
  run?: Run;
}

/** What `PackSession.start` runs: a question, as far as it is known, and the way to its answer. */
export interface Run extends ShownRequest {
  question: Question;
}

export class PackSession {
  private phase: ViewState["phase"] = "empty";
  private question: Question;
  private shown: Entry | null = null;
  private error: ViewError | null = null;
  /** Code of the problem behind the error. */
  private failure: string | null = null;
  private fixes = new Map<string, Fix>();
  private entries: Entry[] = [];
  private running: Cancellation | null = null;
  /** Better answers can be had since the running request was sent. */
  private isLate = false;
  private lastRun: Run | null = null;
  /** The improvement that is under way, and the answer that it replaces. */
  private improving: { of: Entry; done: Promise<void> } | null = null;

  constructor(
    private readonly parts: PackSessionParts,
    start: Question,
  ) {
    this.question = start;
  }

  /** What the page shows now. */
  get state(): ViewState {
    return {
      phase: this.phase,
      question: this.question,
      current: this.phase === "ready" && this.shown !== null ? this.shown.item.id : null,
      pack: this.shownPack,
      scope: this.shownPack && this.parts.scopeOf(this.shownPack),
      notice: this.shownPack && (this.shown?.notice ?? null),
      error: this.phase === "error" ? this.error : null,
      history: this.entries.map((entry) => entry.item),
    };
  }

  /** What outlasts the window: the last answer and the questions, without a request that runs or has failed. */
  get lasting(): ViewState {
    const { shown } = this;
    return {
      ...this.state,
      phase: shown === null ? "empty" : "ready",
      question: shown === null ? this.question : questionOf(shown.item),
      current: shown?.item.id ?? null,
      pack: this.pack,
      scope: this.pack && this.parts.scopeOf(this.pack),
      notice: shown?.notice ?? null,
      error: null,
    };
  }

  /** Nothing has been asked, nor taken up from an earlier window. */
  private get isFresh(): boolean {
    return this.phase === "empty" && this.entries.length === 0;
  }

  private get shownPack(): EvidenceResult | null {
    return this.phase === "ready" && this.shown !== null ? this.shown.pack : null;
  }

  /** The last pack that was shown; a later question that failed does not take it away. */
  get pack(): EvidenceResult | null {
    return this.shown?.pack ?? null;
  }

  /** The candidate of the shown pack with this id. */
  candidate(id: string): Candidate | undefined {
    return this.pack?.candidates.find((candidate) => candidate.candidate_id === id);
  }

  /** What a button of the shown error does. */
  fix(id: string): Fix | undefined {
    return this.fixes.get(id);
  }

  /**
   * Runs a request in place of the one that is running, whose answer is then dropped.
   *
   * @returns The answer; null if it failed, was cancelled or superseded.
   */
  async start(run: Run): Promise<EvidenceResult | null> {
    this.running?.cancel();
    const mine = this.parts.newCancellation();
    this.running = mine;
    this.isLate = false;
    this.lastRun = run;
    this.question = run.question;
    this.forgetError();
    this.enter("loading");
    try {
      const result = await run.run(mine.token);
      if (this.running !== mine) {
        return null;
      }
      this.running = null;
      this.remember(run, result, run.notice?.() ?? null);
      this.enter("ready");
      if (this.isLate) {
        void this.improve();
      }
      return result;
    } catch (reason) {
      if (this.running === mine) {
        this.running = null;
        this.fail(reason);
      }
      return null;
    } finally {
      mine.dispose();
    }
  }

  /** Runs the last request again. */
  async retry(): Promise<void> {
    if (this.lastRun !== null) {
      await this.start(this.lastRun);
    }
  }

  /**
   * Asks the shown question again if keywords alone or the index of another version have answered it, and shows the
   * better answer, unless something else is shown by then. A failure leaves the answer that is there. A call during an
   * improvement waits for that and improves what it found, one during a request improves its answer.
   */
  async improve(): Promise<void> {
    this.isLate = this.running !== null;
    const { shown } = this;
    const run = shown === null ? null : this.runOf(shown);
    const { index, adk } = shown?.pack ?? {};
    const lacking = index?.dense === "pending" || (adk != null && adk.indexed !== adk.wanted);
    if (this.phase !== "ready" || shown === null || run === null || !lacking) {
      return;
    }
    const joined = this.improving?.of === shown;
    const improving = this.improving?.of === shown ? this.improving : { of: shown, done: this.replace(shown, run) };
    this.improving = improving;
    await improving.done;
    if (this.improving === improving) {
      this.improving = null;
    }
    if (joined) {
      await this.improve();
    }
  }

  /** Runs the last request again if it failed with one of these codes, whose cause is gone. */
  async retryAfter(codes: readonly string[]): Promise<void> {
    if (this.phase === "error" && this.failure !== null && codes.includes(this.failure)) {
      await this.retry();
    }
  }

  /** Stops the running request and shows the previous state again. */
  cancel(): void {
    if (this.running === null) {
      return;
    }
    this.running.cancel();
    this.running = null;
    this.showAgain();
  }

  /**
   * Shows an earlier question's pack again.
   *
   * @returns The question if its pack is not kept and it has to be asked again.
   */
  recall(id: string): Question | null {
    const entry = this.entries.find((candidate) => candidate.item.id === id);
    if (entry === undefined) {
      return null;
    }
    const question = questionOf(entry.item);
    if (entry.pack === null) {
      return question;
    }
    this.running?.cancel();
    this.running = null;
    this.question = question;
    this.shown = entry;
    this.forgetError();
    this.enter("ready");
    void this.improve();
    return null;
  }

  /** Forgets all questions but the one that is shown. */
  clearHistory(): void {
    this.entries = this.entries.filter((entry) => entry === this.shown);
    this.parts.changed();
  }

  /**
   * Continues from a saved state, without the requests that were running or had failed then. Where something has been
   * asked since, only the earlier questions come back.
   */
  restore(saved: SavedState): void {
    const { view } = saved;
    const earlier = view.history.map((item): Entry => {
      const isShown = item.id === view.current;
      return { item, pack: isShown ? view.pack : null, notice: isShown ? (view.notice ?? null) : null };
    });
    if (!this.isFresh) {
      const isNew = ({ item }: Entry) => !this.entries.some((entry) => sameQuestion(entry.item, item));
      this.entries = [...this.entries, ...earlier.filter(isNew)].slice(0, MAX_HISTORY);
      this.parts.changed();
      return;
    }
    this.entries = earlier;
    this.shown = this.entries.find((entry) => entry.pack !== null) ?? null;
    this.question = view.question;
    this.enter(this.shown === null ? "empty" : "ready");
  }

  /** The request that an answer can be had with again; null for a saved pack. */
  private runOf({ item, notice, run }: Entry): Run | null {
    const question = questionOf(item);
    const again: Run = { question, run: (token) => this.parts.ask(question, token) };
    return run ?? (notice === null ? again : null);
  }

  private async replace(shown: Entry, run: Run): Promise<void> {
    const mine = this.parts.newCancellation();
    try {
      const result = await run.run(mine.token);
      if (this.phase === "ready" && this.shown === shown) {
        this.remember(run, result, shown.notice);
        this.enter("ready");
      }
    } catch {
      // Whoever asks again is told.
    } finally {
      mine.dispose();
    }
  }

  private remember(run: Run, pack: EvidenceResult, notice: string | null): void {
    const asked = run.question;
    const taskMode = isTaskMode(pack.task_mode) ? pack.task_mode : asked.taskMode;
    const question: Question = { ...asked, query: pack.queryUsed.text, taskMode };
    const item: HistoryItem = {
      ...question,
      id: randomUUID(),
      results: pack.candidates.length,
      askedAt: new Date().toISOString(),
    };
    this.question = question;
    this.shown = { item, pack, notice, run };
    // A saved pack and a fresh answer to its question are two entries.
    const others = this.entries.filter((entry) => entry.notice !== notice || !sameQuestion(entry.item, question));
    this.entries = [this.shown, ...others].slice(0, MAX_HISTORY);
  }

  private fail(reason: unknown): void {
    if (reason instanceof Problem && reason.code === "cancelled") {
      this.showAgain();
      return;
    }
    const problem = reason instanceof Problem ? reason : new Problem(this.parts.words.unexpected, "unexpected");
    this.failure = problem.code;
    this.fixes = new Map(problem.fixes.map((fix, index) => [`fix-${index}`, fix]));
    this.error = {
      message: problem.message,
      awaited: MENDED_BY_SETTING_UP.includes(problem.code),
      actions: [
        ...[...this.fixes].map(([id, fix]) => ({ id, title: fix.title })),
        { id: ACTIONS.retry, title: this.parts.words.tryAgain },
      ],
    };
    this.enter("error");
  }

  /** What was shown before a request that came to nothing, with its own question. */
  private showAgain(): void {
    if (this.shown !== null) {
      this.question = questionOf(this.shown.item);
    }
    this.enter(this.pack === null ? "empty" : "ready");
  }

  private forgetError(): void {
    this.error = null;
    this.failure = null;
    this.fixes.clear();
  }

  private enter(phase: ViewState["phase"]): void {
    this.phase = phase;
    this.parts.changed();
  }
}

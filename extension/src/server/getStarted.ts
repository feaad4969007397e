/**
 * The job that sets everything up: packages, keyword index, vectors, one after the other without a question. Commands
 * that index something show their progress in its place. This module knows neither editor nor page;
 * `getStartedText.ts` has the words.
 */

import { type CancellationToken, CancellationTokenSource, EventEmitter, type Memento } from "vscode";
import { type Fix, Problem } from "../problem";
import type { IngestProgress, IngestResult } from "../protocol/generated";
import { installShare } from "./installShare";
import type { Situation } from "./statusText";

/** The steps in their order. */
export const JOB_STEPS = ["packages", "server", "reading", "keywords", "vectors", "writing", "symbols"] as const;
export type JobStep = (typeof JOB_STEPS)[number];

/** What a job that has ended well came to: sentences, and what can be done next. */
export interface Outcome {
  readonly lines: string[];
  readonly actions: readonly Fix[];
}

export interface JobState {
  /** What the task of another command does, or did; empty while everything is set up. */
  readonly title: string;
  /** `stopped`: the user or a problem has stopped setting up. `done`: that has ended well. A task ends as `idle`. */
  readonly phase: "idle" | "running" | "stopped" | "done";
  readonly step: JobStep;
  /** How much of the whole job is done, from 0 to 1. It never decreases while the job runs. */
  readonly fraction: number;
  readonly secondsLeft: number | null;
  /** What the index answers by, as far as this job has built one. */
  readonly answers: IngestProgress["answers"];
  /** The package that is being installed, what is waited for or read, or empty. */
  readonly detail: string;
  /** Why it stopped; null where the user stopped setting up. */
  readonly problem: Problem | null;
  /** Kept until the next job, or until it is dismissed. */
  readonly outcome: Outcome | null;
}

/** How long each part takes on two cores, in seconds: most of the time goes into the vectors of the index. */
export const WEIGHTS = { packages: 75, server: 5, index: 405 } as const;

const IDLE: JobState = {
  title: "",
  phase: "idle",
  step: "packages",
  fraction: 0,
  secondsLeft: null,
  answers: "nothing",
  detail: "",
  problem: null,
  outcome: null,
};

/** Where the editor keeps that the user has consented and the job has not ended. */
const BEGUN = "adkEvidence.setUpBegun";

export interface JobRequest {
  /** The Python to make the environment with; without one, it is searched for. */
  readonly base?: string;
  /** Makes the environment anew, even where there is one. */
  readonly anew?: boolean;
}

/** An ingestion that can be stopped, and says how far it is. */
export type Task<Result> = (
  token: CancellationToken,
  onProgress: (progress: IngestProgress) => void,
  onDetail: (detail: string) => void,
) => Promise<Result>;

/** What the job does. Each part may fail; `problemOf` says how that is told. */
export interface JobParts {
  /** Whether packages must be installed before a server can start. */
  lacksPackages(): Promise<boolean>;
  install(
    request: JobRequest,
    token: CancellationToken,
    onLine: (line: string) => void,
    onDetail: (detail: string) => void,
  ): Promise<void>;
  startServer(): Promise<void>;
  /** Builds the index, or brings it up to date; null where nothing is missing. */
  readonly ingest: Task<IngestResult | null>;
  outcomeOf(run: IngestResult | null): Outcome;
  problemOf(reason: unknown): Problem;
}

/** Runs one job at a time. */
export class GetStarted {
  private readonly changes = new EventEmitter<JobState>();
  private current = IDLE;
  private running: { readonly promise: Promise<JobState>; readonly stop: CancellationTokenSource } | undefined;

  /** Fires with each new state. */
  readonly onDidChange = this.changes.event;

  /** @param memento Keeps between windows that the job was begun. */
  constructor(
    private readonly parts: JobParts,
    private readonly memento: Memento,
  ) {}

  get state(): JobState {
    return this.current;
  }

  /** Whether the user has consented and the job has not ended since, maybe in another window. */
  get begun(): boolean {
    return this.memento.get(BEGUN) === true;
  }

  /** Runs the job to its end, or joins the one that runs. It never rejects: the state says what went wrong. */
  run(request: JobRequest = {}): Promise<JobState> {
    return this.running?.promise ?? this.start((token) => this.work(request, token));
  }

  /** Runs the task of another command as soon as nothing else runs. The state keeps how it ended. @throws Problem */
  async runTask<Result>(title: string, task: Task<Result>, outcomeOf: (result: Result) => Outcome): Promise<void> {
    while (this.running !== undefined) {
      await this.running.promise;
    }
    const { problem } = await this.start(async (token) => {
      this.become({ ...IDLE, title, phase: "running", step: "reading" });
      // What answers meanwhile is the index that was there before.
      const follow = (progress: IngestProgress) => this.follow({ ...progress, answers: "nothing" }, 0);
      const end = await task(token, follow, (detail) => this.go({ detail })).then(
        (result) => ({ outcome: outcomeOf(result) }),
        (reason: unknown) => ({ problem: this.parts.problemOf(reason) }),
      );
      this.become({ ...IDLE, title, ...end });
      return this.current;
    });
    if (problem !== null) {
      throw problem;
    }
  }

  private start(work: (token: CancellationToken) => Promise<JobState>): Promise<JobState> {
    const stop = new CancellationTokenSource();
    const promise = work(stop.token).finally(() => {
      this.running = undefined;
      stop.dispose();
    });
    this.running = { promise, stop };
    return promise;
  }

  /** Stops the job; what is done is kept. */
  stop(): void {
    this.running?.stop.cancel();
  }

  /** Forgets that the job was begun once an index is complete: another command or window may have built the index. */
  learn({ index, symbols }: Pick<Situation, "index" | "symbols">): void {
    if (index?.dense === "complete" && symbols !== false && this.running === undefined && this.begun) {
      void this.memento.update(BEGUN, undefined);
      this.changes.fire(this.current);
    }
  }

  /** Forgets how the last run ended. */
  dismiss(): void {
    if (this.running === undefined) {
      this.become(IDLE);
    }
  }

  private async work(request: JobRequest, token: CancellationToken): Promise<JobState> {
    this.become({ ...IDLE, phase: "running" });
    try {
      await this.memento.update(BEGUN, true);
      const packages = request.anew === true || (await this.parts.lacksPackages());
      const share = shares(packages);
      if (packages) {
        await this.install(request, token, share);
      }
      this.go({ step: "server", fraction: share.server, detail: "" });
      await this.parts.startServer();
      refuseIfStopped(token);
      this.go({ step: "reading", fraction: share.index });
      const follow = (progress: IngestProgress) => this.follow(progress, share.index);
      const run = await this.parts.ingest(token, follow, (detail) => this.go({ detail }));
      await this.memento.update(BEGUN, undefined);
      const outcome = this.parts.outcomeOf(run);
      this.become({ ...this.current, phase: "done", fraction: 1, secondsLeft: 0, answers: "meaning", outcome });
    } catch (reason) {
      const problem = this.parts.problemOf(reason);
      const stopped = problem.code === "cancelled" ? null : problem;
      this.become({ ...this.current, phase: "stopped", secondsLeft: null, problem: stopped });
    }
    return this.current;
  }

  private async install(request: JobRequest, token: CancellationToken, share: Shares): Promise<void> {
    let done = 0;
    const read = (line: string) => {
      const seen = installShare(line, done);
      done = seen.share;
      this.go({ fraction: share.server * done, ...(seen.name === undefined ? {} : { detail: seen.name }) });
    };
    await this.parts.install(request, token, read, (detail) => this.go({ detail }));
    refuseIfStopped(token);
  }

  private follow({ stage, fraction, seconds_left, answers }: IngestProgress, begin: number): void {
    const step = stepOf(stage, answers, this.current.step);
    this.go({ step, fraction: begin + (1 - begin) * fraction, secondsLeft: seconds_left, answers });
  }

  private go(next: Partial<JobState>): void {
    const fraction = Math.min(1, Math.max(this.current.fraction, next.fraction ?? 0));
    this.become({ ...this.current, ...next, fraction });
  }

  private become(state: JobState): void {
    this.current = state;
    this.changes.fire(state);
  }
}

/** Where the server and the index begin in the whole. */
interface Shares {
  readonly server: number;
  readonly index: number;
}

function shares(packages: boolean): Shares {
  const before = packages ? WEIGHTS.packages : 0;
  const whole = before + WEIGHTS.server + WEIGHTS.index;
  return { server: before / whole, index: (before + WEIGHTS.server) / whole };
}

/** The step that a stage of the ingestion belongs to. Some stages belong to the step before them. */
function stepOf(stage: string, answers: IngestProgress["answers"], before: JobStep): JobStep {
  switch (stage) {
    case "discover":
    case "chunk":
      return "reading";
    case "embed":
      return before === "symbols" ? "symbols" : "vectors";
    case "upsert":
      return before === "vectors" || before === "writing" ? "writing" : "keywords";
    case "targets":
      return answers === "keywords" ? before : "symbols";
    default:
      return before;
  }
}

function refuseIfStopped(token: CancellationToken): void {
  if (token.isCancellationRequested) {
    throw new Problem("", "cancelled");
  }
}

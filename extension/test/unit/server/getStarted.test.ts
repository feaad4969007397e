import assert from "node:assert/strict";
import fs from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { consentLines, getStarted, lacksPackages, missingIn, USUAL_VERSION } from "../../../src/commands/getStarted";
import { Problem } from "../../../src/problem";
import type {
  IndexInfo,
  IngestProgress,
  IngestResult,
  ProjectStatus,
  ServerStatus,
} from "../../../src/protocol/generated";
import { GetStarted, JOB_STEPS, type JobParts, type JobState, WEIGHTS } from "../../../src/server/getStarted";
import { type JobView, jobView } from "../../../src/server/getStartedCard";
import { installShare } from "../../../src/server/installShare";
import { JobCard } from "../../../src/server/jobCard";
import { FIXES, PROBLEMS } from "../../../src/server/problems";
import { type Situation, statusText } from "../../../src/server/statusText";
import { Uri } from "../fake-vscode";

const PIP = [
  "Collecting numpy==2.0",
  "  Downloading numpy-2.0-cp311.whl (18 MB)",
  "Collecting onnxruntime",
  "Installing collected packages: numpy, onnxruntime",
  "Successfully installed numpy-2.0 onnxruntime-1.20",
];
const STAGES: [string, number, IngestProgress["answers"], number | null][] = [
  ["discover", 0, "nothing", null],
  ["chunk", 0.03, "nothing", null],
  ["upsert", 0.06, "nothing", null],
  ["verify", 0.08, "nothing", null],
  ["publish", 0.09, "keywords", null],
  ["embed", 0.1, "keywords", null],
  ["embed", 0.5, "keywords", 130],
  ["upsert", 0.85, "keywords", 50],
  ["publish", 0.9, "meaning", 40],
  ["targets", 0.91, "meaning", 40],
  ["embed", 0.95, "meaning", 20],
];

class Memento {
  readonly values = new Map<string, unknown>();

  get(key: string): unknown {
    return this.values.get(key);
  }

  async update(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
  }
}

/** A job whose parts do what a test says. */
class Fixture {
  readonly did: string[] = [];
  readonly states: JobState[] = [];
  readonly memento = new Memento();
  lacksPackages = true;
  missing: IngestResult["missing"] = {};
  /** Called in each part, before it ends. */
  during: (part: string) => void = () => undefined;

  readonly parts: JobParts = {
    lacksPackages: async () => this.lacksPackages,
    install: async (request, token, onLine) => {
      this.did.push(`install${request.base === undefined ? "" : ` ${request.base}`}`);
      for (const line of PIP) {
        onLine(line);
      }
      this.part("install", token);
    },
    startServer: async () => void this.did.push("server"),
    ingest: async (token, onProgress) => {
      this.did.push("ingest");
      for (const [stage, fraction, answers, seconds_left] of STAGES) {
        onProgress({ stage, fraction, answers, seconds_left });
        this.part(stage, token);
      }
      return { missing: this.missing } as IngestResult;
    },
    outcomeOf: (run) => ({ lines: ["ADK Evidence is ready.", ...Object.values(run?.missing ?? {})], actions: [] }),
    problemOf: (reason) => (reason instanceof Problem ? reason : new Problem("unexpected", "unexpected")),
  };
  readonly job = this.another();

  another(): GetStarted {
    const job = new GetStarted(this.parts, this.memento as unknown as vscode.Memento);
    job.onDidChange((state) => this.states.push(state));
    return job;
  }

  private part(name: string, token: vscode.CancellationToken): void {
    this.during(name);
    if (token.isCancellationRequested) {
      throw PROBLEMS.cancelled();
    }
  }
}

describe("the job that sets everything up", () => {
  let all: Fixture;
  beforeEach(() => {
    all = new Fixture();
  });

  it("does packages, keywords and vectors without a question, in one bar that never goes back", async () => {
    const end = await all.job.run();
    assert.deepEqual(all.did, ["install", "server", "ingest"]);
    assert.deepEqual([end.phase, end.fraction, end.answers], ["done", 1, "meaning"]);
    const fractions = all.states.map(({ fraction }) => fraction);
    assert.deepEqual(
      fractions,
      fractions.toSorted((a, b) => a - b),
    );
    const steps = [...new Set(all.states.map(({ step }) => step))];
    assert.deepEqual(steps, JOB_STEPS);
    assert.ok(!all.job.begun);
  });

  it("has a bar that is mostly the vectors", async () => {
    await all.job.run();
    const { packages, server, index } = WEIGHTS;
    const whole = packages + server + index;
    const [first] = all.states.filter(({ step }) => step === "reading");
    assert.equal(first?.fraction, (packages + server) / whole);
    const vectors = all.states.filter(({ step }) => step === "vectors").map(({ fraction }) => fraction);
    const after = all.states.find(({ step }) => step === "writing")?.fraction ?? 0;
    assert.ok(after - (vectors[0] ?? 1) > 0.5);
    const left = all.states.filter(({ secondsLeft }) => secondsLeft !== null).map(({ secondsLeft }) => secondsLeft);
    assert.deepEqual(left, [130, 50, 40, 40, 20, 0]);
  });

  it("begins with the index where packages are there", async () => {
    all.lacksPackages = false;
    await all.job.run();
    assert.deepEqual(all.did, ["server", "ingest"]);
    const [first] = all.states.filter(({ step }) => step === "reading");
    assert.ok((first?.fraction ?? 1) < 0.02);
  });

  it("says when keywords answer, before the first vector", async () => {
    await all.job.run();
    const at = all.states.findIndex(({ answers }) => answers === "keywords");
    const vectors = all.states.findIndex(({ step }) => step === "vectors");
    assert.ok(at >= 0 && at < vectors);
  });

  it("runs once, however often it is asked for", async () => {
    await Promise.all([all.job.run(), all.job.run()]);
    assert.deepEqual(all.did, ["install", "server", "ingest"]);
  });

  for (const part of ["install", "embed"]) {
    it(`can be stopped during ${part}, and goes on later`, async () => {
      all.during = (now) => now === part && all.job.stop();
      const stopped = await all.job.run();
      assert.deepEqual([stopped.phase, stopped.problem, stopped.secondsLeft], ["stopped", null, null]);
      // The next window knows, too.
      assert.ok(all.another().begun);
      all.during = () => undefined;
      all.lacksPackages = part === "install";
      assert.equal((await all.job.run()).phase, "done");
      assert.ok(!all.another().begun);
    });
  }

  it("tells why it stopped", async () => {
    all.during = (now) => {
      if (now === "chunk") {
        throw new Problem("The disk is full.", "store_unavailable");
      }
    };
    const { phase, problem, step } = await all.job.run();
    assert.deepEqual([phase, problem?.message, step], ["stopped", "The disk is full.", "reading"]);
    assert.ok(all.job.begun);
  });

  it("forgets that it was begun once an index is complete, unless it runs", async () => {
    const [pending, complete] = ["pending", "complete"].map((dense) => ({ dense }) as IndexInfo);
    all.during = () => {
      all.job.learn({ index: complete, symbols: true });
      all.job.stop();
    };
    await all.job.run();
    assert.ok(all.job.begun);
    for (const index of [undefined, null, pending]) {
      all.job.learn({ index });
    }
    // It was stopped while it listed the symbols.
    all.job.learn({ index: complete, symbols: false });
    assert.ok(all.job.begun);
    const told = all.states.length;
    all.job.learn({ index: complete, symbols: true });
    assert.deepEqual([all.job.begun, all.another().begun, all.states.length], [false, false, told + 1]);
    all.job.learn({ index: complete, symbols: true });
    assert.equal(all.states.length, told + 1);
  });

  it("makes the environment anew with the Python that the user names", async () => {
    all.lacksPackages = false;
    await all.job.run({ anew: true, base: "/opt/python" });
    assert.deepEqual(all.did, ["install /opt/python", "server", "ingest"]);
  });

  it("keeps what it came to until that is dismissed", async () => {
    all.missing = { adk_docs: "No route to host." };
    await all.job.run();
    assert.deepEqual(all.job.state.outcome?.lines, ["ADK Evidence is ready.", "No route to host."]);
    all.job.dismiss();
    assert.equal(all.job.state.outcome, null);
  });
});

describe("the consent", () => {
  const window = { ...vscode.window };
  afterEach(() => Object.assign(vscode.window, { showInformationMessage: undefined }, window));

  /** Runs the command in an editor whose user presses this button in the question. */
  async function begin(all: Fixture, argument: unknown, button: string | undefined): Promise<string[]> {
    const asked: string[] = [];
    const showInformationMessage = async (text: string, options: { modal?: boolean; detail?: string }) => {
      asked.push(`${text} ${options.detail ?? ""}`.trim());
      return options.modal ? button : undefined;
    };
    Object.assign(vscode.window, { showInformationMessage });
    await getStarted(
      argument,
      all.job,
      async () => ["About 450 MB."],
      () => all.did.push("shown"),
    );
    return asked;
  }

  it("is asked for once, and nothing is done without it", async () => {
    const all = new Fixture();
    assert.deepEqual(await begin(all, undefined, undefined), ["Get started with ADK Evidence? About 450 MB."]);
    assert.deepEqual(all.did, []);
    assert.ok(!all.job.begun);
    const asked = await begin(all, undefined, "Get Started");
    assert.deepEqual(asked, ["Get started with ADK Evidence? About 450 MB."]);
    assert.deepEqual(all.did, ["shown", "install", "server", "ingest"]);
  });

  it("is given by the button beside its text, and holds until the job has ended", async () => {
    const all = new Fixture();
    all.during = () => all.job.stop();
    assert.deepEqual(await begin(all, { consented: true }, undefined), []);
    all.during = () => undefined;
    assert.deepEqual(await begin(all, undefined, undefined), []);
    assert.equal(all.job.state.phase, "done");
    // What is asked for later is another matter.
    assert.deepEqual(await begin(all, undefined, undefined), ["Get started with ADK Evidence? About 450 MB."]);
  });

  it("shows the job that runs, and begins no second one", async () => {
    const all = new Fixture();
    const running = all.job.run();
    assert.deepEqual(await begin(all, undefined, undefined), []);
    await running;
    assert.deepEqual(
      all.did.filter((what) => what === "install"),
      ["install"],
    );
    assert.ok(all.did.includes("shown"));
  });
});

describe("the task of another command", () => {
  const progress = (fraction: number) => ({ stage: "embed", fraction, seconds_left: 60, answers: "keywords" }) as const;

  const told = (lines: string[]) => ({ lines, actions: [] });

  it("shows its progress in the place of setting up, can be stopped, and then says what it came to", async () => {
    const all = new Fixture();
    const task = async (token: vscode.CancellationToken, onProgress: (now: IngestProgress) => void) => {
      onProgress(progress(0.5));
      assert.deepEqual(all.job.state, { ...all.job.state, title: "Updating", phase: "running", fraction: 0.5 });
      // The index that was there goes on answering.
      assert.equal(all.job.state.answers, "nothing");
      await new Promise(setImmediate);
      all.job.stop();
      assert.ok(token.isCancellationRequested);
      return 7;
    };
    await all.job.runTask("Updating", task, (files) => told([`${files} files`]));
    assert.deepEqual([all.job.state.phase, all.job.state.title, all.job.begun], ["idle", "Updating", false]);
    assert.deepEqual(all.job.state.outcome?.lines, ["7 files"]);
    await all.job.run();
    assert.deepEqual(all.job.state.outcome?.lines, ["ADK Evidence is ready."]);
  });

  it("fails as the task does, and keeps why", async () => {
    const all = new Fixture();
    const failing = all.job.runTask(
      "Updating",
      async () => {
        throw new Problem("There is no disk.", "store_unavailable");
      },
      () => told([]),
    );
    await assert.rejects(failing, { code: "store_unavailable" });
    assert.equal(all.job.state.problem?.message, "There is no disk.");
    all.job.dismiss();
    assert.equal(all.job.state.problem, null);
  });

  it("waits until setting up has ended, and other tasks have", async () => {
    const all = new Fixture();
    const order: string[] = [];
    const named = (name: string) =>
      all.job.runTask(
        name,
        async () => void order.push(`${name} ${all.job.state.title}`),
        () => told([]),
      );
    const job = all.job.run().then(() => order.push("job"));
    await Promise.all([named("one"), named("two"), job]);
    assert.deepEqual(order, ["job", "one one", "two two"]);
  });
});

describe("what is said of setting up", () => {
  const LAUNCH = { command: "p", args: [], isolated: true, key: "p", origin: "command", version: null } as const;
  const READY = { kind: "ready", launch: LAUNCH } as const;
  const DOWN = { kind: "down", problem: PROBLEMS.noEnvironment() } as const;
  const CRASHED = { kind: "down", problem: PROBLEMS.crashed() } as const;
  const INDEX = { dense: "complete", corpora: { adk_docs: {} } } as unknown as IndexInfo;
  const job = (more: Partial<JobState> = {}): JobState => ({
    ...{ title: "", phase: "idle", step: "packages", fraction: 0, secondsLeft: null, answers: "nothing", detail: "" },
    ...{ problem: null, outcome: null },
    ...more,
  });
  const at = (state: Situation["state"], index: IndexInfo | null | undefined, now = job()): Situation => ({
    ...{ state, index, trusted: true, job: now },
  });
  const titles = (card: JobView | null) => card?.actions.map(({ title }) => title);

  it("is what another command does, where that runs", () => {
    const title = "Indexing google-adk 1.18.0";
    const running = job({ phase: "running", title, step: "reading", fraction: 0.2 });
    const situation = at(READY, INDEX, running);
    const card = jobView(running, situation, false, []);
    assert.deepEqual([card?.title, card?.fraction, titles(card)], [title, 0.2, ["Stop"]]);
    // Above an answer, the panel shows a single line in the place of the title.
    assert.deepEqual(card?.lines, []);
    assert.match(statusText(situation, new Date(), "en").tooltip, /^Indexing google-adk 1\.18\.0: 20 %\n/);
  });

  it("is what the user consents to, with the button beside it", () => {
    for (const situation of [at(DOWN, undefined), at(READY, null)]) {
      const card = jobView(job(), situation, false, ["About 450 MB."]);
      assert.deepEqual([card?.lines, titles(card)], [["About 450 MB."], ["Get Started"]]);
    }
  });

  it("is nothing where nothing is missing or known", () => {
    assert.equal(jobView(job(), at(READY, INDEX), false, []), null);
    assert.equal(jobView(job({ phase: "done" }), at(READY, INDEX), false, []), null);
    assert.equal(jobView(job(), at({ kind: "idle" }, undefined), false, []), null);
  });

  it("is the step, the bar and the time left, in panel and status item alike", () => {
    const now = job({ phase: "running", step: "vectors", fraction: 0.42, secondsLeft: 250, answers: "keywords" });
    const card = jobView(now, at(READY, INDEX, now), true, []);
    assert.deepEqual(card?.lines, ["Answers are found by keywords until this is done."]);
    assert.deepEqual([card.fraction, card.left, titles(card)], [0.42, "about 4 minutes left", ["Stop"]]);
    const status = statusText(at(READY, INDEX, now), new Date(), "en");
    assert.equal(status.text, "$(loading~spin) ADK 42 %");
    assert.match(status.tooltip, /set up: 42 %\nAnswers .*by keywords.*\nabout 4 minutes left/);
  });

  it("says that keywords answer also where an earlier job got so far", () => {
    const now = job({ phase: "running", step: "reading" });
    const pending = { ...INDEX, dense: "pending" } as IndexInfo;
    assert.match(jobView(now, at(READY, pending, now), true, [])?.lines.join() ?? "", /^Answers are found by keywords/);
    assert.deepEqual(jobView(now, at(READY, null, now), true, [])?.lines, ["Reading the docs and the code"]);
  });

  it("names the package that is installed, as one line", () => {
    const now = job({ phase: "running", detail: "numpy" });
    assert.deepEqual(jobView(now, at(DOWN, undefined, now), true, [])?.lines, ["Installing packages: numpy"]);
  });

  it("is what is missing where it was stopped, here or in another window, with a way to resume", () => {
    const pending = { ...INDEX, dense: "pending" } as IndexInfo;
    for (const [now, begun] of [
      [job({ phase: "stopped", step: "vectors" }), true],
      [job(), true],
    ] as const) {
      const card = jobView(now, at(READY, pending, now), begun, ["About 450 MB."]);
      assert.match(card?.lines.join() ?? "", /by keywords alone: the meaning of the texts is not read to the end/);
      assert.deepEqual(titles(card), ["Resume"]);
      const unlisted = { ...at(READY, { ...INDEX, created_at: "", corpora: {} }, now), symbols: false };
      const last = jobView(now, unlisted, begun, []);
      assert.match(last?.lines.join() ?? "", /list of symbols is not complete/);
      assert.deepEqual(titles(last), ["Resume"]);
      assert.match(statusText(unlisted, new Date(), "en").tooltip, /^ADK Evidence answers, but .*Resume goes on/);
    }
    // That it was begun, maybe long ago, says nothing of what is missing.
    for (const state of [{ kind: "idle" }, { kind: "starting" }, READY, CRASHED] as const) {
      assert.equal(jobView(job(), at(state, undefined), true, []), null);
    }
    assert.equal(jobView(job(), at(READY, INDEX), true, []), null);
    const full = job({ phase: "stopped", problem: PROBLEMS.setUp("disk_full") });
    const card = jobView(full, at(DOWN, undefined, full), true, []);
    assert.match(card?.lines.join() ?? "", /The disk is full.*packages are not installed/);
    assert.deepEqual(titles(card), ["Resume", "Choose Interpreter", "Show Logs"]);
  });

  it("finds out what the user consents to only where that is shown, and once a folder and state", async () => {
    let folder = "one";
    let now = job();
    let asked = 0;
    const cards: (JobView | null)[] = [];
    const card = new JobCard({
      job: {
        get state() {
          return now;
        },
        begun: false,
      },
      consent: async () => [`About ${++asked} MB.`],
      dependsOn: () => [folder],
      show: (view) => cards.push(view),
    });
    for (const state of [{ kind: "idle" }, { kind: "starting" }, READY, CRASHED] as const) {
      await card.show(at(state, undefined));
    }
    now = job({ phase: "stopped" });
    await card.show(at(DOWN, undefined));
    assert.equal(asked, 0);
    now = job();
    for (const situation of [at(DOWN, undefined), at({ ...DOWN }, undefined), at(READY, INDEX), at(DOWN, undefined)]) {
      await card.show(situation);
    }
    assert.deepEqual([asked, cards.at(-1)?.lines], [1, ["About 1 MB."]]);
    folder = "two";
    // The look for the earlier situation ends after the later situation was shown.
    await Promise.all([card.show(at(DOWN, undefined)), card.show(at(READY, INDEX))]);
    assert.deepEqual([asked, cards.at(-1)], [2, null]);
  });

  it("asks to install packages only where a server lacks them, and looks only where nobody has asked for one", async () => {
    const lacks = async (state: Situation["state"], found: Problem | null = null) => {
      let looks = 0;
      const lacking = await lacksPackages(state, async () => {
        looks += 1;
        return { trail: [], ...(found === null ? { launch: LAUNCH } : { problem: found }) };
      });
      return [lacking, looks];
    };
    const BAD = PROBLEMS.interpreter("/usr/bin/python3", "too_old");
    const broken = { kind: "down", problem: PROBLEMS.environmentBroken("It is gone.") } as const;
    for (const state of [READY, { kind: "starting" }, CRASHED, { kind: "down", problem: BAD }] as const) {
      assert.deepEqual(await lacks(state), [false, 0]);
    }
    assert.deepEqual(
      [await lacks(DOWN), await lacks(broken)],
      [
        [true, 0],
        [true, 0],
      ],
    );
    assert.deepEqual(await lacks({ kind: "idle" }), [false, 1]);
    assert.deepEqual(await lacks({ kind: "idle" }, PROBLEMS.noEnvironment()), [true, 1]);
    assert.deepEqual(await lacks({ kind: "idle" }, BAD), [false, 1]);
  });

  it("says what the last job came to, or why it failed, until that is closed", () => {
    const ready = job({ phase: "done", outcome: { lines: ["It is ready."], actions: [FIXES.fetchGuides()] } });
    const card = jobView(ready, at(READY, INDEX, ready), false, []);
    assert.deepEqual([card?.lines, titles(card)], [["It is ready."], ["Fetch the Guides", "Close"]]);
    const told = (problem: Problem) => {
      const now = job({ title: "Indexing the code of shop", problem });
      // Whatever else is missing.
      return jobView(now, at(READY, null, now), true, []);
    };
    const failed = told(new Problem("There is no disk.", "store_unavailable", [FIXES.logs()]));
    assert.deepEqual([failed?.title, failed?.lines], ["Indexing the code of shop", ["There is no disk."]]);
    assert.deepEqual(titles(failed), ["Show Logs", "Close"]);
    assert.match(told(PROBLEMS.cancelled())?.lines.join() ?? "", /^You stopped it\. What is done is kept/);
  });
});

describe("what is ingested", () => {
  const folder = Uri.parse("file:///work/agent");
  const project = (exact: boolean): ProjectStatus => ({
    ...{ folder: folder.toString(), version: "1.18.0", taken_from: ".venv", asked: "", indexed: null, exact },
  });
  const index = (dense: string, ...corpora: string[]) =>
    ({ dense, corpora: Object.fromEntries(corpora.map((name) => [name, {}])) }) as unknown as IndexInfo;
  const inFolder = (told: Partial<ServerStatus> & Pick<ServerStatus, "index" | "projects">) => {
    const status = { symbols: true, ...told };
    Object.assign(vscode.workspace, { workspaceFolders: [{ uri: folder, name: "agent", index: 0 }] });
    try {
      return missingIn(status);
    } finally {
      Object.assign(vscode.workspace, { workspaceFolders: undefined });
    }
  };

  it("is the version that the project uses, and else what the settings say", () => {
    assert.deepEqual(inFolder({ index: null, projects: [project(false)] }), { folder: folder.toString() });
    assert.deepEqual(inFolder({ index: null, projects: [] }), { mode: "all" });
  });

  it("is nothing where the index is complete, but vectors, guides and another version are missing parts", () => {
    const whole = index("complete", "adk_docs", "adk_python");
    assert.equal(inFolder({ index: whole, projects: [] }), null);
    assert.equal(inFolder({ index: whole, projects: [project(true)] }), null);
    assert.notEqual(inFolder({ index: whole, projects: [project(false)] }), null);
    assert.notEqual(inFolder({ index: index("pending", "adk_docs"), projects: [] }), null);
    assert.notEqual(inFolder({ index: whole, symbols: false, projects: [] }), null);
    assert.notEqual(inFolder({ index: index("complete", "adk_python"), projects: [] }), null);
  });
});

describe("the share of the packages that is installed", () => {
  const through = (lines: string[]) => {
    const shares: number[] = [];
    for (const line of lines) {
      shares.push(installShare(line, shares.at(-1) ?? 0).share);
    }
    return shares;
  };

  it("grows with the lines of pip", () => {
    const shares = through(PIP);
    assert.deepEqual(
      shares,
      shares.toSorted((a, b) => a - b),
    );
    assert.equal(shares.at(-1), 1);
    assert.equal(installShare("  Downloading numpy-2.0-cp311.whl", 0.2).name, "numpy");
  });

  it("grows with the lines of uv", () => {
    assert.deepEqual(
      through([
        "Using CPython 3.12",
        "Resolved 111 packages in 2s",
        "Prepared 111 packages in 40s",
        "Installed 111 packages in 1s",
      ]),
      [0, 0.1, 0.85, 1],
    );
  });

  it("does not depend on how many packages there are", () => {
    const shares = through(Array.from({ length: 500 }, (_, index) => `Collecting package${index}`));
    assert.ok((shares.at(-1) ?? 1) <= 0.75);
  });
});

describe("the version that the consent names", () => {
  const workspace = { ...vscode.workspace };
  it("is, where the project names none, that of the server's settings", async () => {
    const settings = await fs.readFile(path.join(process.cwd(), "config", "settings.yaml"), "utf8");
    assert.match(settings, new RegExp(`distribution: google-adk==${USUAL_VERSION.replaceAll(".", "\\.")}\\s`));
    const lines = await consentLines(true, null);
    assert.match(lines.join("\n"), /^About 450 MB .*\n.*version that this project names, or else of [\d.]+\.\n/);
    assert.doesNotMatch((await consentLines(false, null)).join(), /packages/);
    const files = { "requirements.txt": "google-adk==1.17.0\n" };
    Object.assign(vscode.workspace, {
      workspaceFolders: [{ uri: Uri.parse("file:///work"), name: "work", index: 0 }],
      fs: {
        readDirectory: async () => Object.keys(files).map((name) => [name, vscode.FileType.File]),
        stat: async () => ({ type: vscode.FileType.File, size: 20 }),
        readFile: async () => new TextEncoder().encode(files["requirements.txt"]),
      },
    });
    const pinned = await consentLines(true, null);
    Object.assign(vscode.workspace, workspace);
    assert.match(pinned.join("\n"), /source of google-adk 1\.17\.0, which requirements\.txt names, are then read/);
    const project = { version: "1.18.0", taken_from: ".venv" } as ProjectStatus;
    assert.match((await consentLines(true, project)).join(), /google-adk 1\.18\.0, which this project uses/);
  });
});

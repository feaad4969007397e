import assert from "node:assert/strict";
import { mock } from "node:test";
import { describe, it } from "mocha";
import type { CancellationToken, Uri } from "vscode";
import { Problem } from "../../../src/problem";
import { type Folder, type PoolWorkspace, ServerPool } from "../../../src/server/pool";
import { PROBLEMS } from "../../../src/server/problems";
import type { Launch, Resolution } from "../../../src/server/resolve";
import type { ServerSession } from "../../../src/server/session";

function scope(folder: string): Uri {
  return { toString: () => folder } as Uri;
}

function launch(command: string): Launch {
  return { command, args: [], isolated: false, key: command, origin: "command", version: null };
}

/** A window whose programs, folders and crashes a test decides. */
class Window implements PoolWorkspace {
  readonly seen: string[] = [];
  readonly programs = new Map<string, string | Problem>();
  readonly variants = new Map<string, string>();
  readonly closed = new Set<string>();
  readonly crash: (() => void)[] = [];
  /** What a request waits for before it is answered. */
  hold: Promise<void> = Promise.resolve();
  /** Methods whose requests were cancelled in the server. */
  readonly cancelled: string[] = [];
  startFails: Problem | undefined;
  /** Programs whose start waits. */
  readonly slow = new Map<string, Promise<void>>();
  resolutions = 0;

  folderOf(uri: Uri | undefined): Folder {
    return { id: uri?.toString() ?? "main", uri };
  }

  isOpen(folder: Folder): boolean {
    return !this.closed.has(folder.id);
  }

  async resolve(folder: Folder): Promise<Resolution> {
    this.resolutions += 1;
    const program = this.programs.get(folder.id) ?? "server";
    return program instanceof Problem ? { trail: [], problem: program } : { trail: [], launch: launch(program) };
  }

  variant(folder: Folder): string {
    return this.variants.get(folder.id) ?? "";
  }

  createSession(wanted: Launch, _key: string, _folder: Folder, ended: () => void): ServerSession {
    const say = (what: string) => this.seen.push(`${what} ${wanted.command}`);
    this.crash.push(ended);
    return {
      start: async () => {
        say("start");
        await (this.slow.get(wanted.command) ?? Promise.resolve());
        if (this.startFails) {
          throw this.startFails;
        }
      },
      stop: async () => {
        say("stop");
      },
      request: async <R>(method: string, _params: unknown, token: CancellationToken) => {
        token.onCancellationRequested(() => this.cancelled.push(method));
        await this.hold;
        return { from: wanted.command } as R;
      },
    };
  }
}

function ask(pool: ServerPool, folder?: string, token?: CancellationToken): Promise<unknown> {
  return pool.request("adk/status", {}, token, folder === undefined ? undefined : scope(folder));
}

function cancellation(): { token: CancellationToken; cancel: () => void } {
  const listeners = new Set<(event: undefined) => void>();
  let cancelled = false;
  const token: CancellationToken = {
    get isCancellationRequested() {
      return cancelled;
    },
    onCancellationRequested: (listener) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
  };
  const cancel = () => {
    cancelled = true;
    for (const listener of listeners) {
      listener(undefined);
    }
  };
  return { token, cancel };
}

/** Lets promises that are settled be seen. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await Promise.resolve();
  }
}

function setUp(): { window: Window; pool: ServerPool } {
  const window = new Window();
  return { window, pool: new ServerPool(window) };
}

describe("the servers of a window", () => {
  it("start when they are first asked, once", async () => {
    const { window, pool } = setUp();
    assert.equal(pool.state(undefined).kind, "idle");
    await Promise.all([ask(pool), ask(pool), ask(pool, "a"), ask(pool, "b")]);
    assert.deepEqual(window.seen, ["start server"]);
    assert.equal(pool.state(scope("a")).kind, "ready");
  });

  it("start only when somebody asks, whatever was found out before, and changes later", async () => {
    const { window, pool } = setUp();
    window.programs.set("b", PROBLEMS.noEnvironment());
    const look = () => ["a", "b"].map((folder) => pool.look(scope(folder)));
    assert.deepEqual(look(), [false, false]);
    await turns();
    assert.deepEqual([look(), window.resolutions], [[true, true], 2]);
    assert.deepEqual([pool.state(scope("a")).kind, pool.state(scope("b")).kind], ["idle", "down"]);
    await pool.reconcile();
    assert.deepEqual(window.seen, []);
    await ask(pool, "a");
    assert.deepEqual(window.seen, ["start server"]);
  });

  it("tell that another folder is served by one that is ready since long", async () => {
    const { pool } = setUp();
    await ask(pool, "a");
    const kinds: string[] = [];
    pool.onDidChange(() => kinds.push(pool.state(scope("b")).kind));
    await ask(pool, "b");
    await ask(pool, "b");
    assert.deepEqual(kinds, ["ready"]);
  });

  it("are one for each program, and for each index", async () => {
    const { window, pool } = setUp();
    window.programs.set("b", "other");
    window.variants.set("c", "another home");
    const answers = await Promise.all([ask(pool, "a"), ask(pool, "b"), ask(pool, "c")]);
    assert.deepEqual(answers, [{ from: "server" }, { from: "other" }, { from: "server" }]);
    assert.deepEqual(window.seen, ["start server", "start other", "start server"]);
  });

  it("serve the documents of their folders alone", async () => {
    const { window, pool } = setUp();
    window.programs.set("b", "other");
    await Promise.all([ask(pool, "a"), ask(pool, "b")]);
    assert.ok(pool.serves("server ", scope("a")));
    assert.ok(!pool.serves("server ", scope("b")));
    assert.ok(!pool.serves("server ", scope("nobody asked")));
  });

  it("are restarted once for many wishes", async () => {
    const { window, pool } = setUp();
    await ask(pool);
    await Promise.all([pool.reconcile(true), pool.reconcile(), pool.reconcile(true), pool.reconcile()]);
    assert.deepEqual(window.seen, ["start server", "stop server", "start server"]);
  });

  it("are restarted only where the program is another now", async () => {
    const { window, pool } = setUp();
    window.programs.set("b", "other");
    await Promise.all([ask(pool, "a"), ask(pool, "b")]);
    window.programs.set("b", "newer");
    await pool.reconcile();
    assert.deepEqual(window.seen, ["start server", "start other", "stop other", "start newer"]);
  });

  it("end with the folder that needed them", async () => {
    const { window, pool } = setUp();
    window.programs.set("b", "other");
    await Promise.all([ask(pool, "a"), ask(pool, "b")]);
    window.closed.add("b");
    await pool.reconcile();
    assert.deepEqual(window.seen.slice(2), ["stop other"]);
  });

  it("answer what is asked during a restart after it", async () => {
    const { window, pool } = setUp();
    await ask(pool);
    const restart = pool.reconcile(true);
    assert.deepEqual(await ask(pool), { from: "server" });
    await restart;
    assert.deepEqual(window.seen, ["start server", "stop server", "start server"]);
  });

  it("stay down where there is no program, until there is one", async () => {
    const { window, pool } = setUp();
    window.programs.set("main", PROBLEMS.noEnvironment());
    await pool.warm(undefined);
    await assert.rejects(ask(pool), { code: "no_environment" });
    assert.equal(pool.state(undefined).kind, "down");
    window.programs.set("main", "server");
    assert.deepEqual(await ask(pool), { from: "server" });
  });

  it("are not looked for again and again in the background", async () => {
    const { window, pool } = setUp();
    window.programs.set("main", PROBLEMS.noEnvironment());
    for (let file = 0; file < 5; file++) {
      await pool.warm(undefined);
    }
    assert.equal(window.resolutions, 1);
  });

  it("tell why one does not start, and try again when asked again", async () => {
    const { window, pool } = setUp();
    window.startFails = PROBLEMS.startFailed("server");
    await assert.rejects(ask(pool), { code: "start_failed" });
    window.startFails = undefined;
    await ask(pool);
    assert.deepEqual(window.seen, ["start server", "start server"]);
  });

  it("start side by side: none waits for the server of another folder", async () => {
    const { window, pool } = setUp();
    window.programs.set("b", "other");
    let started = () => {};
    window.slow.set(
      "server",
      new Promise((resolve) => {
        started = resolve;
      }),
    );
    const slow = ask(pool, "a");
    assert.deepEqual(await ask(pool, "b"), { from: "other" });
    assert.equal(pool.state(scope("a")).kind, "starting");
    started();
    assert.deepEqual(await slow, { from: "server" });
  });

  it("are one for folders that ask for the same while it starts", async () => {
    const { window, pool } = setUp();
    window.slow.set("server", Promise.resolve());
    await Promise.all(["a", "b", "c"].map((folder) => ask(pool, folder)));
    assert.deepEqual(window.seen, ["start server"]);
  });

  it("come back side by side after all were restarted", async () => {
    const { window, pool } = setUp();
    window.programs.set("b", "other");
    await Promise.all([ask(pool, "a"), ask(pool, "b")]);
    window.slow.set("server", new Promise(() => undefined));
    void pool.reconcile(true);
    assert.deepEqual(await ask(pool, "b"), { from: "other" });
  });

  it("tell why one does not come back after a crash, not merely that it crashed", async () => {
    const { window, pool } = setUp();
    const told: string[] = [];
    const given = new Promise<void>((resolve) => {
      pool.onDidGiveUp((problem) => {
        told.push(problem.code);
        resolve();
      });
    });
    await ask(pool);
    window.startFails = PROBLEMS.programMissing("server");
    window.crash.at(-1)?.();
    await given;
    const state = pool.state(undefined);
    assert.ok(state.kind === "down" && /There is no program server/.test(state.problem.message));
    assert.deepEqual(told, ["start_failed"]);
    window.startFails = undefined;
    assert.deepEqual(await ask(pool), { from: "server" });
  });

  it("come back after a crash, a few times, and then say so once", async () => {
    const { window, pool } = setUp();
    const told: string[] = [];
    pool.onDidGiveUp((problem) => told.push(problem.code));
    await ask(pool);
    for (let crash = 0; crash < 4; crash++) {
      window.crash.at(-1)?.();
      await pool.warm(undefined);
      await ask(pool).catch(() => undefined);
    }
    assert.equal(window.seen.length, 4);
    assert.deepEqual(told, ["server_crashed"]);
    await assert.rejects(ask(pool), { code: "server_crashed" });
    await pool.reconcile(true);
    assert.deepEqual(await ask(pool), { from: "server" });
  });

  it("do not come back for a crash of one that was replaced", async () => {
    const { window, pool } = setUp();
    await ask(pool);
    await pool.reconcile(true);
    const before = window.seen.length;
    window.crash[0]?.();
    await ask(pool);
    assert.equal(window.seen.length, before);
  });

  it("do not keep one waiting who cancels", async () => {
    const { window, pool } = setUp();
    const { token, cancel } = cancellation();
    await ask(pool);
    window.hold = new Promise(() => undefined);
    const answer = ask(pool, undefined, token);
    await turns();
    cancel();
    await assert.rejects(answer, { code: "cancelled" });
    assert.deepEqual(window.cancelled, ["adk/status"]);
  });

  it("keep nobody waiting for ever, but for an ingestion", async () => {
    const { window, pool } = setUp();
    await ask(pool);
    window.hold = new Promise(() => undefined);
    const clock = mock.timers;
    clock.enable({ apis: ["setTimeout"] });
    try {
      const outcomes: string[] = [];
      for (const method of ["adk/status", "adk/evidence", "adk/ingest"] as const) {
        pool.request(method, {} as never).catch(({ code }: Problem) => outcomes.push(`${method} ${code}`));
      }
      await turns();
      for (const minutes of [2, 8]) {
        clock.tick(minutes * 60_000);
        await turns();
      }
      clock.tick(86_400_000);
      await turns();
      assert.deepEqual(outcomes, ["adk/status no_answer", "adk/evidence no_answer"]);
      assert.deepEqual(window.cancelled, ["adk/status", "adk/evidence"]);
    } finally {
      clock.reset();
    }
  });

  it("start nothing for one who had cancelled before", async () => {
    const { window, pool } = setUp();
    const { token, cancel } = cancellation();
    cancel();
    await assert.rejects(ask(pool, undefined, token), { code: "cancelled" });
    assert.deepEqual(window.seen, []);
  });

  it("tell of each answer", async () => {
    const { window, pool } = setUp();
    const told: unknown[] = [];
    pool.onDidAnswer(({ folder, method, result, problem }) => told.push([folder.id, method, result ?? problem?.code]));
    await ask(pool);
    window.startFails = undefined;
    assert.deepEqual(told, [["main", "adk/status", { from: "server" }]]);
  });

  it("end with the window, and start no more", async () => {
    const { window, pool } = setUp();
    await ask(pool);
    await pool.stop();
    window.crash[0]?.();
    await assert.rejects(ask(pool), { code: "server_ended" });
    assert.deepEqual(window.seen, ["start server", "stop server"]);
  });

  it("end with the window also where they are just starting", async () => {
    const { window, pool } = setUp();
    let started = () => {};
    window.slow.set(
      "server",
      new Promise((resolve) => {
        started = resolve;
      }),
    );
    const asked = assert.rejects(ask(pool), { code: "server_ended" });
    await turns();
    await pool.stop();
    started();
    await asked;
    // What was stopped before it had a process is stopped again when it has one.
    assert.deepEqual(window.seen, ["start server", "stop server", "stop server"]);
  });
});

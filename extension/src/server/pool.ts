/**
 * The servers of this window: one for each distinct program and index, shared by the folders that need the same.
 * What concerns one folder runs one after the other, folders side by side; a look at all of them runs alone.
 */

import type { CancellationToken, Disposable, Uri } from "vscode";
import type { Backend } from "../evidence/backend";
import { Problem } from "../problem";
import type { Method, Params, Result } from "../protocol/requests";
import { Lane } from "./lane";
import { PROBLEMS } from "./problems";
import type { Launch, Resolution } from "./resolve";
import type { ServerSession } from "./session";
import { withinTime } from "./time";

/** A folder of the workspace; all that is in none share one, whose id is empty. */
export interface Folder {
  readonly id: string;
  readonly uri: Uri | undefined;
}

export type ServerState =
  /** Nobody has asked yet. */
  | { readonly kind: "idle" }
  | { readonly kind: "starting" }
  | { readonly kind: "ready"; readonly launch: Launch }
  /** There is no program to start, it could not be started, or it ended again and again. */
  | { readonly kind: "down"; readonly problem: Problem };

export interface PoolHost {
  /** The folder that a document or folder belongs to; without one, the window's main folder. */
  folderOf(scope: Uri | undefined): Folder;
  /** Whether the folder is still one of the workspace's. */
  isOpen(folder: Folder): boolean;
  /** @param fresh Looks anew at what may have changed without telling. */
  resolve(folder: Folder, fresh: boolean): Promise<Resolution>;
  /** What else than the program keeps the servers of folders apart. */
  variant(folder: Folder): string;
  createSession(launch: Launch, key: string, folder: Folder, ended: () => void): ServerSession;
}

/** An answer of a server, for those who look over its shoulder. */
export interface Answered {
  readonly folder: Folder;
  readonly method: Method;
  /** The result or the problem, and nothing where the server was not reached. */
  readonly result?: unknown;
  readonly problem?: Problem;
}

interface Server {
  readonly key: string;
  readonly launch: Launch;
  readonly folder: Folder;
  session: ServerSession | undefined;
  /** Its start, while it lasts: folders that share the server wait for the same one. */
  starting: Promise<ServerSession> | undefined;
  state: ServerState;
  crashes: number[];
}

interface Member {
  readonly folder: Folder;
  /** The key of its server; undefined where it was not resolved, or could not be. */
  key: string | undefined;
  /** What is wrong where no program was found. */
  problem: Problem | undefined;
}

const CRASHES_FORGIVEN = 3;
const CRASH_WINDOW_MS = 3 * 60_000;

/** How long an answer may take: longer than any should, so that nobody waits for ever for a server that hangs. */
const LIMIT_MS = 120_000;
const LIMITS_MS: Partial<Record<Method, number>> = {
  // The first question waits for the models.
  "adk/evidence": 600_000,
  // It says how far it is, and can be cancelled.
  "adk/ingest": Number.POSITIVE_INFINITY,
};

export class ServerPool implements Backend {
  readonly #host: PoolHost;
  readonly #lane = new Lane();
  readonly #servers = new Map<string, Server>();
  readonly #members = new Map<string, Member>();
  readonly #onChange = new Set<() => void>();
  readonly #onAnswer = new Set<(answered: Answered) => void>();
  readonly #onGivenUp = new Set<(problem: Problem) => void>();
  #forced = false;
  #stopped = false;

  constructor(host: PoolHost) {
    this.#host = host;
  }

  async request<M extends Method>(
    method: M,
    params: Params<M>,
    token?: CancellationToken,
    scope?: Uri,
  ): Promise<Result<M>> {
    if (token?.isCancellationRequested) throw PROBLEMS.cancelled();
    const folder = this.#host.folderOf(scope);
    const session = await unlessCancelled(this.#acquire(folder, true), token);
    try {
      // The server is told of the cancellation; whoever cancelled does not wait until it has obeyed.
      const limitMs = LIMITS_MS[method] ?? LIMIT_MS;
      const late = () => PROBLEMS.noAnswer(limitMs / 1000);
      const answer = withinTime(session.request(method, params, token), limitMs, late);
      const result = await unlessCancelled(answer, token);
      this.#tellAnswer({ folder, method, result });
      return result;
    } catch (error) {
      if (error instanceof Problem) this.#tellAnswer({ folder, method, problem: error });
      throw error;
    }
  }

  /** Starts the folder's server if it is known how, and says nothing of what is wrong: the state does. */
  async warm(scope: Uri | undefined): Promise<void> {
    const folder = this.#host.folderOf(scope);
    if (this.state(scope).kind !== "idle") return;
    await this.#acquire(folder, false).catch(() => undefined);
  }

  /** Starts the folder's server. @throws Problem */
  async ensure(scope: Uri | undefined): Promise<void> {
    await this.#acquire(this.#host.folderOf(scope), true);
  }

  /**
   * Looks at every folder again and restarts the servers of those whose program or index is another now; wishes that
   * come before it begins are one.
   *
   * @param force Restarts all.
   */
  async reconcile(force = false): Promise<void> {
    this.#forced ||= force;
    const wanted = await this.#lane.run("reconcile", () => {
      const forced = this.#forced;
      this.#forced = false;
      return this.#reconcile(forced);
    });
    await Promise.all(wanted.map((server) => this.#beginAgain(server).catch(() => undefined)));
  }

  /** Ends all servers at once, also those that are starting; none is started any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#servers.values()].map((server) => this.#end(server)));
  }

  /** How the folder's program was chosen. */
  explain(scope: Uri | undefined): Promise<Resolution> {
    return this.#host.resolve(this.#host.folderOf(scope), false);
  }

  /** How it stands with a folder's server. */
  state(scope: Uri | undefined): ServerState {
    const member = this.#members.get(this.#host.folderOf(scope).id);
    if (member?.problem) return { kind: "down", problem: member.problem };
    return (member?.key && this.#servers.get(member.key)?.state) || { kind: "idle" };
  }

  /** Whether the server of a key is the one of a document's folder. */
  serves(key: string, scope: Uri): boolean {
    return this.#members.get(this.#host.folderOf(scope).id)?.key === key;
  }

  /** Calls back when any state changed. */
  onDidChange(listener: () => void): Disposable {
    return listen(this.#onChange, listener);
  }

  /** Calls back with every answer. */
  onDidAnswer(listener: (answered: Answered) => void): Disposable {
    return listen(this.#onAnswer, listener);
  }

  /** Calls back when a server ended too often to be started again. */
  onDidGiveUp(listener: (problem: Problem) => void): Disposable {
    return listen(this.#onGivenUp, listener);
  }

  async #acquire(folder: Folder, fresh: boolean): Promise<ServerSession> {
    const ready = this.#lane.isWaiting("reconcile") ? undefined : this.#readySession(folder);
    if (ready) return ready;
    // Whoever only warms up must not spare one who asks the fresh look.
    const acquire = async () => {
      const session = this.#readySession(folder);
      if (session) return session;
      const server = await this.#resolve(folder, fresh);
      if (server.state.kind === "down" && server.state.problem.code === "server_crashed") throw server.state.problem;
      return this.#begin(server);
    };
    return this.#lane.run(`acquire ${fresh} ${folder.id}`, acquire, folder.id);
  }

  #readySession(folder: Folder): ServerSession | undefined {
    const key = this.#members.get(folder.id)?.key;
    const server = key === undefined ? undefined : this.#servers.get(key);
    return server?.state.kind === "ready" ? server.session : undefined;
  }

  /** The folder's server, new or known. @throws Problem where there is no program for it. */
  async #resolve(folder: Folder, fresh: boolean): Promise<Server> {
    const member: Member = { folder, key: undefined, problem: undefined };
    // At the same moment as the program's settings: both may change at once while programs are looked at.
    const variant = this.#host.variant(folder);
    const resolution = await this.#host.resolve(folder, fresh);
    this.#members.set(folder.id, member);
    if ("problem" in resolution) {
      member.problem = resolution.problem;
      this.#tellChange();
      throw resolution.problem;
    }
    const key = `${resolution.launch.key} ${variant}`;
    member.key = key;
    const server = this.#servers.get(key) ?? newServer(key, resolution.launch, folder);
    this.#servers.set(key, server);
    return server;
  }

  async #begin(server: Server): Promise<ServerSession> {
    if (this.#stopped) throw PROBLEMS.ended();
    if (server.session && server.state.kind === "ready") return server.session;
    server.starting ??= this.#start(server).finally(() => {
      server.starting = undefined;
    });
    return server.starting;
  }

  /** Starts a server unless it was replaced or started meanwhile. */
  #beginAgain(server: Server): Promise<void> {
    const begin = async () => {
      if (this.#servers.get(server.key) === server) await this.#begin(server);
    };
    return this.#lane.run(`begin ${server.key}`, begin, server.folder.id);
  }

  async #start(server: Server): Promise<ServerSession> {
    const session = this.#host.createSession(server.launch, server.key, server.folder, () => {
      if (server.session === session) this.#crashed(server);
    });
    server.session = session;
    this.#become(server, { kind: "starting" });
    try {
      await session.start();
    } catch (error) {
      server.session = undefined;
      const problem = error instanceof Problem ? error : PROBLEMS.startFailed(server.launch.command);
      this.#become(server, { kind: "down", problem });
      throw problem;
    }
    if (this.#stopped) {
      // The window ended meanwhile, when there may have been no process yet that could be ended.
      await session.stop();
      throw PROBLEMS.ended();
    }
    this.#become(server, { kind: "ready", launch: server.launch });
    return session;
  }

  async #end(server: Server): Promise<void> {
    const session = server.session;
    server.session = undefined;
    this.#servers.delete(server.key);
    await session?.stop();
    this.#tellChange();
  }

  #crashed(server: Server): void {
    server.session = undefined;
    if (this.#stopped || this.#servers.get(server.key) !== server) return;
    const now = Date.now();
    server.crashes = [...server.crashes.filter((time) => now - time < CRASH_WINDOW_MS), now];
    if (server.crashes.length > CRASHES_FORGIVEN) {
      this.#giveUp(server);
      return;
    }
    this.#become(server, { kind: "starting" });
    // Why it does not start again says more than that it ended.
    this.#beginAgain(server).catch((error: unknown) => this.#giveUp(server, error));
  }

  #giveUp(server: Server, reason?: unknown): void {
    if (this.#stopped) return;
    const problem = reason instanceof Problem ? reason : PROBLEMS.crashed();
    this.#become(server, { kind: "down", problem });
    for (const listener of this.#onGivenUp) listener(problem);
  }

  /** Ends the servers that are not wanted as they are. @returns Those that are to be started. */
  async #reconcile(forced: boolean): Promise<Server[]> {
    for (const { folder } of [...this.#members.values()]) {
      if (!this.#host.isOpen(folder)) this.#members.delete(folder.id);
    }
    const folders = [...this.#members.values()].map(({ folder }) => folder);
    // The state of a folder says what is wrong where there is no program for it.
    const found = await Promise.all(folders.map((folder) => this.#resolve(folder, true).catch(() => undefined)));
    const wanted = new Map(found.filter((server) => server !== undefined).map((server) => [server.key, server]));
    const unwanted = [...this.#servers.values()].filter(({ key }) => forced || !wanted.has(key));
    await Promise.all(unwanted.map((server) => this.#end(server)));
    const servers = [...wanted.values()].map(
      ({ key, launch, folder }) => this.#servers.get(key) ?? newServer(key, launch, folder),
    );
    for (const server of servers) this.#servers.set(server.key, server);
    this.#tellChange();
    return servers.filter(({ state }) => state.kind !== "ready");
  }

  #become(server: Server, state: ServerState): void {
    server.state = state;
    this.#tellChange();
  }

  #tellChange(): void {
    for (const listener of this.#onChange) listener();
  }

  #tellAnswer(answered: Answered): void {
    for (const listener of this.#onAnswer) listener(answered);
  }
}

function newServer(key: string, launch: Launch, folder: Folder): Server {
  return { key, launch, folder, session: undefined, starting: undefined, state: { kind: "idle" }, crashes: [] };
}

function listen<T>(listeners: Set<T>, listener: T): Disposable {
  listeners.add(listener);
  return { dispose: () => listeners.delete(listener) };
}

/** The outcome of some work, or the problem `cancelled` as soon as the token is. */
async function unlessCancelled<T>(work: Promise<T>, token: CancellationToken | undefined): Promise<T> {
  if (!token) return work;
  if (token.isCancellationRequested) {
    work.catch(() => undefined);
    throw PROBLEMS.cancelled();
  }
  let listener: Disposable | undefined;
  const cancelled = new Promise<never>((_resolve, reject) => {
    listener = token.onCancellationRequested(() => reject(PROBLEMS.cancelled()));
  });
  // Whichever comes second has nobody who waits for it.
  work.catch(() => undefined);
  cancelled.catch(() => undefined);
  try {
    return await Promise.race([work, cancelled]);
  } finally {
    listener?.dispose();
  }
}

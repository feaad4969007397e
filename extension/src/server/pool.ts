/**
 * The servers of this window: one for each distinct program and index, shared by the folders that need the same.
 * Tasks of one folder run one after the other, folders side by side; a look at all folders runs alone.
 */

import { type CancellationToken, EventEmitter, type Uri } from "vscode";
import type { Backend } from "../evidence/backend";
import { Problem } from "../problem";
import type { Method, Params, Result } from "../protocol/requests";
import { ManagedServer, type ServerState } from "./managedServer";
import { PROBLEMS } from "./problems";
import type { Launch, Resolution } from "./resolve";
import type { ServerSession } from "./session";
import { TaskQueue } from "./taskQueue";
import { cancellable } from "./time";

/** A folder of the workspace; all documents outside of the workspace share one, whose id is empty. */
export interface Folder {
  readonly id: string;
  readonly uri: Uri | undefined;
}

/** What the pool needs to know of the editor's workspace. */
export interface PoolWorkspace {
  /** The folder that a document or folder belongs to; without one, the window's main folder. */
  folderOf(scope: Uri | undefined): Folder;
  /** Whether the folder is still one of the workspace's. */
  isOpen(folder: Folder): boolean;
  /** @param fresh Looks anew at what may have changed without an event. */
  resolve(folder: Folder, fresh: boolean): Promise<Resolution>;
  /** What keeps the servers of folders apart besides the program. */
  variant(folder: Folder): string;
  createSession(launch: Launch, key: string, folder: Folder, ended: () => void): ServerSession;
}

/** What a server answered, for those who watch all answers. */
export interface Answered {
  readonly folder: Folder;
  readonly method: Method;
  /** The result or the problem, and nothing where the server was not reached. */
  readonly result?: unknown;
  readonly problem?: Problem;
}

interface Member {
  readonly folder: Folder;
  /** The key of the folder's server; undefined where no program was looked for, or none was found. */
  key?: string;
  /** What is wrong where no program was found. */
  problem?: Problem;
}

interface Found {
  readonly key: string;
  readonly launch: Launch;
  readonly folder: Folder;
}

/** How long an answer may take: longer than any should, so that a hanging server does not block callers for ever. */
const LIMIT_MS = 120_000;
const LIMITS_MS: Partial<Record<Method, number>> = {
  // The first question waits for the models.
  "adk/evidence": 600_000,
  // Its progress is shown with a way to cancel it.
  "adk/ingest": Number.POSITIVE_INFINITY,
  "adk/index": Number.POSITIVE_INFINITY,
};

export class ServerPool implements Backend {
  private readonly queue = new TaskQueue();
  private readonly servers = new Map<string, ManagedServer>();
  private readonly members = new Map<string, Member>();
  private readonly changes = new EventEmitter<void>();
  private readonly answers = new EventEmitter<Answered>();
  private readonly defeats = new EventEmitter<Problem>();
  private forced = false;
  private stopped = false;

  /** Fires when any state changed. */
  readonly onDidChange = this.changes.event;
  /** Fires with every answer. */
  readonly onDidAnswer = this.answers.event;
  /** Fires when a server ended too often to be started again. */
  readonly onDidGiveUp = this.defeats.event;

  constructor(private readonly workspace: PoolWorkspace) {}

  async request<M extends Method>(
    method: M,
    params: Params<M>,
    token?: CancellationToken,
    scope?: Uri,
  ): Promise<Result<M>> {
    const folder = this.workspace.folderOf(scope);
    const session = await cancellable(() => this.acquire(folder, true), token);
    try {
      const send = (own: CancellationToken) => session.request(method, params, own);
      const result = await cancellable(send, token, LIMITS_MS[method] ?? LIMIT_MS);
      this.answers.fire({ folder, method, result });
      return result;
    } catch (error) {
      if (error instanceof Problem) {
        this.answers.fire({ folder, method, problem: error });
      }
      throw error;
    }
  }

  /** Starts the folder's server if its program is known. A failure shows in the folder's state alone. */
  async warm(scope: Uri | undefined): Promise<void> {
    if (this.state(scope).kind === "idle") {
      await this.acquire(this.workspace.folderOf(scope), false).catch(() => undefined);
    }
  }

  /** Whether it is known if a server can be started for a folder. Where it is not, this begins to find out. */
  look(scope: Uri | undefined): boolean {
    const folder = this.workspace.folderOf(scope);
    const known = this.members.has(folder.id);
    if (!known) {
      this.queue.run(`look ${folder.id}`, () => this.resolve(folder, false), folder.id).catch(() => undefined);
    }
    return known;
  }

  /** Starts the folder's server. @throws Problem */
  async ensure(scope: Uri | undefined): Promise<void> {
    await this.acquire(this.workspace.folderOf(scope), true);
  }

  /**
   * Looks at every folder again and restarts the servers whose program or index has changed. Calls before the look
   * begins share one look.
   *
   * @param force Restarts all.
   */
  async reconcile(force = false): Promise<void> {
    this.forced ||= force;
    const wanted = await this.queue.run("reconcile", () => {
      const { forced } = this;
      this.forced = false;
      return this.lookAgain(forced);
    });
    await Promise.all(wanted.map((found) => this.startQueued(found).catch(() => undefined)));
  }

  /** Ends all servers at once, even those that are starting; no server starts afterwards. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([...this.servers.keys()].map((key) => this.end(key)));
  }

  /** How the folder's program was chosen. */
  explain(scope: Uri | undefined): Promise<Resolution> {
    return this.workspace.resolve(this.workspace.folderOf(scope), false);
  }

  /** The state of a folder's server. */
  state(scope: Uri | undefined): ServerState {
    const member = this.members.get(this.workspace.folderOf(scope).id);
    if (member?.problem) {
      return { kind: "down", problem: member.problem };
    }
    return (member?.key && this.servers.get(member.key)?.state) || { kind: "idle" };
  }

  /** Whether the server of a key is the one of a document's folder. */
  serves(key: string, scope: Uri): boolean {
    return this.members.get(this.workspace.folderOf(scope).id)?.key === key;
  }

  private async acquire(folder: Folder, fresh: boolean): Promise<ServerSession> {
    const ready = this.queue.isWaiting("reconcile") ? undefined : this.readySession(folder);
    if (ready) {
      return ready;
    }
    const acquire = async () => {
      const session = this.readySession(folder);
      if (session) {
        return session;
      }
      const found = await this.resolve(folder, fresh);
      if (this.stopped) {
        throw PROBLEMS.ended();
      }
      const server = this.serverOf(found);
      if (server.state.kind === "down" && server.state.problem.code === "server_crashed") {
        throw server.state.problem;
      }
      return server.start();
    };
    // A request must not join a waiting warm-up, which does not look afresh.
    return this.queue.run(`acquire ${fresh} ${folder.id}`, acquire, folder.id);
  }

  private readySession(folder: Folder): ServerSession | undefined {
    const key = this.members.get(folder.id)?.key;
    return key === undefined ? undefined : this.servers.get(key)?.readySession;
  }

  /** The folder's program. @throws Problem where there is none. */
  private async resolve(folder: Folder, fresh: boolean): Promise<Found> {
    const member: Member = { folder };
    // Read at the same moment as the program's settings: both may change while programs are looked at.
    const variant = this.workspace.variant(folder);
    const resolution = await this.workspace.resolve(folder, fresh);
    const before = this.members.get(folder.id)?.key;
    this.members.set(folder.id, member);
    if ("problem" in resolution) {
      member.problem = resolution.problem;
      this.changes.fire();
      throw resolution.problem;
    }
    const { launch } = resolution;
    member.key = `${launch.key} ${variant}`;
    if (member.key !== before) {
      // The server may be another folder's, ready since long.
      this.changes.fire();
    }
    return { key: member.key, launch, folder };
  }

  /** The server of a program, known or new. */
  private serverOf(found: Found): ManagedServer {
    const { key, launch, folder } = found;
    const known = this.servers.get(key);
    if (known) {
      return known;
    }
    const server = new ManagedServer(launch, {
      createSession: (ended) => this.workspace.createSession(launch, key, folder, ended),
      changed: () => this.changes.fire(),
      // The reason why the server does not start again says more than its end.
      crashed: () => void this.startQueued(found).catch((error: unknown) => server.giveUp(error)),
      gaveUp: (problem) => this.defeats.fire(problem),
    });
    this.servers.set(key, server);
    return server;
  }

  /** Starts a server, unless the server was replaced meanwhile. */
  private startQueued({ key, folder }: Found): Promise<void> {
    const server = this.servers.get(key);
    const start = async () => {
      if (server && !this.stopped && this.servers.get(key) === server) {
        await server.start();
      }
    };
    return this.queue.run(`start ${key}`, start, folder.id);
  }

  private async end(key: string): Promise<void> {
    const server = this.servers.get(key);
    this.servers.delete(key);
    await server?.stop();
    this.changes.fire();
  }

  /** Ends the servers that no folder needs in their present form. @returns The servers to start. */
  private async lookAgain(forced: boolean): Promise<Found[]> {
    for (const { folder, key } of [...this.members.values()]) {
      // A folder whose server nobody has asked for is looked at again.
      if (!this.workspace.isOpen(folder) || (key !== undefined && !this.servers.has(key))) {
        this.members.delete(folder.id);
      }
    }
    const folders = [...this.members.values()].map(({ folder }) => folder);
    // Where there is no program for a folder, the folder's state says what is wrong.
    const found = await Promise.all(folders.map((folder) => this.resolve(folder, true).catch(() => undefined)));
    const wanted = new Map(found.filter((one) => one !== undefined).map((one) => [one.key, one]));
    const unwanted = [...this.servers.keys()].filter((key) => forced || !wanted.has(key));
    await Promise.all(unwanted.map((key) => this.end(key)));
    this.changes.fire();
    return [...wanted.values()].filter((one) => this.serverOf(one).state.kind !== "ready");
  }
}

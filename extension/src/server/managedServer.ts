/** One server of the window: its start, its state, and what follows when it ends unexpectedly. */

import { Problem } from "../problem";
import { PROBLEMS } from "./problems";
import type { Launch } from "./resolve";
import type { ServerSession } from "./session";

export type ServerState =
  /** Nobody has asked yet. */
  | { readonly kind: "idle" }
  | { readonly kind: "starting" }
  | { readonly kind: "ready"; readonly launch: Launch }
  /** There is no program to start, it could not be started, or it ended again and again. */
  | { readonly kind: "down"; readonly problem: Problem };

export interface ServerEvents {
  createSession(ended: () => void): ServerSession;
  changed(): void;
  /** The server has ended and is to be started again. */
  crashed(): void;
  /** The server is not started again by itself. */
  gaveUp(problem: Problem): void;
}

const CRASHES_FORGIVEN = 3;
const CRASH_WINDOW_MS = 3 * 60_000;

export class ManagedServer {
  private current: ServerState = { kind: "idle" };
  private session: ServerSession | undefined;
  private starting: Promise<ServerSession> | undefined;
  private crashes: number[] = [];
  private stopped = false;

  constructor(
    readonly launch: Launch,
    private readonly events: ServerEvents,
  ) {}

  get state(): ServerState {
    return this.current;
  }

  get readySession(): ServerSession | undefined {
    return this.current.kind === "ready" ? this.session : undefined;
  }

  /** Starts the server unless it is ready; concurrent calls wait for the same start. @throws Problem */
  async start(): Promise<ServerSession> {
    if (this.readySession) {
      return this.readySession;
    }
    this.starting ??= this.begin().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  /** Ends the server for good, even while it starts. */
  async stop(): Promise<void> {
    const { session } = this;
    this.stopped = true;
    this.session = undefined;
    await session?.stop();
  }

  /** Leaves the server off. */
  giveUp(reason: unknown): void {
    if (this.stopped) {
      return;
    }
    const problem = reason instanceof Problem ? reason : PROBLEMS.crashed();
    this.become({ kind: "down", problem });
    this.events.gaveUp(problem);
  }

  private async begin(): Promise<ServerSession> {
    if (this.stopped) {
      throw PROBLEMS.ended();
    }
    const session = this.events.createSession(() => {
      if (this.session === session) {
        this.crash();
      }
    });
    this.session = session;
    this.become({ kind: "starting" });
    try {
      await session.start();
    } catch (error) {
      this.session = undefined;
      const problem = error instanceof Problem ? error : PROBLEMS.startFailed(this.launch.command);
      this.become({ kind: "down", problem });
      throw problem;
    }
    if (this.stopped) {
      // When it was stopped there may have been no process yet that could be ended.
      await session.stop();
      throw PROBLEMS.ended();
    }
    this.become({ kind: "ready", launch: this.launch });
    return session;
  }

  private crash(): void {
    this.session = undefined;
    if (this.stopped) {
      return;
    }
    const now = Date.now();
    this.crashes = [...this.crashes.filter((time) => now - time < CRASH_WINDOW_MS), now];
    if (this.crashes.length > CRASHES_FORGIVEN) {
      this.giveUp(PROBLEMS.crashed());
      return;
    }
    this.become({ kind: "starting" });
    this.events.crashed();
  }

  private become(state: ServerState): void {
    this.current = state;
    this.events.changed();
  }
}

/**
 * Diagnostics before Get Started: in a folder whose server cannot start, a small program checks the code. The extension
 * brings it along, and any Python runs it without a package. It ends as soon as the folder's server is ready.
 */

import type { Disposable, LogOutputChannel } from "vscode";
import type { ServerState } from "./managedServer";
import type { Folder, PoolWorkspace } from "./pool";
import type { ServerSession } from "./session";

/** Stands for the key of a server of the pool. */
export const CHECKER = "checker";

export interface CheckerParts {
  readonly log: Pick<LogOutputChannel, "info">;
  /** The folders of the window that may be checked: trusted, on a disk, and known to use the ADK. */
  folders(): readonly Folder[];
  state(folder: Folder): ServerState;
  /** Calls back when either may have changed. */
  onDidChange(listener: () => void): Disposable;
  /** @throws Problem where no Python is new enough. */
  findPython(folder: Folder): Promise<string>;
  readonly createSession: PoolWorkspace["createSession"];
}

export class Checkers implements Disposable {
  /** By the folders' ids. What has failed stays here, so that it is not tried again and again. */
  private readonly running = new Map<string, { session?: ServerSession }>();
  private readonly listener: Disposable;

  constructor(
    private readonly program: string,
    private readonly parts: CheckerParts,
  ) {
    this.listener = parts.onDidChange(() => this.look(parts.folders()));
  }

  dispose(): void {
    this.listener.dispose();
    this.look([]);
  }

  private look(folders: readonly Folder[]): void {
    const kinds = new Map(folders.map((folder) => [folder.id, this.parts.state(folder).kind]));
    for (const [id, { session }] of [...this.running]) {
      if (!kinds.has(id) || kinds.get(id) === "ready") {
        this.running.delete(id);
        void session?.stop();
      }
    }
    for (const folder of folders) {
      if (kinds.get(folder.id) === "down" && !this.running.has(folder.id)) {
        // Nobody has asked for it: the log alone tells.
        this.start(folder).catch((error: Error) => this.parts.log.info(`The code is not checked: ${error.message}`));
      }
    }
  }

  private async start(folder: Folder): Promise<void> {
    const own: { session?: ServerSession } = {};
    this.running.set(folder.id, own);
    const command = await this.parts.findPython(folder);
    if (this.running.get(folder.id) !== own) {
      return;
    }
    // Neither packages nor variables count, and nothing is written into the extension's folder.
    const args = ["-I", "-S", "-B", "-X", "utf8", this.program];
    const launch = { command, args, isolated: true, key: CHECKER, origin: "interpreter", version: null } as const;
    own.session = this.parts.createSession(launch, CHECKER, folder, () => undefined);
    await own.session.start();
    if (this.running.get(folder.id) !== own) {
      // When it was stopped there may have been no process yet that could be ended.
      await own.session.stop();
    }
  }
}

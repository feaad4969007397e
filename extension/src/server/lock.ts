/** A lock between windows, also of different processes: a file that its holder keeps fresh. */

import { randomBytes } from "node:crypto";
import fs from "node:fs/promises";

const FRESH_MS = 30_000;
const RENEW_MS = 5_000;

export class WindowLock {
  private renewal: NodeJS.Timeout | undefined;

  constructor(private readonly file: string) {}

  /**
   * Takes the lock if nobody has it. A lock that a closed window left behind counts as free.
   *
   * @throws where the file cannot be made at all.
   */
  async take(): Promise<boolean> {
    if (await isLeftBehind(this.file)) {
      await this.bury();
    }
    try {
      await fs.writeFile(this.file, "", { flag: "wx" });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") {
        return false;
      }
      throw error;
    }
    this.renewal = setInterval(() => {
      const now = new Date();
      fs.utimes(this.file, now, now).catch(() => undefined);
    }, RENEW_MS);
    this.renewal.unref();
    return true;
  }

  async release(): Promise<void> {
    clearInterval(this.renewal);
    await fs.rm(this.file, { force: true });
  }

  /** Moves away a lock that was left behind; only one of several windows succeeds. */
  private async bury(): Promise<void> {
    const grave = `${this.file}.${randomBytes(4).toString("hex")}`;
    try {
      await fs.rename(this.file, grave);
    } catch {
      return;
    }
    // Another window may have been faster, and this be its new lock: that goes back.
    if (!(await isLeftBehind(grave))) {
      await fs.link(grave, this.file).catch(() => undefined);
    }
    await fs.rm(grave, { force: true });
  }
}

async function isLeftBehind(file: string): Promise<boolean> {
  try {
    return Date.now() - (await fs.stat(file)).mtimeMs > FRESH_MS;
  } catch {
    return false;
  }
}

/** Short child processes: a probe of an interpreter, the steps of a set-up. */

import { spawn } from "node:child_process";
import readline from "node:readline";

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Gets each line of both outputs as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface Finished {
  /** The exit status; null where the program could not be started or was ended. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly end: "exited" | "not_started" | "timed_out" | "cancelled";
}

export type Run = (command: string, args: readonly string[], options: RunOptions) => Promise<Finished>;

/** Runs a program to its end; never rejects. When its time is over, what it started ends with it. */
export const run: Run = (command, args, options) =>
  new Promise((resolve) => {
    if (options.signal?.aborted) {
      resolve({ code: null, stdout: "", stderr: "", end: "cancelled" });
      return;
    }
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      // A separate process group, which can be ended as a whole.
      detached: process.platform !== "win32",
    });
    const out: string[] = [];
    const err: string[] = [];
    let end: Finished["end"] = "exited";
    const collect = (stream: NodeJS.ReadableStream, lines: string[]) =>
      readline.createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
        lines.push(line);
        options.onLine?.(line);
      });
    collect(child.stdout, out);
    collect(child.stderr, err);

    const stop = (why: "timed_out" | "cancelled") => {
      end = why;
      endTree(child.pid);
    };
    const cancel = () => stop("cancelled");
    options.signal?.addEventListener("abort", cancel, { once: true });
    const timer = options.timeoutMs ? setTimeout(() => stop("timed_out"), options.timeoutMs) : undefined;
    const finish = (code: number | null) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", cancel);
      resolve({ code, stdout: out.join("\n"), stderr: err.join("\n"), end });
    };
    child.once("error", (error) => {
      end = end === "exited" ? "not_started" : end;
      err.push(error.message);
      finish(null);
    });
    child.once("close", finish);
  });

function endTree(pid: number | undefined): void {
  if (pid === undefined) {
    return;
  }
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { windowsHide: true }).once("error", () => undefined);
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

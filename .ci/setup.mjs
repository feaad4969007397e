// What the scripts that set something up share: a lock, quiet steps, failures told in a sentence. No npm dependency:
// this runs before any could be installed.

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = 20;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

export const WINDOWS = process.platform === "win32";
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** A failure that the user can mend: one sentence, and lines that show its cause. */
export class SetupError extends Error {
  constructor(message, detail = "") {
    super(message);
    this.detail = detail;
  }
}

/** Tells the user something, on stderr. */
export function say(text) {
  process.stderr.write(`adk-evidence: ${text}\n`);
}

// --- Lock ----------------------------------------------------------------------------------------------------------

function takeLock(lock) {
  try {
    fs.mkdirSync(lock);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  fs.writeFileSync(path.join(lock, "pid"), String(process.pid));
  return true;
}

// The holder renews the lock each second. A silent one is dead if its process is; after two minutes in any case, since
// the process number may have a new owner by then.
function lockIsAbandoned(lock) {
  let silentFor;
  try {
    silentFor = Date.now() - fs.statSync(lock).mtimeMs;
  } catch {
    return false; // Released in this moment.
  }
  return silentFor > 120_000 || (silentFor > 10_000 && !isAlive(lockHolder(lock)));
}

function lockHolder(lock) {
  try {
    return Number(fs.readFileSync(path.join(lock, "pid"), "utf8"));
  } catch {
    return NaN;
  }
}

/** Whether a process with this number exists. */
export function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function breakLock(lock) {
  const aside = `${lock}.${process.pid}`;
  try {
    fs.renameSync(lock, aside);
  } catch {
    return; // Another waiting run was quicker.
  }
  fs.rmSync(aside, { recursive: true, force: true });
}

// The step of the set-up that is under way, if any.
let step = null;

function interruptSetup(signal) {
  step?.kill(signal);
  process.exit(128 + os.constants.signals[signal]);
}

/**
 * Runs `action` while no other process does the same.
 *
 * @param lock A folder that exists as long as the lock is held; it lies beside what is set up, which may be made anew.
 * @param what Named to the user while another run is waited for.
 */
export async function withLock(lock, what, action) {
  let told = false;
  while (!takeLock(lock)) {
    if (lockIsAbandoned(lock)) {
      breakLock(lock);
      continue;
    }
    if (!told) say(`waiting for another run that is setting up ${what}`);
    told = true;
    await delay(200);
  }
  const release = () => fs.rmSync(lock, { recursive: true, force: true });
  const renewal = setInterval(() => fs.utimes(lock, new Date(), new Date(), () => {}), 1000);
  process.once("exit", release);
  for (const signal of SIGNALS) process.on(signal, interruptSetup);
  try {
    return await action();
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, interruptSetup);
    clearInterval(renewal);
    process.removeListener("exit", release);
    release();
  }
}

// --- Steps and commands --------------------------------------------------------------------------------------------

/** The end of what a step said. */
export function lastLines(output) {
  return output.trimEnd().split(/\r?\n/).slice(-8).join("\n");
}

/** Runs a step of the set-up; on a terminal its latest line is shown in passing. Returns {status, output}. */
export async function runQuietly(command, args, options = {}) {
  step = spawn(command, args, { cwd: ROOT, ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const collect = (text) => {
    output += text;
    showInPassing(text.trimEnd().split("\n").pop());
  };
  for (const stream of [step.stdout, step.stderr]) stream.setEncoding("utf8").on("data", collect);
  const { code } = await ended(step);
  step = null;
  showInPassing("");
  return { status: code ?? 1, output };
}

function showInPassing(line) {
  if (!process.stderr.isTTY) return;
  const width = Math.max((process.stderr.columns ?? 80) - 1, 20);
  process.stderr.write(`\r\x1b[K${line.trim().slice(0, width)}`);
}

/** How a child ended: {code, signal}, one of them null. */
export function ended(child) {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

/** Runs the child that `start` makes in the foreground. Returns {code, signal}, one of them null. */
export async function runInForeground(start) {
  let child = null;
  const forward = (signal) => {
    // Ctrl-C in a terminal reaches the child by itself; a second one would interrupt its tidying up.
    if (signal === "SIGINT" && process.stdin.isTTY) return;
    child.kill(signal);
  };
  // Before the start of the child, which may be signalled as soon as it is seen; they are delivered after this turn.
  for (const signal of SIGNALS) process.on(signal, forward);
  child = start();
  const result = await ended(child);
  for (const signal of SIGNALS) process.removeListener(signal, forward);
  return result;
}

/** Ends this process as the child ended. */
export function endLike({ code, signal }) {
  if (signal && !WINDOWS) process.kill(process.pid, signal);
  else process.exitCode = code ?? 1;
}

/** Runs `main`; what the user can mend is told in a sentence, without a stack trace. */
export async function tellFailures(main) {
  try {
    if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
      throw new SetupError(`Node ${OLDEST_NODE} or newer is needed, but this is ${process.versions.node}.`);
    }
    await main();
  } catch (error) {
    // Errors of the operating system (no space, read-only folder) carry a code; others are mistakes of this script.
    if (!(error instanceof SetupError) && !error.syscall) throw error;
    say(error.message);
    if (error.detail) process.stderr.write(`${error.detail.replace(/^/gm, "    ")}\n`);
    process.exitCode = 1;
  }
}

/** Whether the module at this URL is the script that Node was started with. */
export function isMain(url) {
  return process.argv[1] !== undefined && fs.realpathSync(process.argv[1]) === fileURLToPath(url);
}

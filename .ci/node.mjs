#!/usr/bin/env node
// Runs a Node script with the project's npm packages (node_modules), which it installs or mends first.
//
//     node .ci/node.mjs SCRIPT [ARGUMENT...]
//
// SCRIPT is a path from the repository's root, or the name of a program that a package brings. Arguments, standard
// streams, signals and the exit status pass through unchanged; all words of the set-up go to stderr.

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import {
  ROOT,
  SetupError,
  WINDOWS,
  endLike,
  isMain,
  lastLines,
  runInForeground,
  runQuietly,
  say,
  tellFailures,
  withLock,
} from "./setup.mjs";

const MODULES = path.join(ROOT, "node_modules");
const PROGRAMS = path.join(MODULES, ".bin");
const LOCK_FILE = path.join(ROOT, "package-lock.json");
// npm writes this at the end of an installation and says in it what it installed.
const INSTALLED = path.join(MODULES, ".package-lock.json");
const LOCK = path.join(ROOT, ".node_modules.lock");

function packagesOf(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")).packages;
  } catch {
    return null;
  }
}

/** Whether node_modules holds what the lock file says. Packages of other platforms may be missing. */
function isReady() {
  const wanted = packagesOf(LOCK_FILE);
  const installed = packagesOf(INSTALLED);
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([where, { version, integrity, optional }]) => {
    if (where === "") return true;
    const found = installed[where];
    return found ? found.version === version && found.integrity === integrity : Boolean(optional);
  });
}

/** Installs the packages of package-lock.json; returns at once where there is nothing to do. */
export async function ensureNodeModules() {
  if (isReady()) return;
  await withLock(LOCK, "node_modules", async () => {
    if (isReady()) return;
    const started = Date.now();
    say("installing the npm packages");
    const [program, ...before] = npmCommand();
    // No package that is used needs its script; one that is not would be compiled.
    const flags = ["--ignore-scripts", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
    const line = [...before, "ci", ...flags];
    const { status, output } = await runQuietly(program, line, { shell: program.endsWith(".cmd") });
    if (status !== 0) throw failure(output);
    say(`node_modules is ready (${Math.round((Date.now() - started) / 1000)} s)`);
  });
}

function failure(output) {
  const complaint = output.match(/.*\b(?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ERR_SOCKET_TIMEOUT)\b.*/);
  if (complaint) {
    return new SetupError(
      "npm could not reach the package registry; check the network, the proxy or npm's configuration.",
      complaint[0].trim(),
    );
  }
  // After its complaint npm explains its options.
  const told = output.split(/\n(?:npm error )?(?:Usage:|Clean install a project)/)[0];
  return new SetupError("npm could not install the packages of package-lock.json.", lastLines(told));
}

/**
 * The command line of npm, the one that started this process if there is such.
 *
 * @param node The Node that npm runs under; a package's install script may refuse any other version than its own.
 */
export function npmCommand(node = process.execPath) {
  const cli = process.env.npm_execpath;
  if (cli && /^npm(-cli)?\.[cm]?js$/.test(path.basename(cli))) return [node, cli];
  return [WINDOWS ? "npm.cmd" : "npm"];
}

/**
 * Environment variables for npm and for all programs that npm starts, so that they run under a chosen Node.
 *
 * @param node The path of that Node's executable.
 */
export function npmEnvironment(node) {
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` };
  // npm tells its version and Node's in here, and would hand on what the npm that started this process told.
  delete env.npm_config_user_agent;
  return env;
}

/** The environment variables with which programs of the packages are found. */
function environment() {
  const env = { ...process.env };
  const key = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  env[key] = env[key] ? `${PROGRAMS}${path.delimiter}${env[key]}` : PROGRAMS;
  return env;
}

/** Starts a script or a program of the packages; `options` are those of child_process.spawn. */
export function spawnNode(script, args, options = {}) {
  const program = path.join(PROGRAMS, WINDOWS ? `${script}.cmd` : script);
  const common = { stdio: "inherit", cwd: ROOT, env: environment(), ...options };
  if (!script.endsWith(".mjs") && fs.existsSync(program)) return spawn(program, args, { shell: WINDOWS, ...common });
  return spawn(process.execPath, [path.resolve(ROOT, script), ...args], common);
}

async function main([script, ...args]) {
  if (!script) throw new SetupError("usage: node .ci/node.mjs SCRIPT [ARGUMENT...]");
  await ensureNodeModules();
  endLike(await runInForeground(() => spawnNode(script, args)));
}

if (isMain(import.meta.url)) {
  await tellFailures(() => main(process.argv.slice(2)));
}

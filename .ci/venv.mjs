#!/usr/bin/env node
// Runs a command in the project's own Python environment (.venv), which it makes or mends first.
//
//     node .ci/venv.mjs [--dev] COMMAND [ARGUMENT...]
//
// --dev also installs the dependency group "dev" (test and lint tools). Arguments, standard streams, signals and the
// exit status pass through unchanged; all words of the set-up go to stderr. No npm dependency: this runs before any
// could be installed.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
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

const OLDEST_PYTHON = [3, 11];
// The first pip that reads dependency groups.
const PIP_WITH_GROUPS = "pip>=25.1";
const VENV = path.join(ROOT, ".venv");
const BIN = path.join(VENV, WINDOWS ? "Scripts" : "bin");
const VENV_PYTHON = executable("python");
// Present only when an installation ran to its end; what it holds says for what.
const STAMP = path.join(VENV, "adk-evidence-setup.json");
// Beside the environment, not inside: making the environment anew empties it.
const LOCK = path.join(ROOT, ".venv.lock");

function executable(name) {
  return path.join(BIN, WINDOWS ? `${name}.exe` : name);
}

// --- Python --------------------------------------------------------------------------------------------------------

// Python 2 must be able to parse it too, to be told that it is too old.
const PROBE = `
import sys
try:
    import ensurepip, venv
    able = 1
except ImportError:
    able = 0
print("%d.%d.%d|%d|%s" % (sys.version_info[0], sys.version_info[1], sys.version_info[2], able, sys.executable))
`;

function probe([command, ...args]) {
  const { status, stdout } = spawnSync(command, [...args, "-E", "-c", PROBE], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 30_000,
  });
  const answer = status === 0 && /^(\d+)\.(\d+)\.(\d+)\|([01])\|(.+)$/m.exec(stdout);
  if (!answer) return null;
  const version = answer.slice(1, 4).map(Number);
  return {
    version: version.join("."),
    recent: version[0] > OLDEST_PYTHON[0] || (version[0] === OLDEST_PYTHON[0] && version[1] >= OLDEST_PYTHON[1]),
    makesVenvs: answer[4] === "1",
    path: answer[5].trim(),
  };
}

/** The Python that the environment is made from: ADK_EVIDENCE_PYTHON and nothing else where it is set. */
function findPython() {
  const wanted = OLDEST_PYTHON.join(".");
  const chosen = process.env.ADK_EVIDENCE_PYTHON;
  const commands = chosen
    ? [[chosen]]
    : [["python3.13"], ["python3.12"], ["python3.11"], ["python3"], ["python"], ...(WINDOWS ? [["py", "-3"]] : [])];
  const rejected = [];
  for (const command of commands) {
    const python = probe(command);
    if (python?.recent && python.makesVenvs) return python;
    if (python) rejected.push(python);
  }
  const bare = rejected.find((python) => python.recent);
  if (bare) {
    throw new SetupError(
      `Python ${bare.version} (${bare.path}) lacks the venv and ensurepip modules; ` +
        "install them (on Debian and Ubuntu: the package python3-venv) and run this again.",
    );
  }
  const remedy = "install a newer one or set ADK_EVIDENCE_PYTHON to its path.";
  if (rejected.length > 0) {
    const { version, path: where } = rejected[0];
    throw new SetupError(`Python ${wanted} or newer is needed, but ${where} is ${version}; ${remedy}`);
  }
  if (chosen) throw new SetupError(`ADK_EVIDENCE_PYTHON is set to ${chosen}, which does not run as a Python.`);
  throw new SetupError(`Python ${wanted} or newer is needed and none was found; ${remedy}`);
}

// --- Set-up --------------------------------------------------------------------------------------------------------

function readStamp() {
  try {
    return JSON.parse(fs.readFileSync(STAMP, "utf8"));
  } catch {
    return null;
  }
}

/** What the environment depends on: should any of it differ from the stamp, the set-up runs. */
function currentState() {
  let interpreter = null;
  try {
    interpreter = fs.realpathSync(VENV_PYTHON);
  } catch {
    // No environment, or the Python that it was made from is gone.
  }
  const pyproject = createHash("sha256").update(fs.readFileSync(path.join(ROOT, "pyproject.toml"))).digest("hex");
  return { root: ROOT, interpreter, pyproject };
}

function venvIsSound(stamp, state) {
  const chosen = process.env.ADK_EVIDENCE_PYTHON;
  return (
    stamp !== null &&
    stamp.root === state.root && // Its scripts name their folder: a moved checkout needs a new one.
    state.interpreter !== null &&
    stamp.interpreter === state.interpreter &&
    (!chosen || chosen === stamp.chosen)
  );
}

function isReady(stamp, state, dev) {
  return venvIsSound(stamp, state) && stamp.pyproject === state.pyproject && (stamp.dev || !dev);
}

/** Makes or mends .venv; returns at once where there is nothing to do. */
export async function ensureVenv({ dev = false } = {}) {
  if (isReady(readStamp(), currentState(), dev)) return;
  await withLock(LOCK, ".venv", async () => {
    const stamp = readStamp();
    if (isReady(stamp, currentState(), dev)) return;
    const started = Date.now();
    const sound = venvIsSound(stamp, currentState());
    // From here to the end there is no stamp, so that an interrupted set-up is seen as such and begun anew.
    fs.rmSync(STAMP, { force: true });
    if (!sound) await makeVenv();
    const wanted = { dev: dev || Boolean(sound && stamp.dev) };
    try {
      await install(wanted);
    } catch (error) {
      // pip undoes what it could not finish: the old environment is as it was, and still out of date.
      if (sound) writeStamp(stamp);
      throw error;
    }
    const chosen = process.env.ADK_EVIDENCE_PYTHON ?? (sound ? stamp.chosen : null);
    writeStamp({ ...currentState(), ...wanted, chosen });
    say(`.venv is ready (${Math.round((Date.now() - started) / 1000)} s)`);
  });
}

function writeStamp(stamp) {
  fs.writeFileSync(`${STAMP}.new`, JSON.stringify(stamp, null, 2));
  fs.renameSync(`${STAMP}.new`, STAMP);
}

async function makeVenv() {
  const python = findPython();
  say(`making .venv with Python ${python.version}`);
  const { status, output } = await runQuietly(python.path, ["-m", "venv", "--clear", VENV]);
  if (status !== 0) throw new SetupError(`Python ${python.version} could not make ${VENV}.`, lastLines(output));
}

async function install({ dev }) {
  say(`installing the requirements${dev ? " and the development tools" : ""} (the first time takes a minute or two)`);
  if (dev) await pip(["install", PIP_WITH_GROUPS]);
  await pip(["install", "--editable", ROOT, ...(dev ? ["--group", `${path.join(ROOT, "pyproject.toml")}:dev`] : [])]);
}

async function pip([command, ...args]) {
  const env = { ...pythonEnvironment(), PIP_NO_INPUT: "1", PIP_DISABLE_PIP_VERSION_CHECK: "1", PIP_USER: "0" };
  const line = ["-m", "pip", command, "--progress-bar", "off", ...args];
  const { status, output } = await runQuietly(VENV_PYTHON, line, { env });
  if (status === 0) return;
  const unreachable =
    /.*(?:NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Max retries).*/g;
  const complaint = output.match(unreachable)?.pop();
  if (complaint) {
    throw new SetupError(
      "pip could not reach the Python package registry; check the network, the proxy or pip's configuration.",
      complaint.trim(),
    );
  }
  throw new SetupError("pip could not install the requirements.", lastLines(output));
}

// --- Commands in the environment -----------------------------------------------------------------------------------

/** The environment variables of an activated .venv. */
function pythonEnvironment() {
  const env = { ...process.env, VIRTUAL_ENV: VENV };
  delete env.PYTHONHOME;
  const key = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  env[key] = env[key] ? `${BIN}${path.delimiter}${env[key]}` : BIN;
  return env;
}

/** Starts a command of .venv; `options` are those of child_process.spawn. */
export function spawnInVenv(command, args, options = {}) {
  const file = executable(command);
  if (!fs.existsSync(file)) throw new SetupError(`.venv has no command ${command}.`);
  return spawn(file, args, { stdio: "inherit", env: pythonEnvironment(), ...options });
}

/** Runs a command of .venv in the foreground. Returns {code, signal}, one of them null. */
export function runInVenv(command, args, options = {}) {
  return runInForeground(() => spawnInVenv(command, args, options));
}

async function main(args) {
  const dev = args[0] === "--dev";
  const [command, ...rest] = dev ? args.slice(1) : args;
  if (!command) throw new SetupError("usage: node .ci/venv.mjs [--dev] COMMAND [ARGUMENT...]");
  await ensureVenv({ dev });
  endLike(await runInVenv(command, rest));
}

if (isMain(import.meta.url)) {
  await tellFailures(() => main(process.argv.slice(2)));
}

#!/usr/bin/env node
// Runs a command in one of the project's own Python environments, which it makes or mends first.
//
//     node .ci/venv.mjs [--dev | --adk] COMMAND [ARGUMENT...]
//
// The environment is .venv; --dev also installs the dependency group "dev" (test and lint tools) into it. --adk takes
// .venv-adk, which has the group "adk": the ADK and what tests it. Arguments, standard streams, signals and the exit
// status pass through unchanged; all words of the set-up go to stderr. No npm dependency: this runs before any could be
// installed.

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
const PYPROJECT = path.join(ROOT, "pyproject.toml");
/** The dependency groups, as they are told to the user. */
const GROUPS = { dev: "the development tools", adk: "the ADK" };

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

const NAMES = ["python3.13", "python3.12", "python3.11", "python3.14", "python3", "python"];

/** The Python that the environment is made from: ADK_EVIDENCE_PYTHON and nothing else where it is set. */
function findPython() {
  const wanted = OLDEST_PYTHON.join(".");
  const chosen = process.env.ADK_EVIDENCE_PYTHON;
  const commands = chosen
    ? [[chosen]]
    : [...NAMES.map((name) => [name]), ...(WINDOWS ? [["py", "-3"]] : [])];
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

// --- Environments --------------------------------------------------------------------------------------------------

/** A Python environment in a folder of the project, with the project and dependency groups of it installed. */
class Environment {
  /** @param {string} name Its folder. */
  constructor(name) {
    this.name = name;
    this.folder = path.join(ROOT, name);
    this.bin = path.join(this.folder, WINDOWS ? "Scripts" : "bin");
    this.python = this.executable("python");
    // Present only when an installation ran to its end; what it holds says for what.
    this.stamp = path.join(this.folder, "adk-evidence-setup.json");
    // Beside the environment, not inside: making the environment anew empties it.
    this.lock = path.join(ROOT, `${name}.lock`);
  }

  executable(name) {
    return path.join(this.bin, WINDOWS ? `${name}.exe` : name);
  }

  /** Makes or mends it; returns at once where there is nothing to do. Groups that it has already stay. */
  async ensure(groups) {
    if (this.isReady(this.readStamp(), groups)) return;
    await withLock(this.lock, this.name, async () => {
      const stamp = this.readStamp();
      if (this.isReady(stamp, groups)) return;
      const started = Date.now();
      const sound = this.isSound(stamp);
      // From here to the end there is no stamp, so that an interrupted set-up is seen as such and begun anew.
      fs.rmSync(this.stamp, { force: true });
      if (!sound) await this.make();
      const wanted = [...new Set([...(sound ? stamp.groups : []), ...groups])];
      try {
        await this.install(wanted);
      } catch (error) {
        // pip undoes what it could not finish: the old environment is as it was, and still out of date.
        if (sound) this.writeStamp(stamp);
        throw error;
      }
      const chosen = process.env.ADK_EVIDENCE_PYTHON ?? (sound ? stamp.chosen : null);
      this.writeStamp({ ...this.state(), groups: wanted, chosen });
      say(`${this.name} is ready (${Math.round((Date.now() - started) / 1000)} s)`);
    });
  }

  /** What it depends on: should any of it differ from the stamp, the set-up runs. */
  state() {
    let interpreter = null;
    try {
      interpreter = fs.realpathSync(this.python);
    } catch {
      // No environment, or the Python that it was made from is gone.
    }
    const pyproject = createHash("sha256").update(fs.readFileSync(PYPROJECT)).digest("hex");
    return { root: ROOT, interpreter, pyproject };
  }

  isSound(stamp) {
    const chosen = process.env.ADK_EVIDENCE_PYTHON;
    const { root, interpreter } = this.state();
    return (
      Array.isArray(stamp?.groups) &&
      stamp.root === root && // Its scripts name their folder: a moved checkout needs a new one.
      interpreter !== null &&
      stamp.interpreter === interpreter &&
      (!chosen || chosen === stamp.chosen)
    );
  }

  isReady(stamp, groups) {
    return (
      this.isSound(stamp) &&
      stamp.pyproject === this.state().pyproject &&
      groups.every((group) => stamp.groups.includes(group))
    );
  }

  readStamp() {
    try {
      return JSON.parse(fs.readFileSync(this.stamp, "utf8"));
    } catch {
      return null;
    }
  }

  writeStamp(stamp) {
    fs.writeFileSync(`${this.stamp}.new`, JSON.stringify(stamp, null, 2));
    fs.renameSync(`${this.stamp}.new`, this.stamp);
  }

  async make() {
    const python = findPython();
    say(`making ${this.name} with Python ${python.version}`);
    // Through a link, --clear would empty the environment of another checkout.
    if (fs.lstatSync(this.folder, { throwIfNoEntry: false })?.isSymbolicLink()) fs.unlinkSync(this.folder);
    const { status, output } = await runQuietly(python.path, ["-m", "venv", "--clear", this.folder]);
    if (status !== 0) throw new SetupError(`Python ${python.version} could not make ${this.folder}.`, lastLines(output));
  }

  async install(groups) {
    const what = ["the requirements", ...groups.map((group) => GROUPS[group])].join(" and ");
    say(`installing ${what} (the first time takes a minute or two)`);
    if (groups.length > 0) await this.pip(["install", PIP_WITH_GROUPS]);
    await this.pip(["install", "--editable", ROOT, ...groups.flatMap((group) => ["--group", `${PYPROJECT}:${group}`])]);
  }

  async pip([command, ...args]) {
    const env = { ...this.variables(), PIP_NO_INPUT: "1", PIP_DISABLE_PIP_VERSION_CHECK: "1", PIP_USER: "0" };
    const line = ["-m", "pip", command, "--progress-bar", "off", ...args];
    const { status, output } = await runQuietly(this.python, line, { env });
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

  /** The environment variables of one that is activated. */
  variables() {
    const env = { ...process.env, VIRTUAL_ENV: this.folder };
    delete env.PYTHONHOME;
    const key = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
    env[key] = env[key] ? `${this.bin}${path.delimiter}${env[key]}` : this.bin;
    return env;
  }

  /** Starts a command of it; `options` are those of child_process.spawn. */
  spawn(command, args, options = {}) {
    const file = this.executable(command);
    if (!fs.existsSync(file)) throw new SetupError(`${this.name} has no command ${command}.`);
    return spawn(file, args, { stdio: "inherit", env: this.variables(), ...options });
  }

  /** Runs a command of it in the foreground. Returns {code, signal}, one of them null. */
  run(command, args, options = {}) {
    return runInForeground(() => this.spawn(command, args, options));
  }
}

const VENV = new Environment(".venv");
const ADK_VENV = new Environment(".venv-adk");

/** Makes or mends .venv; returns at once where there is nothing to do. */
export function ensureVenv({ dev = false } = {}) {
  return VENV.ensure(dev ? ["dev"] : []);
}

/** Starts a command of .venv; `options` are those of child_process.spawn. */
export function spawnInVenv(command, args, options = {}) {
  return VENV.spawn(command, args, options);
}

/** Runs a command of .venv in the foreground. Returns {code, signal}, one of them null. */
export function runInVenv(command, args, options = {}) {
  return VENV.run(command, args, options);
}

/** Makes or mends .venv-adk, which has the ADK and what tests it. */
export function ensureAdkVenv() {
  return ADK_VENV.ensure(["adk"]);
}

/** Runs a command of .venv-adk in the foreground. Returns {code, signal}, one of them null. */
export function runInAdkVenv(command, args, options = {}) {
  return ADK_VENV.run(command, args, options);
}

const CHOICES = {
  "--dev": [VENV, ["dev"]],
  "--adk": [ADK_VENV, ["adk"]],
};

async function main(args) {
  const choice = CHOICES[args[0]];
  const [environment, groups] = choice ?? [VENV, []];
  const [command, ...rest] = choice ? args.slice(1) : args;
  if (!command) throw new SetupError("usage: node .ci/venv.mjs [--dev | --adk] COMMAND [ARGUMENT...]");
  await environment.ensure(groups);
  endLike(await environment.run(command, rest));
}

if (isMain(import.meta.url)) {
  await tellFailures(() => main(process.argv.slice(2)));
}

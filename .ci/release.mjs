#!/usr/bin/env node
// What a release must hold to before anything of it is built or published.
//
//     node .ci/release.mjs check [--tag TAG] [--repository ADDRESS]
//     node .ci/release.mjs address ADDRESS      writes the repository's address where it is stated
//
// The address of the repository is stated in package.json ("repository"); what else names it is compared with that. As
// long as nobody has chosen an address, it is one of the reserved domain .invalid, which belongs to nobody, and the check
// refuses it. No npm dependency: this runs before any could be installed.

import * as fs from "node:fs";
import path from "node:path";
import { isMain, ROOT, SetupError, tellFailures } from "./setup.mjs";

const ADDRESS = /^https:\/\/github\.com\/[A-Za-z0-9-]{1,39}\/[A-Za-z0-9._-]{1,100}$/;
const VERSION = /^\d+\.\d+\.\d+$/;
const PACKAGE = "server/adk_evidence/__init__.py";
const USAGE = "usage: node .ci/release.mjs check [--tag TAG] [--repository ADDRESS] | address ADDRESS";

/** What is stated, by the file that states it; `root` is a checkout. */
function stated(root) {
  const read = (name) => fs.readFileSync(path.join(root, name), "utf8");
  const manifest = JSON.parse(read("package.json"));
  const lock = JSON.parse(read("package-lock.json"));
  const pyproject = read("pyproject.toml");
  return {
    manifest,
    versions: [
      ["package-lock.json", lock.version],
      ["package-lock.json", lock.packages[""].version],
      ["pyproject.toml", /^version = "([^"]+)"$/m.exec(pyproject)?.[1]],
      [PACKAGE, /^__version__ = "([^"]+)"$/m.exec(read(PACKAGE))?.[1]],
    ],
    urls: [...pyproject.matchAll(/^[A-Z]\w+ = "(https:\/\/[^"]+)"$/gm)].map(([, url]) => url),
    changelog: read("CHANGELOG.md"),
  };
}

/** The changelog's section of a version: {date, text}; null if there is none. */
function sectionOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const text = sections.find((section) => section.startsWith(`[${version}]`));
  if (text === undefined) return null;
  const [title, ...lines] = text.split("\n");
  return { date: /^\[[^\]]+\] - (\d{4}-\d{2}-\d{2})$/.exec(title)?.[1] ?? null, text: lines.join("\n").trim() };
}

/**
 * What keeps a checkout from being released, in sentences.
 *
 * @param {{tag?: string, repository?: string}} release What the workflow knows: the tag, and the address it runs for.
 */
function problemsOf(root, { tag, repository } = {}) {
  const { manifest, versions, urls, changelog } = stated(root);
  const { version } = manifest;
  const problems = [];
  if (!VERSION.test(version)) problems.push(`package.json has the version ${version}, which is not MAJOR.MINOR.PATCH.`);
  for (const [file, other] of versions) {
    if (other !== version) problems.push(`${file} has the version ${other}, package.json has ${version}.`);
  }
  if (tag !== undefined && tag !== `v${version}`) problems.push(`The tag is ${tag}; this version's tag is v${version}.`);
  const section = sectionOf(changelog, version);
  if (section === null) problems.push(`CHANGELOG.md has no section [${version}].`);
  else if (section.date === null) problems.push(`CHANGELOG.md gives no date for [${version}]: "## [${version}] - YYYY-MM-DD".`);
  else if (section.text === "") problems.push(`CHANGELOG.md says nothing of [${version}].`);
  const address = manifest.repository.url;
  if (!ADDRESS.test(address)) {
    problems.push(`${address} is no repository on GitHub: state it with \`node .ci/release.mjs address ADDRESS\`.`);
  }
  if (repository !== undefined && repository !== address) {
    problems.push(`This is ${repository}, package.json names ${address}.`);
  }
  for (const other of [manifest.bugs.url, manifest.homepage, ...urls]) {
    if (!other.startsWith(address) || !/^(?:[/#]|$)/.test(other.slice(address.length))) {
      problems.push(`${other} is not of ${address}.`);
    }
  }
  return problems;
}

/** Writes another address wherever the old one is stated. */
function writeAddress(root, address) {
  if (!ADDRESS.test(address)) throw new SetupError(`${address} is not of the form https://github.com/OWNER/NAME.`);
  const old = stated(root).manifest.repository.url;
  for (const name of ["package.json", "pyproject.toml"]) {
    const file = path.join(root, name);
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").replaceAll(old, address));
  }
}

/** The values of the options that follow a command, by their names. */
function optionsOf(args) {
  const options = {};
  for (let at = 0; at < args.length; at += 2) {
    const name = /^--(tag|repository)$/.exec(args[at])?.[1];
    if (name === undefined || args[at + 1] === undefined) throw new SetupError(USAGE);
    options[name] = args[at + 1];
  }
  return options;
}

function main([command, ...args]) {
  if (command === "check") {
    const problems = problemsOf(ROOT, optionsOf(args));
    for (const problem of problems) console.error(problem);
    console.log(problems.length === 0 ? "Ready to be released." : "Not ready to be released.");
    process.exitCode = problems.length === 0 ? 0 : 1;
  } else if (command === "address" && args.length === 1) {
    writeAddress(ROOT, args[0]);
  } else {
    throw new SetupError(USAGE);
  }
}

if (isMain(import.meta.url)) {
  await tellFailures(() => main(process.argv.slice(2)));
}

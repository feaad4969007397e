#!/usr/bin/env node
// The project's checks.
//
//     node .ci/test.mjs                  linters, then all tests of the server and of the extension
//     node .ci/test.mjs --lint           the linters alone
//     node .ci/test.mjs --quick          the linters, and the tests that are not marked slow
//     node .ci/test.mjs ARGUMENT...      pytest alone, with these arguments
//
// A part that fails does not hide the others; the last lines say what failed and what was skipped.

import path from "node:path";
import { ensureNodeModules, spawnNode } from "./node.mjs";
import { withScratch } from "./scratch.mjs";
import { ROOT, SetupError, endLike, ended, tellFailures } from "./setup.mjs";
import { ensureAdkVenv, ensureVenv, runInAdkVenv, runInVenv, spawnInVenv } from "./venv.mjs";

const EXTENSION = path.join(ROOT, "extension");
const QUIET = { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] };
const LINTERS = [
  ["ruff check", () => spawnInVenv("ruff", ["check", "--output-format", "concise", "."], QUIET)],
  ["ruff format", () => spawnInVenv("ruff", ["format", "--check", "--output-format", "concise", "."], QUIET)],
  ["imports", () => spawnInVenv("lint-imports", ["--no-logo", "--no-cache"], QUIET)],
  ["mypy", () => spawnInVenv("mypy", [], QUIET)],
  ["biome", () => spawnNode("biome", ["check", "--diagnostic-level=warn", "."], { ...QUIET, cwd: EXTENSION })],
  ["tsc", () => spawnNode("tsc", ["--project", "extension"], QUIET)],
  ["protocol", () => spawnNode("extension/protocol.mjs", ["--check"], QUIET)],
  ["l10n", () => spawnNode("extension/l10n.mjs", ["--check"], QUIET)],
];
// Fixtures of a file are built once when the file stays with one worker; a worker may hold a model and an index.
const PARALLEL = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"];

// What runs with the ADK installed, and with the older google-genai that it asks for.
const ADK_TESTS = ["tests/agents/adk", "tests/programs", "tests/tasks/test_tasks.py", "tests/core/test_gemini.py"];

// For use while somebody works.
const QUICK_TESTS = ["-q", "-m", "not slow", "tests/core", "tests/ingest", "tests/agents"];

/** @typedef {{name: string, state: "passed" | "FAILED" | "SKIPPED", seconds: number, reason?: string}} Result */

async function timed(name, action) {
  const started = Date.now();
  const result = await action();
  return { name, ...result, seconds: (Date.now() - started) / 1000 };
}

async function lintWith([name, start]) {
  return timed(name, async () => {
    const child = start();
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
    const { code } = await ended(child);
    return { state: code === 0 ? "passed" : "FAILED", output };
  });
}

/** Runs every linter, prints one line for each and what the failed ones said. Returns the results. */
async function lint() {
  const results = await Promise.all(LINTERS.map(lintWith));
  for (const result of results) console.log(line(result));
  for (const { name, state, output } of results) {
    if (state === "FAILED") console.log(`\n--- ${name} ---\n${output.trimEnd()}`);
  }
  return results;
}

function pytest(args) {
  return runInVenv("pytest", [...PARALLEL, ...args], { cwd: ROOT });
}

/** Agents of the ADK that use the product, in an environment of their own. Returns {state, reason}. */
async function testAdkAgents() {
  try {
    await ensureAdkVenv();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    // A conflict of versions is ours to mend; a registry that lacks the ADK or does not answer is not.
    const state = error.detail.includes("ResolutionImpossible") ? "FAILED" : "SKIPPED";
    console.log(`${state}: agents of the ADK: ${error.message}\n${error.detail}`);
    return { state, reason: `${error.message} ${error.detail.split("\n").pop()}` };
  }
  const { code } = await runInAdkVenv("pytest", ADK_TESTS, { cwd: ROOT });
  return { state: code === 0 ? "passed" : "FAILED" };
}

/** The tests of the server and of the extension: all, or those that answer within a minute. Returns the results. */
async function test({ quick }) {
  const results = [
    await timed("pytest", async () => {
      const { code } = await pytest(quick ? QUICK_TESTS : []);
      return { state: code === 0 ? "passed" : "FAILED" };
    }),
  ];
  if (!quick) {
    console.log("\n--- agents of the ADK ---");
    results.push(await timed("agents of the ADK", testAdkAgents));
  }
  // Not at the top: it needs the npm packages.
  const { PARTS, runPart } = await import("../extension/test/run.mjs");
  for (const part of quick ? ["unit"] : PARTS) {
    console.log(`\n--- extension: ${part} ---`);
    results.push(await timed(`extension: ${part}`, () => runPart(part)));
  }
  return results;
}

function line({ name, state, seconds, reason }) {
  return `${name.padEnd(20)} ${state}  ${seconds.toFixed(1)} s${reason ? `: ${reason}` : ""}`;
}

/** The closing lines: what failed, what was skipped. */
function conclude(results) {
  const named = (wanted) => results.filter(({ state }) => state === wanted).map(({ name }) => name);
  const failed = named("FAILED");
  const skipped = named("SKIPPED");
  if (skipped.length > 0) console.log(`SKIPPED, not passed: ${skipped.join(", ")} (reasons above).`);
  if (failed.length > 0) console.log(`FAILED: ${failed.join(", ")} (see above).`);
  else console.log(skipped.length > 0 ? "All others passed." : "All passed.");
  process.exitCode = failed.length > 0 ? 1 : 0;
}

async function main(args) {
  const lintOnly = args.length === 1 && args[0] === "--lint";
  const quick = args.length === 1 && args[0] === "--quick";
  await ensureVenv({ dev: true });
  // Hundreds of Python processes would compile the same modules again.
  delete process.env.PYTHONDONTWRITEBYTECODE;
  if (args.length > 0 && !lintOnly && !quick) {
    endLike(await withScratch(() => pytest(args)));
    return;
  }
  await ensureNodeModules();
  const results = await lint();
  if (!lintOnly) {
    results.push(...(await withScratch(() => test({ quick }))));
    console.log(`\n${results.map(line).join("\n")}`);
  }
  conclude(results);
}

await tellFailures(() => main(process.argv.slice(2)));

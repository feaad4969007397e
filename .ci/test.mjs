#!/usr/bin/env node
// The project's checks.
//
//     node .ci/test.mjs                  ruff, mypy, then all tests in parallel
//     node .ci/test.mjs --lint           ruff and mypy alone
//     node .ci/test.mjs ARGUMENT...      pytest alone, with these arguments

import { ROOT, endLike, ensureVenv, runInVenv, spawnInVenv, tellFailures } from "./venv.mjs";

const CHECKS = [
  { name: "ruff check", command: "ruff", args: ["check", "--output-format", "concise", "."] },
  { name: "ruff format", command: "ruff", args: ["format", "--check", "--output-format", "concise", "."] },
  { name: "mypy", command: "mypy", args: [] },
];
// Fixtures of a file are built once when the file stays with one worker; a worker may hold a model and an index.
const PARALLEL = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"];

async function check({ name, command, args }) {
  const started = Date.now();
  const child = spawnInVenv(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const passed = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code === 0));
  });
  return { name, passed, output, seconds: (Date.now() - started) / 1000 };
}

/** Runs every check, prints one line for each and what the failed ones said. Returns the names of those. */
async function lint() {
  const results = await Promise.all(CHECKS.map(check));
  for (const { name, passed, seconds } of results) {
    console.log(`${name.padEnd(12)} ${passed ? "passed" : "FAILED"}  ${seconds.toFixed(1)} s`);
  }
  const failed = results.filter((result) => !result.passed);
  for (const { name, output } of failed) console.log(`\n--- ${name} ---\n${output.trimEnd()}`);
  return failed.map((result) => result.name);
}

async function main(args) {
  await ensureVenv({ dev: true });
  const lintOnly = args.length === 1 && args[0] === "--lint";
  const failed = args.length === 0 || lintOnly ? await lint() : [];
  if (lintOnly) {
    process.exitCode = failed.length > 0 ? 1 : 0;
    return;
  }
  const result = await runInVenv("pytest", [...PARALLEL, ...args], { cwd: ROOT });
  endLike(result);
  // pytest's closing line is the last one, unless it alone would look like success.
  if (failed.length > 0) {
    console.error(`Not passed before the tests: ${failed.join(", ")} (see above).`);
    process.exitCode ||= 1;
  }
}

await tellFailures(() => main(process.argv.slice(2)));

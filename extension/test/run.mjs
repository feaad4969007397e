#!/usr/bin/env node
// Bundles tests of the extension into extension/out and runs mocha on them.
//
//     npm run test:extension -- [PART...] [-- MOCHA-ARGUMENT...]
//
// The parts, all of them by default:
//     unit       modules alone, in Node; the module vscode is test/unit/fake-vscode.ts
//     webview    the panel's page, in Chromium
//     package    what the VSIX holds
//     host       the installed VSIX, inside the extension host of a real editor (code-server)
//     journeys   the installed VSIX as a user meets it, in a real editor
// One part runs where it is named alone:
//     pictures   the same, and takes the pictures of the READMEs (extension/pictures)
//     benchmarks how long a user waits in a real editor; ADK_EVIDENCE_HOME names an index of the real corpora
// Arguments for mocha (for instance `-g hover`) reach all parts but host.

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { isMain, ROOT, runInForeground, tellFailures } from "../../.ci/setup.mjs";
import { ensureVenv } from "../../.ci/venv.mjs";
import { packageExtension } from "../package.mjs";
import { ensureChromium, ensureEditor, Unavailable } from "./e2e/setup.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OUT = path.join(ROOT, "extension", "out");
const MOCHA = "node_modules/mocha/bin/mocha.js";
const REPORTER = path.join(HERE, "reporter.cjs");

/** The parts in the order in which they run. */
export const PARTS = ["unit", "webview", "package", "host", "journeys"];

/** Parts that run where they are named alone: one writes files of the repository, the other needs a large index. */
const NAMED_PARTS = ["pictures", "benchmarks"];

/** What one test of a part may take, in milliseconds. */
const TIMEOUTS = {
  unit: 10_000,
  webview: 30_000,
  package: 60_000,
  journeys: 120_000,
  pictures: 120_000,
  benchmarks: 120_000,
};

/** How often a test is tried again: a real editor in a real browser on a busy machine is not ours to the last event. */
const RETRIES = { journeys: 1 };

/** What a part needs; each returns environment variables for its tests. */
const NEEDS = {
  unit: async () => ({}),
  webview: async () => ({ ADK_EVIDENCE_CHROMIUM: await ensureChromium() }),
  package: async () => ({ ADK_EVIDENCE_VSIX: await vsix() }),
  host: editor,
  journeys: editor,
  pictures: editor,
  benchmarks: editor,
};

// CommonJS packages inside an ES module still ask for these.
const BANNER = `
import { createRequire as __createRequire } from "node:module";
import { fileURLToPath as __toPath } from "node:url";
import { dirname as __toFolder } from "node:path";
const require = __createRequire(import.meta.url);
const __filename = __toPath(import.meta.url);
const __dirname = __toFolder(__filename);
`;

const SHARED = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  target: "node20",
  sourcemap: "inline",
  sourcesContent: false,
  logLevel: "warning",
  // What looks for files beside itself stays where it is installed.
  external: ["esbuild", "mocha", "playwright-core"],
};

let built = null;

/** The VSIX, built once a process. */
function vsix() {
  built ??= packageExtension();
  return built;
}

async function editor() {
  const { node, codeServer, chromium } = await ensureEditor();
  await ensureVenv({ dev: true });
  return {
    ADK_EVIDENCE_CHROMIUM: chromium,
    ADK_EVIDENCE_CODE_SERVER: codeServer,
    ADK_EVIDENCE_CODE_SERVER_NODE: node,
    ADK_EVIDENCE_VSIX: await vsix(),
  };
}

function testFiles(part) {
  const folder = path.join(HERE, part);
  return fs
    .readdirSync(folder, { recursive: true })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .sort()
    .map((name) => path.join(folder, name));
}

/** Bundles tests that run in Node; what they share is one module, as it is in the sources. Returns the bundles. */
async function bundle(part) {
  const folder = path.join(HERE, part);
  const files = testFiles(part);
  await esbuild.build({
    ...SHARED,
    entryPoints: files,
    outbase: folder,
    outdir: path.join(OUT, part),
    outExtension: { ".js": ".mjs" },
    splitting: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    banner: { js: BANNER },
    alias: { vscode: path.join(HERE, "unit", "fake-vscode.ts") },
    loader: { ".css": "text" },
  });
  return files.map((file) => path.join(OUT, part, path.relative(folder, file).replace(/\.tsx?$/, ".mjs")));
}

/** Bundles the tests for the extension host into one module, and the script that starts them. Returns the script. */
async function bundleHost() {
  const folder = path.join(HERE, "host");
  const imports = testFiles("host").map((file) => `import ${JSON.stringify(file)};`);
  await esbuild.build({
    ...SHARED,
    stdin: { contents: imports.join("\n"), resolveDir: folder },
    outfile: path.join(OUT, "host", "tests.js"),
    format: "cjs",
    external: [...SHARED.external, "vscode"],
  });
  await esbuild.build({
    ...SHARED,
    entryPoints: [path.join(folder, "index.ts")],
    outdir: path.join(OUT, "host"),
    format: "cjs",
    external: [...SHARED.external, "vscode"],
  });
  const script = path.join(OUT, "host", "launch.mjs");
  await esbuild.build({
    ...SHARED,
    entryPoints: [path.join(folder, "launch.ts")],
    outfile: script,
    format: "esm",
    banner: { js: BANNER },
  });
  return script;
}

/** Runs a part. Returns {state, reason}: "passed", "FAILED", or "SKIPPED" for a reason. */
export async function runPart(part, mochaArguments = []) {
  let found;
  try {
    found = await NEEDS[part]();
  } catch (error) {
    if (!(error instanceof Unavailable)) {
      console.error(`The ${part} tests could not start: ${error.message}\n${error.detail ?? ""}`);
      return { state: "FAILED" };
    }
    console.log(`SKIPPED: ${part} tests: ${error.message}`);
    return { state: "SKIPPED", reason: error.message.split("\n")[0] };
  }
  for (const folder of [path.join(OUT, part), path.join(OUT, "failures", part)]) {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  try {
    const args =
      part === "host"
        ? [await bundleHost()]
        : [
            MOCHA,
            "--timeout",
            `${TIMEOUTS[part]}`,
            "--retries",
            `${RETRIES[part] ?? 0}`,
            "--reporter",
            REPORTER,
            ...mochaArguments,
            ...(await bundle(part)),
          ];
    const options = { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...found } };
    const { code } = await runInForeground(() => spawn(process.execPath, ["--enable-source-maps", ...args], options));
    return { state: code === 0 ? "passed" : "FAILED" };
  } catch (error) {
    // esbuild has told what is wrong.
    if (!error.errors) {
      throw error;
    }
    return { state: "FAILED" };
  }
}

async function main(args) {
  const split = args.includes("--") ? args.indexOf("--") : args.length;
  const wanted = split > 0 ? args.slice(0, split) : PARTS;
  const known = [...PARTS, ...NAMED_PARTS];
  const unknown = wanted.filter((part) => !known.includes(part));
  if (unknown.length > 0) {
    console.error(`There are no tests ${unknown.join(", ")}; there are ${known.join(", ")}.`);
    process.exitCode = 2;
    return;
  }
  for (const part of wanted) {
    console.log(`--- ${part} ---`);
    const { state } = await runPart(part, args.slice(split + 1));
    if (state === "FAILED") {
      process.exitCode = 1;
    }
  }
}

if (isMain(import.meta.url)) {
  await tellFailures(() => main(process.argv.slice(2)));
}

#!/usr/bin/env node
// Bundles the extension and its webview into extension/dist.
//
//     node extension/build.mjs [--watch] [--production]

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { isMain } from "../.ci/setup.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OUT = path.join(HERE, "dist");

function bundles(production) {
  const shared = {
    bundle: true,
    absWorkingDir: HERE,
    outdir: OUT,
    logLevel: "warning",
    minify: production,
    metafile: true,
    sourcemap: production ? false : "linked",
    legalComments: "none",
  };
  return [
    // What runs in the extension host, in Node.
    {
      ...shared,
      entryPoints: { extension: "src/activate.ts" },
      platform: "node",
      format: "cjs",
      target: "node20",
      external: ["vscode"],
    },
    // What runs in the webview's page.
    {
      ...shared,
      entryPoints: { webview: "src/webview/app/main.tsx" },
      platform: "browser",
      format: "iife",
      target: "chrome128",
      jsx: "automatic",
      jsxImportSource: "preact",
    },
  ];
}

/** Bundles both parts. Returns the files that went into them, relative to this folder. */
export async function build({ production = false } = {}) {
  // What an earlier version or kind of build wrote must not be packaged.
  for (const name of fs.existsSync(OUT) ? fs.readdirSync(OUT) : []) {
    if (/\.(js|css|map)$/.test(name)) {
      fs.rmSync(path.join(OUT, name));
    }
  }
  const results = await Promise.all(bundles(production).map((options) => esbuild.build(options)));
  return [...new Set(results.flatMap(({ metafile }) => bundledFiles(metafile)))].sort();
}

/** The files of which anything was left after tree shaking. */
function bundledFiles({ outputs }) {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([file]) => file),
  );
}

async function watch() {
  for (const options of bundles(false)) {
    await (await esbuild.context({ ...options, logLevel: "info" })).watch();
  }
}

if (isMain(import.meta.url)) {
  const flags = new Set(process.argv.slice(2));
  if (flags.has("--watch")) {
    await watch();
  }
  // esbuild has told what is wrong.
  else {
    await build({ production: flags.has("--production") }).catch(() => process.exit(1));
  }
}

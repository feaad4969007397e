#!/usr/bin/env node
// Bundles the extension and its webview into extension/dist.
//
//     node extension/build.mjs [--watch] [--production]

import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const flags = new Set(process.argv.slice(2));
const production = flags.has("--production");

const shared = {
  bundle: true,
  absWorkingDir: HERE,
  logLevel: "info",
  minify: production,
  sourcemap: production ? false : "linked",
  legalComments: "none",
};

/** What runs in the extension host, in Node. */
const host = {
  ...shared,
  entryPoints: { extension: "src/activate.ts" },
  outdir: "dist",
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
};

/** What runs in the webview's page. */
const webview = {
  ...shared,
  entryPoints: { webview: "src/webview/app/main.tsx" },
  outdir: "dist",
  platform: "browser",
  format: "iife",
  target: "chrome128",
  jsx: "automatic",
  jsxImportSource: "preact",
};

if (flags.has("--watch")) {
  for (const options of [host, webview]) await (await esbuild.context(options)).watch();
} else {
  await Promise.all([host, webview].map((options) => esbuild.build(options)));
}

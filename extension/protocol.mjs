#!/usr/bin/env node
// Writes extension/src/protocol/generated.ts from the server's pydantic models, or with --check says whether it is
// as it would be written.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";
import { tellFailures } from "../.ci/setup.mjs";
import { ensureVenv, spawnInVenv } from "../.ci/venv.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const TARGET = path.join(HERE, "src", "protocol", "generated.ts");
const BANNER = "// Generated from the server's models by `npm run protocol`. Do not edit.";

async function schema() {
  await ensureVenv({ dev: true });
  const child = spawnInVenv("python", ["-m", "adk_evidence_lsp.schema"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) {
    throw new Error("the server's models could not be read");
  }
  return JSON.parse(text);
}

// What the generator says of how it works is of no use to a reader.
const ASIDE = /\n \*\n \* This interface was referenced by `Protocol`'s JSON-Schema\n \* via the `definition` "\w+"\./g;

async function generate() {
  const text = await compile(await schema(), "Protocol", {
    bannerComment: BANNER,
    additionalProperties: false,
    unreachableDefinitions: false,
    strictIndexSignatures: false,
    style: { printWidth: 120, singleQuote: false, trailingComma: "all" },
  });
  return text.replace(ASIDE, "");
}

await tellFailures(async () => {
  const text = await generate();
  if (!process.argv.includes("--check")) {
    fs.writeFileSync(TARGET, text);
  } else if (!fs.existsSync(TARGET) || fs.readFileSync(TARGET, "utf8") !== text) {
    console.error("extension/src/protocol/generated.ts differs from the server's models: run `npm run protocol`.");
    process.exitCode = 1;
  }
});

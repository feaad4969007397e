#!/usr/bin/env node
// Writes the extension's types (src/protocol/generated.ts) and the schema that it checks values against
// (src/protocol/schema.json) from the server's pydantic models and src/protocol/editor.schema.json. With --check it
// says whether both files are as they would be written.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";
import { tellFailures } from "../.ci/setup.mjs";
import { ensureVenv, spawnInVenv } from "../.ci/venv.mjs";

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), "src", "protocol");
const BANNER = "// Generated from the server's models and editor.schema.json by `npm run protocol`. Do not edit.";

/** The types of the editor's own schema; its other definitions are for checks alone. */
const EDITOR_TYPES = [
  "HistoryItem",
  "ViewJob",
  "ToPage",
  "FromPage",
  "SavedState",
  "AnswerFacts",
  "FindArguments",
  "OpenArguments",
  "SourceFile",
];
/** What the extension checks of the server's side, with all that these refer to. */
const CHECKED = [
  "EvidenceResult",
  "EvidenceParams",
  "SourceParams",
  "SymbolParams",
  "TargetsParams",
  "RenderParams",
  "CheckResult",
  "CodeCheck",
];
/** The members of a schema that a check reads. */
const KEYWORDS = new Set([
  ...["$ref", "type", "enum", "const", "anyOf", "allOf", "properties", "required", "additionalProperties", "items"],
  ...["minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern", "format"],
]);
const FORMATS = new Set(["word"]);

async function serverSchema() {
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
const ASIDE =
  /(?:\n \*)?\n \* This interface was referenced by `Protocol`'s JSON-Schema\n \* via the `definition` "\w+"\./g;

// A limit, which the server checks and no type says.
const LIMIT = /^ *\/\*\*\n *\* @(?:min|max)Items \d+\n *\*\/\n/gm;

// The one type that lists all others, which nothing uses.
const WHOLE =
  /\/\*\*\n \* Parameters and results of the server's own requests\.\n \*\/\nexport interface Protocol \{[^}]*\}\n/;

async function types(server, editor) {
  const whole = {
    ...server,
    properties: {
      ...server.properties,
      ...Object.fromEntries(EDITOR_TYPES.map((name) => [name, { $ref: `#/$defs/${name}` }])),
    },
    required: [...server.required, ...EDITOR_TYPES],
    $defs: { ...server.$defs, ...editor.$defs },
  };
  const text = await compile(whole, "Protocol", {
    bannerComment: BANNER,
    additionalProperties: false,
    unreachableDefinitions: false,
    strictIndexSignatures: false,
    style: { printWidth: 120, singleQuote: false, trailingComma: "all" },
  });
  return text.replace(ASIDE, "").replace(LIMIT, "").replace(WHOLE, "");
}

/** The definitions that are checked, without what a check does not read. */
function checks(server, editor) {
  const results = reachable(["EvidenceResult", "CheckResult", "CodeCheck"], server.$defs);
  const definitions = {};
  for (const name of reachable(CHECKED, server.$defs)) {
    const whole = results.has(name) ? tolerant(server.$defs[name]) : server.$defs[name];
    definitions[name] = reduced(whole);
  }
  for (const [name, definition] of Object.entries(editor.$defs)) {
    definitions[name] = reduced(definition);
  }
  const text = JSON.stringify(definitions);
  for (const [, name] of text.matchAll(/"#\/\$defs\/([^"/]+)/g)) {
    if (!Object.hasOwn(definitions, name)) {
      throw new Error(`the schema refers to ${name}, which it does not define`);
    }
  }
  const lines = Object.entries(definitions).map(([name, part]) => `"${name}": ${JSON.stringify(part)}`);
  return `{"$defs": {\n${lines.join(",\n")}\n}}\n`;
}

function reachable(names, definitions, found = new Set()) {
  for (const name of names) {
    if (!found.has(name)) {
      found.add(name);
      const text = JSON.stringify(definitions[name]);
      reachable(
        [...text.matchAll(/"#\/\$defs\/([\w-]+)"/g)].map(([, other]) => other),
        definitions,
        found,
      );
    }
  }
  return found;
}

/** A result as a later version of the same release may send it: with other words in its lists, and with more members. */
function tolerant({ additionalProperties: _, ...definition }) {
  return words(definition);
}

function words(schema) {
  if (Array.isArray(schema)) {
    return schema.map(words);
  }
  if (typeof schema !== "object" || schema === null) {
    return schema;
  }
  return Array.isArray(schema.enum)
    ? { type: "string", format: "word" }
    : Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, words(part)]));
}

function reduced(schema, isMap = false) {
  if (Array.isArray(schema)) {
    return schema.map((part) => reduced(part));
  }
  if (typeof schema !== "object" || schema === null) {
    return schema;
  }
  const kept = Object.entries(schema).filter(
    ([key, part]) => isMap || (KEYWORDS.has(key) && (key !== "format" || FORMATS.has(part))),
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, reduced(part, !isMap && key === "properties")]));
}

await tellFailures(async () => {
  const server = await serverSchema();
  const editor = JSON.parse(fs.readFileSync(path.join(FOLDER, "editor.schema.json"), "utf8"));
  const files = { "generated.ts": await types(server, editor), "schema.json": checks(server, editor) };
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(FOLDER, name);
    if (!process.argv.includes("--check")) {
      fs.writeFileSync(file, text);
    } else if (!fs.existsSync(file) || fs.readFileSync(file, "utf8") !== text) {
      console.error(`extension/src/protocol/${name} differs from the server's models: run \`npm run protocol\`.`);
      process.exitCode = 1;
    }
  }
});

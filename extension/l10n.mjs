#!/usr/bin/env node
// Writes extension/l10n/bundle.l10n.json, which translations start from: every text that the sources give to l10n.t.
// With --check it says whether the file is as it would be written.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { SetupError, tellFailures } from "../.ci/setup.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SOURCES = path.join(HERE, "src");
const TARGET = path.join(HERE, "l10n", "bundle.l10n.json");
// The text must stand in the call as it is, or no tool could find it.
const CALL = /\b(?:l10n\.t|(?<![.\w])t)\(\s*("(?:[^"\\]|\\.)*")?/g;

function texts(file) {
  const source = fs.readFileSync(file, "utf8");
  // Only files that take the function from the library call it so.
  const short = /import \{[^}]*\bt\b[^}]*\} from "@vscode\/l10n"/.test(source);
  return [...source.matchAll(CALL)].flatMap(([call, literal]) => {
    if (!call.startsWith("l10n") && !short) {
      return [];
    }
    if (literal === undefined) {
      throw new SetupError(`${path.relative(HERE, file)}: a text for l10n.t is not a literal.`);
    }
    return [JSON.parse(literal)];
  });
}

await tellFailures(() => {
  const files = fs.readdirSync(SOURCES, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
  const found = [...new Set(files.flatMap((name) => texts(path.join(SOURCES, name))))].sort();
  const bundle = `${JSON.stringify(Object.fromEntries(found.map((text) => [text, text])), null, 2)}\n`;
  if (!process.argv.includes("--check")) {
    fs.mkdirSync(path.dirname(TARGET), { recursive: true });
    fs.writeFileSync(TARGET, bundle);
  } else if (!fs.existsSync(TARGET) || fs.readFileSync(TARGET, "utf8") !== bundle) {
    throw new SetupError(
      "extension/l10n/bundle.l10n.json lacks texts of the sources, or has others: run `npm run l10n`.",
    );
  }
});

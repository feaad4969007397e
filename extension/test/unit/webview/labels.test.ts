import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "mocha";
import { languageLabel } from "../../../src/webview/app/labels";

/** The server's table of languages: each name with its title. */
const TABLE = [
  ...fs.readFileSync("server/adk_evidence/languages.py", "utf8").matchAll(/^ {4}Language\("(.+?)", "(.+?)"/gm),
];
/** The languages that lines of a page may be for. */
const PROGRAMMING = /ProgrammingLanguage = Literal\[([^\]]+)\]/.exec(
  fs.readFileSync("server/adk_evidence/models/chunk.py", "utf8"),
)?.[1];

describe("a programming language", () => {
  it("is written as the server writes it", () => {
    const titles = new Map(TABLE.map(([, name = "", title]) => [name, title]));
    const names: string[] = PROGRAMMING?.match(/[^",\s]+/g) ?? [];
    assert.ok(names.includes("typescript") && names.includes("c++"), names.join(" "));
    for (const name of names) {
      assert.equal(languageLabel(name), titles.get(name));
    }
  });

  it("that is not known here is a name, and no more than a name", () => {
    assert.equal(languageLabel("zig\u202e"), "Zig[U+202E]");
    assert.equal(languageLabel("__proto__"), "__proto__");
  });
});

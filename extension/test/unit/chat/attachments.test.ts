import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { type ChatPromptReference, Location, Range, Uri } from "vscode";
import { readReferences } from "../../../src/chat/attachments";
import { textDocuments } from "../fake-vscode";

const RANGE = new Range(1, 0, 2, 5);

/** A document that is open in the editor; ranges of it are those lines. */
function open(address: string, text: string): Uri {
  const uri = Uri.parse(address);
  textDocuments.push({
    uri,
    languageId: "python",
    validateRange(range: Range) {
      if (!(range instanceof Range)) {
        throw new TypeError("no range");
      }
      return range;
    },
    getText: (range?: Range) =>
      range === undefined
        ? text
        : text
            .split("\n")
            .slice(range.start.line, range.end.line + 1)
            .join("\n"),
  });
  return uri;
}

function read(...references: Partial<ChatPromptReference>[]) {
  return readReferences(references.map((reference) => ({ id: "id", value: "", ...reference })));
}

describe("what is attached to a request", () => {
  afterEach(() => {
    textDocuments.length = 0;
  });

  it("is a text, a file or a part of one; a file does not say what to search for", async () => {
    const uri = open("file:///work/a.py", "a\nb\nc\nd");
    const found = await read({ value: "an error" }, { value: uri }, { value: new Location(uri, RANGE) });
    assert.deepEqual(found.attachments, [
      { label: "text", language: "", text: "an error" },
      { label: "/work/a.py", language: "python", text: "a\nb\nc\nd" },
      { label: "/work/a.py, lines 2-3", language: "python", text: "b\nc" },
    ]);
    assert.deepEqual(found.selected, ["an error", "b\nc"]);
    assert.equal(found.scope, uri);
    assert.deepEqual(found.unreadable, []);
  });

  it("says nothing of the search where the editor has chosen it", async () => {
    const uri = open("file:///work/a.py", "a\nb\nc");
    const found = await read({ id: "vscode.implicit.viewport", value: new Location(uri, RANGE) });
    assert.equal(found.attachments.length, 1);
    assert.deepEqual(found.selected, []);
  });

  it("is left out where it is no text, cannot be read or is too much", async () => {
    const uri = open("file:///work/a.py", "a");
    const found = await read(
      { id: "picture", value: { data: 1 } },
      { value: Uri.parse("file:///work/gone.py") },
      { value: new Location(uri, {} as Range) },
      ...Array.from({ length: 10 }, (_, index) => ({ id: `more ${index}`, value: "text" })),
    );
    assert.deepEqual(found.unreadable, ["picture", "/work/gone.py", "/work/a.py", "more 7", "more 8", "more 9"]);
    assert.equal(found.attachments.length, 7);
  });

  it("is cut where it is very long", async () => {
    const found = await read({ value: "x".repeat(1_000_000) });
    assert.ok((found.attachments[0]?.text.length ?? 0) <= 40_001);
  });
});

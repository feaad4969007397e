import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { AnswerWriter, type Citation, listCitations, titleOf } from "../../../src/chat/answer";
import { candidate } from "../evidence/packs";
import { FakeResponse, location } from "./fakeResponse";

const first: Citation = { candidate: candidate(), location: location("runners.py") };
const second: Citation = {
  candidate: candidate({
    path: "docs/tools/retry.md",
    lines: null,
    source_type: "docs",
    headings: ["Retry", "Use *it*"],
  }),
  location: null,
};

function write(...pieces: string[]) {
  const response = new FakeResponse();
  const writer = new AnswerWriter(
    new Map([
      [1, first],
      [2, second],
    ]),
    response,
  );
  pieces.forEach((piece) => {
    writer.write(piece);
  });
  return { written: writer.end(), response };
}

describe("an answer with citations", () => {
  it("has links for marks, and words where nothing can be opened", () => {
    const { written, response } = write("It retries [CT", "X 1], see [CTX 2].");
    assert.equal(response.text, "It retries <runners.py:6-12>, see retry\\.md.");
    assert.deepEqual(response.anchors, [first.location]);
    assert.deepEqual([...written.cited], [1, 2]);
    assert.ok(written.some);
  });

  it("shows marks of nothing as text that can be no link", () => {
    const { written, response } = write("[CTX 9](https://evil.example) [CTX 1, CTX 7] [CTX 0]");
    assert.equal(response.text, "\\[CTX 9\\](https://evil.example) <runners.py:6-12> \\[CTX 7\\] \\[CTX 0\\]");
    assert.deepEqual([...written.cited], [1]);
  });

  it("makes no picture of a mark", () => {
    assert.equal(write("It works!", "[CTX 1]").response.text, "It works! <runners.py:6-12>");
  });

  it("is nothing where only white space came", () => {
    assert.equal(write("", " \n").written.some, false);
  });

  it("has titles that are no markup, whatever files are called", () => {
    const hostile = candidate({ path: "docs/](command:x) `![a]<b>.md", lines: { start: 1, end: 2 } });
    assert.equal(titleOf(hostile), "command:x ab.md:1-2");
    assert.equal(titleOf(candidate({ path: "docs/\u202e[]", lines: null })), "source");
  });

  it("can be a list of what was found", () => {
    const response = new FakeResponse();
    listCitations([first, second], response);
    assert.match(response.text, /^\s*- <runners\.py:6-12> Runner\n- retry\\\.md Retry › Use \\\*it\\\*\n/);
  });
});

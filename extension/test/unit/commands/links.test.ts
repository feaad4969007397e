import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { openCitation } from "../../../src/commands/openCitation";
import { openFrame } from "../../../src/commands/openFrame";
import { Evidence } from "../../../src/evidence/client";
import type { Citations } from "../../../src/evidence/openCitation";
import { Problem } from "../../../src/problem";
import type { ErrorFrame, EvidenceParams } from "../../../src/protocol/generated";
import { FakeBackend } from "../evidence/fakeBackend";
import { pack } from "../evidence/packs";

const CITATION = "adk-python@v2.13.0:src/google/adk/runners.py#L12-L12";
const FRAME = { path: "/env/google/adk/runners.py", line: 12, function: "run" };

/** Citations that only remember what was opened. */
class Opened {
  readonly citations: unknown[][] = [];
  readonly taker = {
    openCitation: async (citation: string, scope: { toString(): string } | undefined, where?: string) => {
      this.citations.push([citation, scope?.toString(), where]);
    },
  } as unknown as Citations;
}

describe("a link of a hover", () => {
  it("opens what is cited, in the editor unless it says otherwise", async () => {
    const opened = new Opened();
    await openCitation({ citation: CITATION, textDocument: { uri: "file:///work/agent.py" } }, opened.taker);
    await openCitation({ citation: CITATION, where: "browser" }, opened.taker);
    assert.deepEqual(opened.citations, [
      [CITATION, "file:///work/agent.py", "source"],
      [CITATION, undefined, "browser"],
    ]);
  });

  it("opens nothing that it should not say", async () => {
    const opened = new Opened();
    for (const argument of [undefined, {}, { citation: 7 }, { citation: CITATION, where: "terminal" }, "x"]) {
      await assert.rejects(openCitation(argument, opened.taker), Problem);
    }
    assert.deepEqual(opened.citations, []);
  });
});

describe("a link of a terminal", () => {
  const call: ErrorFrame = {
    number: 1,
    function: "run",
    path: "src/google/adk/runners.py",
    line: 12,
    text: "run()",
    citation: CITATION,
    verification: "exact",
    rank: 1,
  };

  it("opens the line that the server finds for the call", async () => {
    const opened = new Opened();
    const errors = [{ type: "", message: "", calls: 1, frames: [call] }];
    const asked: EvidenceParams[] = [];
    const evidence = new Evidence(
      new FakeBackend({
        "adk/evidence": (params: EvidenceParams) => {
          asked.push(params);
          return pack({ errors });
        },
      }),
    );
    await openFrame({ frame: FRAME }, evidence, opened.taker);
    assert.equal(opened.citations[0]?.[0], CITATION);
    assert.match(asked[0]?.query ?? "", /^Traceback .*\n {2}File "\/env\/google\/adk\/runners.py", line 12, in run$/);
    assert.deepEqual([asked[0]?.filters, asked[0]?.maxResults], [{ source_types: ["code"] }, 1]);
  });

  it("says so where that version has no such function, or the link is none", async () => {
    const evidence = new Evidence(new FakeBackend({ "adk/evidence": () => pack() }));
    const opened = new Opened();
    await assert.rejects(openFrame({ frame: FRAME }, evidence, opened.taker), /no such function/);
    for (const argument of [undefined, { frame: { path: 1 } }, { frame: null }]) {
      await assert.rejects(openFrame(argument, evidence, opened.taker), Problem);
    }
    assert.deepEqual(opened.citations, []);
  });
});

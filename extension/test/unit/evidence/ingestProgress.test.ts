import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { following, ingestionIs, progressMiddleware } from "../../../src/evidence/ingestProgress";

type Report = Parameters<typeof progressMiddleware.handleWorkDoneProgress>[1];

function send(report: Report): Report[] {
  const passed: Report[] = [];
  progressMiddleware.handleWorkDoneProgress("token", report, (_token, next) => passed.push(next));
  return passed;
}

describe("what the server reports of an ingestion", () => {
  it("goes to the editor's own progress where nobody else listens", () => {
    assert.equal(send({ kind: "begin", title: "Ingesting" }).length, 1);
    assert.equal(send({ kind: "report", message: "embed: 1 of 2", percentage: 50 }).length, 1);
  });

  it("is told as numbers to who follows it, while the editor shows no progress of its own", async () => {
    const heard: number[] = [];
    const told = { stage: "embed", seconds_left: null, answers: "keywords" } as const;
    const work = following(
      ({ fraction }) => heard.push(fraction),
      async () => {
        assert.equal(send({ kind: "report", message: "embed: 1 of 2", percentage: 50 }).length, 0);
        assert.equal(send({ kind: "end" }).length, 1);
        ingestionIs({ ...told, fraction: 0.5 });
        ingestionIs({ ...told, fraction: Number.NaN });
        throw new Error("no disk");
      },
    );
    await assert.rejects(work, /no disk/);
    ingestionIs({ ...told, fraction: 0.75 });
    assert.deepEqual(heard, [0.5]);
    assert.equal(send({ kind: "report", message: "later" }).length, 1);
  });
});

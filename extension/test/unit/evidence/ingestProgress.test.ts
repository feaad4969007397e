import assert from "node:assert/strict";
import { describe, it } from "mocha";
import {
  followIngestion,
  ingestionIs,
  onIngestProgress,
  progressMiddleware,
} from "../../../src/evidence/ingestProgress";

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

  it("goes to the command that runs it, but for its end", () => {
    const heard: [string, number | null][] = [];
    const listening = onIngestProgress((message, percentage) => heard.push([message, percentage]));
    try {
      assert.equal(send({ kind: "begin", title: "Ingesting" }).length, 0);
      assert.equal(send({ kind: "report", message: "embed: 1 of 2", percentage: 50 }).length, 0);
      assert.equal(send({ kind: "end" }).length, 1);
    } finally {
      listening.dispose();
    }
    assert.deepEqual(heard, [
      ["", null],
      ["embed: 1 of 2", 50],
    ]);
    assert.equal(send({ kind: "report", message: "later" }).length, 1);
    assert.equal(heard.length, 2);
  });

  it("is told as numbers to who follows it, while the editor shows no progress of its own", () => {
    const heard: number[] = [];
    const following = followIngestion(({ fraction }) => heard.push(fraction));
    const told = { stage: "embed", seconds_left: null, answers: "keywords" } as const;
    try {
      assert.equal(send({ kind: "report", message: "embed: 1 of 2", percentage: 50 }).length, 0);
      ingestionIs({ ...told, fraction: 0.5 });
      ingestionIs({ ...told, fraction: Number.NaN });
    } finally {
      following.dispose();
    }
    ingestionIs({ ...told, fraction: 0.75 });
    assert.deepEqual(heard, [0.5]);
    assert.equal(send({ kind: "report", message: "later" }).length, 1);
  });
});

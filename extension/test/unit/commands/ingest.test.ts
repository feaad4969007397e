import assert from "node:assert/strict";
import { describe, it } from "mocha";
import * as vscode from "vscode";
import { ingestCorpora } from "../../../src/commands/ingest";
import { Evidence } from "../../../src/evidence/client";
import { Problem } from "../../../src/problem";
import type { IngestResult, ProjectStatus, ServerStatus } from "../../../src/protocol/generated";
import { GetStarted, type JobParts } from "../../../src/server/getStarted";
import { type Asked, FakeBackend } from "../evidence/fakeBackend";

function run(more: Partial<IngestResult> = {}): IngestResult {
  return { status: "complete", corpora: {}, missing: {}, failed_files: [], seconds: 2, notices: [], ...more };
}

/** Ingests all: what the panel says in the end, a line for each sentence, and its buttons. */
async function ingested(
  answer: () => Promise<IngestResult>,
  argument?: unknown,
  asked?: Asked[],
  projects: Partial<ProjectStatus>[] = [],
) {
  const before = { ...vscode.window };
  Object.assign(vscode.window, { activeTextEditor: undefined });
  try {
    const log = { warn: () => undefined } as unknown as vscode.LogOutputChannel;
    const backend = new FakeBackend({
      "adk/ingest": answer,
      "adk/status": () => ({ projects }) as unknown as ServerStatus,
    });
    const parts = { problemOf: (reason: unknown) => reason } as JobParts;
    const job = new GetStarted(parts, {} as vscode.Memento);
    await ingestCorpora(argument, new Evidence(backend), log, job, () => undefined);
    asked?.push(...backend.asked);
    const { lines, actions } = job.state.outcome ?? { lines: [], actions: [] };
    return [job.state.title, lines.join("\n"), ...actions.map(({ title }) => title)];
  } finally {
    Object.assign(vscode.window, before);
  }
}

describe("ingesting the corpora", () => {
  it("says that it is ready where all could be read", async () => {
    assert.deepEqual(await ingested(async () => run()), [
      "Updating the ADK index",
      "The index is ready after 2 seconds.",
      "Ask a Question…",
    ]);
  });

  it("warns of guides that could not be had, and says why", async () => {
    const missing = { adk_docs: "The network is unreachable." };
    const [, told = "", action] = await ingested(async () => run({ missing }));
    assert.equal(action, "Fetch the Guides");
    assert.match(told, /\nThe guides \(google\/adk-docs\) could not be read: The network is unreachable\./);
  });

  it("warns of files that the index lacks, and names the first", async () => {
    const corpora = { adk_python: { repo: "google/adk-python", commit: "v1", chunks: 3 } };
    const failed_files = ["a.py", "b.py"];
    const [, told = ""] = await ingested(async () => run({ status: "incomplete", corpora, failed_files }));
    assert.match(told, /\n2 files could not be split into passages.*the first is a\.py/);
  });

  it("indexes the version that the project in use has, or else all that the settings say", async () => {
    const folder = vscode.Uri.parse("file:///work/agent");
    Object.assign(vscode.workspace, { workspaceFolders: [{ uri: folder, name: "agent", index: 0 }] });
    try {
      const asked: Asked[] = [];
      const project = { folder: folder.toString(), version: "1.18.0" };
      const [title, told] = await ingested(async () => run(), undefined, asked, [project]);
      assert.equal(title, "Indexing google-adk 1.18.0");
      assert.equal(told, "google-adk 1.18.0 is indexed (2 seconds).");
      await ingested(async () => run(), undefined, asked);
      const ingestions = asked.filter(({ method }) => method === "adk/ingest");
      assert.deepEqual(
        ingestions.map(({ params }) => params),
        [{ folder: folder.toString() }, { mode: "all" }],
      );
    } finally {
      Object.assign(vscode.workspace, { workspaceFolders: undefined });
    }
  });

  it("indexes the version of a project that is named", async () => {
    const asked: Asked[] = [];
    await ingested(async () => run(), { folder: "file:///work/agent" }, asked);
    assert.deepEqual(
      asked.filter(({ method }) => method === "adk/ingest").map(({ params, scope }) => [params, scope?.path]),
      [[{ folder: "file:///work/agent" }, "/work/agent"]],
    );
  });

  it("leaves problems to whoever started it", async () => {
    const failing = ingested(async () => {
      throw new Problem("There is no disk.", "store_unavailable");
    });
    await assert.rejects(failing, { code: "store_unavailable" });
  });
});

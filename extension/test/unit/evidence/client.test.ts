import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Uri } from "vscode";
import * as vscode from "vscode";
import { Evidence } from "../../../src/evidence/client";
import type { Citations } from "../../../src/evidence/openCitation";
import { panelActions } from "../../../src/evidence/panelActions";
import type { EvidenceResult } from "../../../src/protocol/generated";
import { FakeBackend } from "./fakeBackend";
import { candidate, pack, rendered, source } from "./packs";

const scope = { toString: () => "file:///work/a.py" } as Uri;

describe("the evidence of a server", () => {
  it("remembers which folder's server a pack came from", async () => {
    const evidence = new Evidence(new FakeBackend({ "adk/evidence": () => pack() }));
    const found = await evidence.find({ query: "x" }, undefined, scope);
    assert.equal(evidence.scopeOf(found), scope);
    assert.equal(evidence.scopeOf(await evidence.find({ query: "x" })), undefined);
  });

  it("has a pack rendered by the server that it came from, also one that was kept", async () => {
    const backend = new FakeBackend({ "adk/evidence": () => pack(), "adk/render": () => rendered("x") });
    const evidence = new Evidence(backend);
    await evidence.render({ pack: await evidence.find({ query: "x" }, undefined, scope), format: "prompt" });
    assert.equal(backend.asked.at(-1)?.scope, scope);
    const kept = pack();
    evidence.takeUp(kept, "file:///second");
    await evidence.render({ pack: kept, format: "prompt" });
    assert.equal(backend.asked.at(-1)?.scope?.path, "/second");
  });

  it("takes a pack with words that are new to it", async () => {
    const { verification } = candidate();
    const newer = pack({
      quality: { level: "splendid" as "high", note: "" },
      candidates: [candidate({ verification: { ...verification, state: "withdrawn" as "gone" } })],
    });
    const evidence = new Evidence(new FakeBackend({ "adk/evidence": () => newer }));
    assert.equal(await evidence.find({ query: "x" }), newer);
  });

  it("names the folder whose project the answer is for", async () => {
    const folder = { uri: vscode.Uri.file("/work"), name: "work", index: 0 };
    Object.assign(vscode.workspace, { workspaceFolders: [folder] });
    try {
      const backend = new FakeBackend({ "adk/evidence": () => pack(), "adk/source": () => source() });
      const evidence = new Evidence(backend);
      await evidence.find({ query: "x" }, undefined, vscode.Uri.file("/work/a.py"));
      await evidence.source({ candidateId: "x" }, undefined, vscode.Uri.file("/elsewhere/a.py"));
      assert.deepEqual(
        backend.asked.map(({ params }) => params),
        [
          { query: "x", folder: "file:///work" },
          { candidateId: "x", folder: "file:///work" },
        ],
      );
    } finally {
      Object.assign(vscode.workspace, { workspaceFolders: undefined });
    }
  });

  it("remembers the folder that answered for a document of no folder, whatever folder is in use later", async () => {
    const [first, second] = ["/first", "/second"].map((path, index) => ({
      uri: vscode.Uri.file(path),
      name: path,
      index,
    }));
    Object.assign(vscode.workspace, { workspaceFolders: [first, second] });
    try {
      const evidence = new Evidence(new FakeBackend({ "adk/evidence": () => pack() }));
      const found = await evidence.find({ query: "x" }, undefined, vscode.Uri.file("/elsewhere/a.py"));
      const inside = await evidence.find({ query: "x" }, undefined, vscode.Uri.file("/second/a.py"));
      Object.assign(vscode.workspace, { workspaceFolders: [second, first] });
      const { folderOf } = panelActions(evidence, {} as Citations);
      assert.deepEqual([found, inside].map(folderOf), ["file:///first", "file:///second"]);
      assert.equal(evidence.scopeOf(inside)?.toString(), "file:///second/a.py");
    } finally {
      Object.assign(vscode.workspace, { workspaceFolders: undefined });
    }
  });

  it("says so where a pack cannot be read", async () => {
    for (const wrong of [{}, pack({ candidates: undefined as never }), pack({ candidates: [{} as never] })]) {
      const evidence = new Evidence(new FakeBackend({ "adk/evidence": () => wrong as EvidenceResult }));
      await assert.rejects(evidence.find({ query: "x" }), { code: "unreadable_answer" });
    }
  });

  it("asks each request with its parameters, token and scope", async () => {
    const backend = new FakeBackend({
      "adk/source": () => source(),
      "adk/symbol": () => null,
      "adk/render": () => rendered("# Evidence"),
    });
    const evidence = new Evidence(backend);
    const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
    await evidence.source({ candidateId: "x" }, token, scope);
    assert.deepEqual(backend.asked, [{ method: "adk/source", params: { candidateId: "x" }, token, scope }]);
    assert.equal(await evidence.symbol({ name: "x" }), null);
    assert.equal(await evidence.render({ pack: pack(), format: "markdown" }), "# Evidence");
  });
});

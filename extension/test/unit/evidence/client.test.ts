import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Uri } from "vscode";
import { Evidence } from "../../../src/evidence/client";
import { FakeBackend } from "./fakeBackend";
import { pack, rendered, source } from "./packs";

const scope = { toString: () => "file:///work/a.py" } as Uri;

describe("the evidence of a server", () => {
  it("remembers which folder's server a pack came from", async () => {
    const evidence = new Evidence(new FakeBackend({ "adk/evidence": () => pack() }));
    const found = await evidence.find({ query: "x" }, undefined, scope);
    assert.equal(evidence.scopeOf(found), scope);
    assert.equal(evidence.scopeOf(await evidence.find({ query: "x" })), undefined);
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

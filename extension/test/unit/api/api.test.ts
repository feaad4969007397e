import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type CancellationToken, CancellationTokenSource } from "vscode";
import { createApi } from "../../../src/api/index";
import { Evidence } from "../../../src/evidence/client";
import { Problem } from "../../../src/problem";
import { FakeBackend } from "../evidence/fakeBackend";
import { pack, rendered } from "../evidence/packs";

describe("the API for other extensions", () => {
  it("has a version and cannot be changed by those who use it", () => {
    const api = createApi(new Evidence(new FakeBackend({})));
    assert.equal(api.version, 1);
    assert.ok(Object.isFrozen(api));
  });

  it("finds evidence as the request says, and without it as the settings say", async () => {
    const backend = new FakeBackend({ "adk/evidence": () => pack() });
    const api = createApi(new Evidence(backend));
    await api.findEvidence({ query: "x" });
    await api.findEvidence({ query: "x", taskMode: "debug", maxResults: 2, sources: ["docs"] });
    assert.deepEqual(
      backend.asked.map(({ params }) => params),
      [
        { query: "x", taskMode: "build", filters: {} },
        {
          query: "x",
          taskMode: "debug",
          maxResults: 2,
          filters: { source_types: ["docs"] },
        },
      ],
    );
  });

  it("gives copies, which are nobody else's", async () => {
    const kept = pack();
    const api = createApi(new Evidence(new FakeBackend({ "adk/evidence": () => kept })));
    const found = await api.findEvidence({ query: "x" });
    found.candidates.length = 0;
    assert.equal(kept.candidates.length, 1);
    assert.ok(!("queryUsed" in found));
  });

  it("asks the server of the folder that is named", async () => {
    const backend = new FakeBackend({ "adk/evidence": () => pack() });
    await createApi(new Evidence(backend)).findEvidence({ query: "x", scope: "file:///work/a.py" });
    assert.equal(backend.asked[0]?.scope?.toString(), "file:///work/a.py");
  });

  it("renders no pack that is none", async () => {
    const api = createApi(new Evidence(new FakeBackend({})));
    await assert.rejects(() => api.toMarkdown(JSON.parse("null")), { name: "Problem", code: "invalid_request" });
  });

  it("rejects with a code and a sentence where the server fails", async () => {
    const backend = new FakeBackend({
      "adk/evidence": () => {
        throw new Problem("Nothing is indexed yet. Ingest first.", "no_index");
      },
    });
    await assert.rejects(() => createApi(new Evidence(backend)).findEvidence({ query: "x" }), {
      code: "no_index",
      message: "Nothing is indexed yet. Ingest first.",
    });
  });

  it("passes a cancellation on", async () => {
    const backend = new FakeBackend({ "adk/evidence": () => pack() });
    const { token } = new CancellationTokenSource();
    await createApi(new Evidence(backend)).findEvidence({ query: "x" }, token as CancellationToken);
    assert.equal(backend.asked[0]?.token, token);
  });

  it("makes Markdown and prompts of packs", async () => {
    const backend = new FakeBackend({
      "adk/render": ({ pack: _, ...how }) => rendered(JSON.stringify(how)),
      "adk/symbol": () => null,
    });
    const api = createApi(new Evidence(backend));
    assert.equal(await api.toMarkdown(pack()), '{"format":"markdown"}');
    assert.equal(await api.toPrompt(pack()), '{"format":"prompt"}');
    assert.equal(await api.toPrompt(pack(), 500), '{"format":"prompt","maxTokens":500}');
    assert.equal(
      await api.toPrompt(pack(), { system: "Be brief.", history: [{ role: "user", content: "hello" }] }),
      '{"format":"prompt","system":"Be brief.","history":[{"role":"user","content":"hello"}]}',
    );
    assert.equal(await api.findSymbol("NoSuchThing"), null);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { CancellationError, type LanguageModelToolInvocationOptions, lm, type PreparedToolInvocation } from "vscode";
import { contributes } from "../../../../package.json";
import injections from "../../../../tests/injection.json";
import { registerEvidenceTool } from "../../../src/chat/tool";
import { Evidence } from "../../../src/evidence/client";
import { Problem } from "../../../src/problem";
import type { RenderParams } from "../../../src/protocol/generated";
import { FakeBackend } from "../evidence/fakeBackend";
import { candidate, pack, rendered } from "../evidence/packs";
import { tools } from "../fake-vscode";

const inputs = contributes.languageModelTools[0]?.inputSchema.properties ?? {};
const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };

async function invoke(backend: FakeBackend, input: object, budget?: { tokenBudget: number; charsPerToken: number }) {
  const registered = registerEvidenceTool(new Evidence(backend), inputs);
  const options: LanguageModelToolInvocationOptions<object> = { input, toolInvocationToken: undefined };
  if (budget !== undefined) {
    options.tokenizationOptions = {
      tokenBudget: budget.tokenBudget,
      countTokens: async (text) => Math.ceil(text.length / budget.charsPerToken),
    };
  }
  try {
    return await lm.invokeTool("find_adk_evidence", options, token);
  } finally {
    registered.dispose();
  }
}

/** A server whose prompts are as long as it may make them, four characters a token. */
function server(): FakeBackend {
  return new FakeBackend({
    "adk/evidence": () => pack(),
    "adk/render": ({ maxTokens }) => rendered("x".repeat((maxTokens ?? 0) * 4)),
  });
}

async function textOf(result: ReturnType<typeof invoke>): Promise<string> {
  return (await result).content.map((part) => (part as { value: string }).value).join("");
}

describe("the tool for language models", () => {
  it("answers with a prompt of the evidence", async () => {
    const backend = server();
    const text = await textOf(invoke(backend, { query: "x", sources: ["code"] }));
    assert.equal(text.length, 8000);
    const { params } = backend.asked[0] ?? {};
    assert.deepEqual(params, {
      query: "x",
      taskMode: "build",
      filters: { source_types: ["code"] },
    });
  });

  it("keeps to the model's budget as the model counts", async () => {
    const text = await textOf(invoke(server(), { query: "x" }, { tokenBudget: 1000, charsPerToken: 2 }));
    assert.ok(Math.ceil(text.length / 2) <= 1000);
    assert.ok(text.length > 1500);
  });

  it("takes no more of a large budget than the chat hands to a model as it is", async () => {
    for (const charsPerToken of [2, 4, 8]) {
      const text = await textOf(invoke(server(), { query: "x" }, { tokenBudget: 1_000_000, charsPerToken }));
      assert.ok(text.length <= 8000 && text.length > 3500, `${text.length}`);
    }
  });

  it("names the question while it runs, and asks for no consent", async () => {
    const registered = registerEvidenceTool(new Evidence(server()), inputs);
    const prepare = async (input: object) =>
      tools.get("find_adk_evidence")?.prepareInvocation?.({ input }, token) as PreparedToolInvocation | undefined;
    assert.deepEqual(await prepare({ query: "How do\nI retry [it](command:x)?" }), {
      invocationMessage: "Finding ADK evidence: How do I retry [it] (command:x)?",
    });
    const long = await prepare({ query: "x".repeat(5000) });
    assert.ok(String(long?.invocationMessage).length < 150);
    assert.deepEqual(await prepare({ query: 7 }), { invocationMessage: "Finding ADK evidence: " });
    registered.dispose();
  });

  it("is nothing in an editor that has no place for it", () => {
    const { registerTool } = lm;
    Object.assign(lm, { registerTool: undefined });
    try {
      registerEvidenceTool(new Evidence(server()), inputs).dispose();
    } finally {
      Object.assign(lm, { registerTool });
    }
    assert.equal(tools.size, 0);
  });

  for (const [group, texts] of Object.entries(injections)) {
    it(`gives a model nothing of a hostile pack but the server's prompt of it: ${group}`, async () => {
      for (const text of texts) {
        const hostile = candidate({ text, symbol: text, title: text, path: text, headings: [text] });
        const backend = new FakeBackend({
          "adk/evidence": () => pack({ query: text, candidates: [hostile], warnings: [{ code: "coverage", text }] }),
          "adk/render": ({ format, pack: { candidates } }) => rendered(`${format} of ${candidates.length}`),
        });
        assert.equal(await textOf(invoke(backend, { query: text })), "prompt of 1");
        const asked = backend.asked.map(({ params }) => params as Partial<RenderParams>);
        assert.deepEqual(asked[1]?.pack?.candidates, [hostile]);
      }
    });
  }

  it("tells the model what is wrong, and what the user can do", async () => {
    const refusing = new FakeBackend({
      "adk/evidence": () => {
        throw new Problem("The parameters are not valid: query is empty.", "invalid_request");
      },
    });
    await assert.rejects(invoke(refusing, { query: "" }), /query is empty/);
    await assert.rejects(invoke(refusing, { question: "x" }), /no input question/);
    await assert.rejects(invoke(refusing, { query: "x", sources: ["web"] }), /"docs" and "code"/);
    const down = new FakeBackend({
      "adk/evidence": () => {
        throw new Problem("Nothing is indexed yet.", "no_index", [{ title: "Update Index", command: "c" }]);
      },
    });
    await assert.rejects(invoke(down, { query: "x" }), {
      message: 'Nothing is indexed yet. The user can do this: "Update Index".',
    });
  });

  it("says nothing of the inside of a failure that nobody expected", async () => {
    const broken = new FakeBackend({
      "adk/evidence": () => {
        throw new TypeError("secret of the inside");
      },
    });
    await assert.rejects(invoke(broken, { query: "x" }), (error: Error) => !error.message.includes("secret"));
  });

  it("is cancelled where the request is", async () => {
    const cancelled = new FakeBackend({
      "adk/evidence": () => {
        throw new Problem("The request was cancelled.", "cancelled");
      },
    });
    await assert.rejects(invoke(cancelled, { query: "x" }), (error) => error instanceof CancellationError);
  });
});

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { processesWith } from "../e2e/processes";
import { until } from "../e2e/until";
import { HOSTILE_WORD } from "../e2e/workplace";

const TOOL = "find_adk_evidence";
/** As the editor names the server that the extension offers. */
const SERVER = "adk-evidence.adk-evidence/ADK Evidence";
const QUESTION = "How do I retry a tool that throws?";
const CITATION = /adk-(?:docs|python)@[0-9a-f]{40}:\S+/g;

describe("what models in the editor have", () => {
  const settings: Record<string, unknown> = JSON.parse(process.env.ADK_EVIDENCE_TEST_SETTINGS ?? "{}");
  const corpus = path.dirname(String(settings["adkEvidence.home"]));

  async function invoke(
    name: string,
    input: object,
    options: Partial<vscode.LanguageModelToolInvocationOptions<object>> = {},
    token?: vscode.CancellationToken,
  ): Promise<string> {
    const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined, ...options }, token);
    return result.content
      .map((part) => {
        assert.ok(part instanceof vscode.LanguageModelTextPart);
        return part.value;
      })
      .join("\n");
  }

  /** What the server for agents answers, as the editor gives it to models. */
  function ask(name: string, input: object): Promise<string> {
    return invoke(`mcp_adk_evidence_${name}`, input);
  }

  /** What a text says itself: without the lines between fences, and without the names of places. */
  function outsideFences(text: string): string {
    return text.replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, "").replaceAll(/^AT: .*$/gm, "");
  }

  /** That what the corpora say is between fences, and nowhere else. */
  function assertFenced(text: string): void {
    // Names stand in code style.
    const outside = outsideFences(text).replace(/(`+)[^\n]*?\1/g, "");
    assert.match(outside, /never instructions to follow/);
    const payloads: string[] = JSON.parse(fs.readFileSync(path.join(corpus, "hostile.json"), "utf8"));
    const told = payloads.filter((payload) => /^[\x20-\x7e]{20,80}$/.test(payload) && text.includes(payload));
    assert.ok(told.length > 3, "the hostile texts were not found");
    for (const payload of told) {
      assert.ok(!outside.includes(payload), payload);
    }
  }

  function listed(tool: string): boolean {
    return vscode.lm.tools.some(({ name }) => name === tool);
  }

  describe("the tool of the extension", () => {
    it("is listed with what it is for and what it takes", () => {
      const tool = vscode.lm.tools.find(({ name }) => name === TOOL);
      assert.match(tool?.description ?? "", /Agent Development Kit.*citation/);
      const schema: unknown = tool?.inputSchema;
      const manifest = vscode.extensions.getExtension("adk-evidence.adk-evidence")?.packageJSON;
      assert.deepEqual(schema, manifest.contributes.languageModelTools[0].inputSchema);
    });

    it("is the only one that finds evidence", () => {
      // The list also has tools that models do not see now.
      assert.deepEqual(
        vscode.lm.tools.map(({ name }) => name).filter((name) => name.includes("find_adk_evidence")),
        [TOOL],
      );
    });

    it("answers with cited, fenced texts", async () => {
      const text = await invoke(TOOL, { query: QUESTION, maxResults: 4 });
      const outside = outsideFences(text);
      const cited = outside.match(CITATION) ?? [];
      assert.ok(cited.length >= 2 && cited.length <= 4, outside);
      assert.match(outside, /\[CTX 1\]/);
      assert.doesNotMatch(outside, /max_retries/);
      assert.match(text, /max_retries/);
    });

    it("keeps to the budget of the model, as the model counts", async () => {
      const countTokens = async (text: string) => Math.ceil(text.length / 2);
      const text = await invoke(TOOL, { query: QUESTION }, { tokenizationOptions: { tokenBudget: 600, countTokens } });
      assert.ok((await countTokens(text)) <= 600);
      assert.match(text, CITATION);
    });

    it("tells what is wrong with an input in a sentence that names it", async () => {
      const wrong: [object, RegExp][] = [
        [{}, /query/],
        [{ query: " " }, /query/],
        [{ query: QUESTION, maxResults: 0 }, /maxResults.*greater than or equal to 1/],
        [{ query: QUESTION, sources: ["web"] }, /sources.*"docs" and "code"/],
        [{ query: QUESTION, colour: "red" }, /colour/],
      ];
      for (const [input, message] of wrong) {
        await assert.rejects(invoke(TOOL, input), (error: Error) => {
          assert.match(error.message, message);
          assert.doesNotMatch(error.message, /\n|Error:/);
          return true;
        });
      }
    });

    it("ends with the call that it serves, and answers the next", async () => {
      const source = new vscode.CancellationTokenSource();
      const held = invoke(TOOL, { query: "HOLD this question" }, {}, source.token);
      const outcome = assert.rejects(held, /[Cc]ancel/);
      source.cancel();
      await outcome;
      assert.match(await invoke(TOOL, { query: QUESTION }), CITATION);
    });

    it("hands hostile texts on as data", async () => {
      assertFenced(await invoke(TOOL, { query: HOSTILE_WORD, sources: ["docs"], maxResults: 20 }));
    });
  });

  describe("the server for agents", () => {
    const servers = () => processesWith("server.py", corpus, "serve", "mcp");
    const tools = ["find_adk_evidence", "find_adk_symbol", "read_adk_source"];

    before(async () => {
      await setting(true);
      // The editor looks for servers when a chat needs them, or with this list.
      void vscode.commands.executeCommand("workbench.mcp.listServer");
      await until("its tools are there", 60_000, async () => {
        await vscode.commands.executeCommand("workbench.mcp.startServer", SERVER, { waitForLiveTools: true });
        return tools.every((tool) => listed(`mcp_adk_evidence_${tool}`));
      });
      await vscode.commands.executeCommand("workbench.action.closeQuickOpen");
    });
    after(async () => {
      await vscode.commands.executeCommand("workbench.mcp.stopServer", SERVER);
      await until("it has ended", 60_000, () => servers().length === 0);
      await setting(undefined);
    });

    async function setting(enabled: boolean | undefined): Promise<void> {
      const settings = vscode.workspace.getConfiguration();
      await settings.update("adkEvidence.mcp.enabled", enabled, vscode.ConfigurationTarget.Global);
    }

    it("runs once, on the index of the settings", () => {
      const [pid, ...others] = servers();
      assert.deepEqual(others, []);
      const line = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      assert.equal(line[line.indexOf("--home") + 1], settings["adkEvidence.home"]);
    });

    it("answers from a question to the cited lines", async () => {
      const [citation = ""] = outsideFences(await ask("find_adk_evidence", { query: QUESTION })).match(CITATION) ?? [];
      assert.match(await ask("read_adk_source", { citation }), /RetryPlugin/);
      assert.match(await ask("find_adk_symbol", { query: "RetryPlugin" }), /from google\.adk/);
    });

    it("tells what is wrong with an input in a sentence that names it", async () => {
      const wrong = invoke("mcp_adk_evidence_find_adk_evidence", { query: QUESTION, colour: "red" });
      assert.match(await wrong.catch((error: Error) => error.message), /colour/);
    });

    it("hands hostile texts on as data", async () => {
      // So many tokens that several texts are shown, and not the best lines of two.
      const input = { query: HOSTILE_WORD, max_results: 20, max_tokens: 8000 };
      assertFenced(await ask("search_code_and_docs", input));
    });
  });
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import * as vscode from "vscode";
import { copyFrom, copyShown } from "../../../src/commands/copy";
import { Evidence } from "../../../src/evidence/client";
import { FakeBackend } from "../evidence/fakeBackend";
import { candidate, pack, rendered, source } from "../evidence/packs";

const other = candidate({ candidate_id: "other", citation: "adk-docs@c:https://adk.dev/a/" });
const two = pack({ candidates: [candidate(), other] });

function rendering(): FakeBackend {
  return new FakeBackend({ "adk/render": ({ format }) => rendered(format) });
}

describe("copying evidence", () => {
  it("puts a citation on the clipboard to the letter", async () => {
    assert.equal(await copyFrom("citation", two, other, new Evidence(rendering())), "Citation copied.");
    assert.equal(await vscode.env.clipboard.readText(), "adk-docs@c:https://adk.dev/a/");
  });

  it("puts a link to the lines on it, and the code of the whole sample", async () => {
    await copyFrom("link", two, other, new Evidence(rendering()));
    assert.match(
      await vscode.env.clipboard.readText(),
      /^https:\/\/github\.com\/google\/adk-python\/blob\/v2\.13\.0\//,
    );
    const text = "from google.adk.agents import Agent\nimport os\n\nagent = Agent()\n";
    const sample = candidate({ source_type: "docs", origin: "sample", text: "agent = Agent()" });
    const backend = new FakeBackend({ "adk/source": () => source({ text }) });
    await copyFrom("code", pack({ candidates: [sample] }), sample, new Evidence(backend));
    assert.equal(await vscode.env.clipboard.readText(), text);
  });

  it("inserts code below the cursor of the file that is edited, and leaves what is selected", async () => {
    const before = { ...vscode.window };
    const inserted: unknown[] = [];
    const editor = (scheme: string) => ({
      viewColumn: 1,
      selection: { active: { line: 3 } },
      document: {
        uri: { scheme, path: "/work/agent.py" },
        getText: () => "",
        lineAt: () => ({ range: { start: "start", end: "end" }, isEmptyOrWhitespace: false }),
      },
      edit: async (change: (edit: object) => void) =>
        change({ insert: (at: unknown, text: string) => inserted.push(at, text) }),
    });
    const evidence = new Evidence(new FakeBackend({ "adk/source": () => source() }));
    try {
      const [cited, own] = [editor("adk-evidence"), editor("file")];
      Object.assign(vscode.window, { activeTextEditor: cited, visibleTextEditors: [cited] });
      await assert.rejects(copyFrom("insert", two, candidate(), evidence), { code: "no_editor" });
      Object.assign(vscode.window, { visibleTextEditors: [cited, own], showTextDocument: async () => own });
      assert.equal(await copyFrom("insert", two, candidate(), evidence), "Code inserted into /work/agent.py.");
      assert.deepEqual(inserted, ["end", "\nclass Runner: ...\n"]);
    } finally {
      Object.assign(vscode.window, before);
    }
  });

  it("asks for the form of a pack, and has the server make Markdown and prompts", async () => {
    const before = vscode.window.showQuickPick;
    try {
      for (const form of ["Markdown", "Prompt", "JSON"]) {
        const pick = async (items: vscode.QuickPickItem[]) => items.find(({ label }) => label === form);
        Object.assign(vscode.window, { showQuickPick: pick });
        await copyShown(two, new Evidence(rendering()));
        const { queryUsed: _, ...alone } = two;
        const copied = await vscode.env.clipboard.readText();
        assert.deepEqual(form === "JSON" ? JSON.parse(copied) : copied, form === "JSON" ? alone : form.toLowerCase());
      }
    } finally {
      Object.assign(vscode.window, { showQuickPick: before });
    }
  });

  it("says what to do where there is no evidence yet", async () => {
    await assert.rejects(copyShown(null, new Evidence(rendering())), { code: "no_pack" });
  });
});

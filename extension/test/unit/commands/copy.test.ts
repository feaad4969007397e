import assert from "node:assert/strict";
import { describe, it } from "mocha";
import * as vscode from "vscode";
import { copyEvidence, copyShown } from "../../../src/commands/copy";
import { Evidence } from "../../../src/evidence/client";
import { FakeBackend } from "../evidence/fakeBackend";
import { candidate, pack, rendered } from "../evidence/packs";

const other = candidate({ candidate_id: "other", citation: "adk-docs@c:https://adk.dev/a/" });
const two = pack({ candidates: [candidate(), other] });

function rendering(): FakeBackend {
  return new FakeBackend({ "adk/render": ({ format, candidateIds }) => rendered(`${format} of ${candidateIds}`) });
}

describe("copying evidence", () => {
  it("puts a citation on the clipboard to the letter", async () => {
    await copyEvidence("citation", two, other, new Evidence(rendering()));
    assert.equal(await vscode.env.clipboard.readText(), "adk-docs@c:https://adk.dev/a/");
  });

  it("puts the pack on it as JSON, the same as on every other surface", async () => {
    await copyEvidence("json", two, null, new Evidence(rendering()));
    const { queryUsed: _, ...alone } = two;
    assert.deepEqual(JSON.parse(await vscode.env.clipboard.readText()), alone);
  });

  it("puts one result on it where one is meant", async () => {
    await copyEvidence("json", two, other, new Evidence(rendering()));
    assert.deepEqual(JSON.parse(await vscode.env.clipboard.readText()), other);
    await copyEvidence("markdown", two, other, new Evidence(rendering()));
    assert.equal(await vscode.env.clipboard.readText(), "markdown of other");
  });

  it("asks for the form of a pack, and has the server make Markdown and prompts", async () => {
    const before = vscode.window.showQuickPick;
    try {
      for (const form of ["Markdown", "Prompt"]) {
        const pick = async (items: vscode.QuickPickItem[]) => items.find(({ label }) => label === form);
        Object.assign(vscode.window, { showQuickPick: pick });
        await copyShown(two, new Evidence(rendering()));
        assert.equal(await vscode.env.clipboard.readText(), `${form.toLowerCase()} of null`);
      }
    } finally {
      Object.assign(vscode.window, { showQuickPick: before });
    }
  });

  it("says what to do where there is no evidence yet", async () => {
    await assert.rejects(copyShown(null, new Evidence(rendering())), { code: "no_pack" });
  });
});

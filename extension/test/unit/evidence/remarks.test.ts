import assert from "node:assert/strict";
import { describe, it } from "mocha";
import * as vscode from "vscode";
import { asksForActions, asksForFixes, withReadOnlySource } from "../../../src/evidence/remarks";
import { sourceAddress } from "../../../src/evidence/sourceAddress";

const PLACE = new vscode.Range(4, 0, 4, 0);

function remark(data: unknown): vscode.Diagnostic & { data?: unknown } {
  const location = new vscode.Location(vscode.Uri.file("/home/u/agents.py"), PLACE);
  return {
    range: PLACE,
    message: "google-adk 2.13.0 has no `LlmAgent(modle=)`.",
    severity: vscode.DiagnosticSeverity.Information,
    relatedInformation: [new vscode.DiagnosticRelatedInformation(location, "LlmAgent.model: adk-python@c0de:x.py#L5")],
    data,
  };
}

describe("a remark on a wrong name", () => {
  it("leads to the read-only document with the cited source", () => {
    const source = { repo: "google/adk-python", commit: "c0de", path: "src/google/adk/agents/llm_agent.py" };
    const [related] =
      withReadOnlySource(remark({ source }), (file) => sourceAddress(file, undefined)).relatedInformation ?? [];
    assert.equal(related?.location.uri.scheme, "adk-evidence");
    assert.equal(related?.location.range, PLACE);
    assert.equal(related?.message, "LlmAgent.model: adk-python@c0de:x.py#L5");
  });

  it("stays as it is where the server does not say which source it cites", () => {
    for (const data of [undefined, null, "x", {}, { source: { repo: 7 } }]) {
      const [related] = withReadOnlySource(remark(data), () => assert.fail()).relatedInformation ?? [];
      assert.equal(related?.location.uri.scheme, "file");
    }
  });

  it("is not offered an action for every place where the cursor stands", () => {
    const context = { diagnostics: [], only: undefined };
    assert.ok(asksForActions({ ...context, triggerKind: vscode.CodeActionTriggerKind.Invoke }));
    const automatic = { ...context, triggerKind: vscode.CodeActionTriggerKind.Automatic };
    assert.ok(!asksForActions(automatic));
    // What is certain is mended when a file is saved.
    const saving = { ...automatic, only: { value: "source.fixAll" } as vscode.CodeActionKind };
    assert.ok(asksForActions(saving) && asksForFixes(saving) && !asksForFixes(automatic));
  });
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Problem } from "../../../src/problem";
import { requestProblem } from "../../../src/server/errors";

function failed(code: number, message = "A sentence.", data?: unknown): Problem {
  return requestProblem(Object.assign(new Error(message), { code, data }));
}

describe("a failed request", () => {
  const table: [string, Problem, string, string | undefined][] = [
    [
      "without an index",
      failed(-32803, "x", { code: "index_missing", hint: "Run it." }),
      "no_index",
      "adkEvidence.getStarted",
    ],
    [
      "without a list of symbols",
      failed(-32803, "x", { code: "targets_missing", hint: "Run it." }),
      "targets_missing",
      "adkEvidence.ingest",
    ],
    [
      "on an index of other models",
      failed(-32803, "x", { code: "index_mismatch", hint: "" }),
      "index_mismatch",
      "adkEvidence.ingest",
    ],
    [
      "with bad settings",
      failed(-32803, "x", { code: "invalid_settings", hint: "" }),
      "invalid_settings",
      "workbench.action.openSettings",
    ],
    [
      "without a key",
      failed(-32803, "x", { code: "voyage_key", hint: "Set VOYAGE_API_KEY." }),
      "voyage_key",
      "adkEvidence.setVoyageApiKey",
    ],
    [
      "without weights",
      failed(-32803, "x", { code: "model_unavailable", hint: "" }),
      "model_unavailable",
      "adkEvidence.runDoctor",
    ],
    [
      "without a corpus",
      failed(-32803, "x", { code: "source_unavailable", hint: "" }),
      "source_unavailable",
      "adkEvidence.runDoctor",
    ],
    ["while another ingests", failed(-32803, "x", { code: "ingest_running", hint: "" }), "ingest_running", undefined],
    [
      "for a reason of its own",
      failed(-32803, "x", { code: "store_error", hint: "" }),
      "store_error",
      "adkEvidence.runDoctor",
    ],
    ["with bad parameters", failed(-32602), "invalid_request", undefined],
    ["that was cancelled", failed(-32800), "cancelled", undefined],
    ["that the server cancelled", failed(-32802), "cancelled", undefined],
    ["whose server ended", failed(-32097), "server_ended", "adkEvidence.showLogs"],
    ["by a fault of the server", failed(-32603), "internal_error", "adkEvidence.showLogs"],
  ];
  for (const [what, problem, code, command] of table) {
    it(`${what} is a problem with its mend`, () => {
      assert.ok(problem instanceof Problem);
      assert.equal(problem.code, code);
      assert.equal(problem.fixes[0]?.command, command);
    });
  }

  it("tells the server's sentence and hint", () => {
    const problem = failed(-32803, "The models differ.", { code: "index_mismatch", hint: "Ingest again." });
    assert.equal(problem.message, "The models differ. Ingest again.");
  });

  it("names what the palette has instead of a terminal's command", () => {
    const hint =
      "Run `adk-ingest all --home '/a b'` to build it anew, or `adk-evidence doctor`, or `adk-ingest delete x`.";
    const problem = failed(-32803, "The models differ.", { code: "index_mismatch", hint });
    const expected =
      'The models differ. Run "ADK Evidence: Update Index" to build it anew, or "ADK Evidence: Status", ' +
      "or `adk-ingest delete x`.";
    assert.equal(problem.message, expected);
  });

  it("does not show what an unexpected failure says", () => {
    assert.ok(!requestProblem(new Error("secret at line 3")).message.includes("secret"));
    assert.equal(requestProblem("thrown").code, "internal_error");
    assert.equal(failed(-32803, "x", { code: 7 }).code, "internal_error");
  });

  it("stays the problem that it is", () => {
    const problem = new Problem("One.", "one");
    assert.equal(requestProblem(problem), problem);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type SymbolItem, symbolItems } from "../../../src/commands/symbolItems";
import { answer, target } from "./targets";

function texts({ label, description = "", detail = "" }: SymbolItem): string {
  return `${label} ${description} ${detail}`;
}

describe("the list of symbols", () => {
  it("tells of each its kind, its name, where it is imported from and what it is for", () => {
    const [item] = symbolItems(answer([target()]), []);
    assert.equal(item?.label, "$(symbol-class) Runner");
    assert.equal(item?.description, "google.adk.Runner");
    assert.equal(item?.detail, "Runs an agent.");
  });

  it("is that of the server, in its order, whatever the typed text is like", () => {
    const results = [target({ symbol: "Zebra" }), target({ symbol: "Runner.run", type: "method" }), target()];
    const items = symbolItems(answer(results), []);
    assert.deepEqual(
      items.map((item) => item.target),
      results,
    );
    assert.ok(items.every(({ alwaysShow }) => alwaysShow));
  });

  it("marks what the user's own version lacks, and nothing where that is not known", () => {
    const results = (["false", "true", "unknown"] as const).map((available) => target({ available }));
    const [lacking, ...others] = symbolItems(answer(results, { installed: "2.1.0" }), []);
    assert.match(lacking?.description ?? "", /\$\(warning\) not in your google-adk 2\.1\.0$/);
    for (const { description } of others) {
      assert.equal(description, "google.adk.Runner");
    }
  });

  it("marks what users may not rely on", () => {
    const results = (["private", "internal", "public"] as const).map((standing) => target({ standing }));
    assert.deepEqual(
      symbolItems(answer(results), []).map(({ description }) => description),
      ["google.adk.Runner · private", "google.adk.Runner · internal", "google.adk.Runner"],
    );
  });

  it("marks what is deprecated", () => {
    assert.match(symbolItems(answer([target({ deprecated: true })]), [])[0]?.description ?? "", /deprecated/);
  });

  it("ends with the server's warnings, which are told in full when they are chosen", () => {
    const warning = "By words only; run `adk-ingest all`.";
    const item = symbolItems(answer([target()], { warnings: [warning] }), []).at(-1);
    const told = 'By words only; run "ADK Evidence: Update Index".';
    assert.deepEqual([item?.label, item?.target, item?.warning], [`$(warning) ${told}`, null, told]);
  });

  it("says so where nothing is found", () => {
    const [item] = symbolItems(answer([]), []);
    assert.ok(item?.label.includes("No symbol of the ADK") && item.target === null);
  });

  it("offers the buttons at symbols alone", () => {
    const buttons = [{ iconPath: { id: "copy" } }];
    const items = symbolItems(answer([target()], { warnings: ["w"] }), buttons);
    assert.deepEqual(
      items.map((item) => item.buttons),
      [buttons, undefined],
    );
  });

  it("shows nothing of the corpus or the server as an icon, a link or hidden text", () => {
    const hostile = "$(trash)[x](command:evil)\u202e\n$\u200b(zap)";
    const results = [target({ symbol: hostile, import_path: hostile, summary: hostile, available: "false" })];
    for (const item of symbolItems(answer(results, { installed: hostile, warnings: [hostile] }), [])) {
      const ours = texts(item).replace("$(symbol-class)", "").replaceAll("$(warning)", "");
      assert.doesNotMatch(ours, /\$\(|\]\(|[\u202e\u200b\n]/);
    }
  });
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { showHistory } from "../../../src/commands/history";
import type { PackPanel } from "../../../src/webview/panel";
import { QUESTION } from "../../webview/packs";
import { window } from "../fake-vscode";

describe("the question history", () => {
  it("has the questions of an earlier window, with the labels of what they were narrowed to", async () => {
    const accepted: (() => void)[] = [];
    const hidden: (() => void)[] = [];
    const pick = {
      items: [] as { id: string; description: string }[],
      selectedItems: [] as { id: string }[],
      onDidTriggerButton: () => undefined,
      onDidAccept: (listener: () => void) => accepted.push(listener),
      onDidHide: (listener: () => void) => hidden.push(listener),
      show: () => undefined,
      hide: () => hidden.forEach((listener) => void listener()),
      dispose: () => undefined,
    };
    Object.assign(window, { createQuickPick: () => pick });
    const recalled: string[] = [];
    const panel = {
      history: [] as object[],
      restore: async () => {
        panel.history = [
          { ...QUESTION, id: "entry-0", results: 2, askedAt: "", sources: "docs", path: "docs/tools/**" },
          { ...QUESTION, id: "entry-1", results: 1, askedAt: "" },
        ];
      },
      recall: async (id: string) => recalled.push(id),
    };
    const shown = showHistory(panel as unknown as PackPanel);
    await new Promise(setImmediate);
    assert.deepEqual(
      pick.items.map(({ description }) => description),
      ["2 results \u00b7 Docs \u00b7 docs/tools/**", "1 result"],
    );
    pick.selectedItems = pick.items.slice(0, 1);
    accepted.forEach((listener) => void listener());
    await shown;
    assert.deepEqual(recalled, ["entry-0"]);
  });
});

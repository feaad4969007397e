import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import { askQuestion } from "../../../src/commands/ask";
import type { PackPanel } from "../../../src/webview/panel";
import { QUESTION } from "../../webview/packs";
import { window } from "../fake-vscode";

interface Item {
  label: string;
  description?: string;
}

describe("asking a question", () => {
  const listeners: Record<string, (() => void)[]> = {};
  const on = (event: string) => (listener: () => void) => {
    listeners[event] = [...(listeners[event] ?? []), listener];
  };
  const fire = (event: string) => listeners[event]?.forEach((listener) => void listener());
  const pick = {
    value: "",
    items: [] as Item[],
    selectedItems: [] as Item[],
    onDidChangeValue: on("change"),
    onDidTriggerButton: on("button"),
    onDidAccept: on("accept"),
    onDidHide: on("hide"),
    show: () => undefined,
    hide: () => fire("hide"),
    dispose: () => undefined,
  };
  let done: unknown[] = [];
  const panel = {
    history: [] as object[],
    restore: async () => {
      panel.history = [
        { ...QUESTION, id: "entry-0", results: 2, askedAt: "", sources: "docs", path: "docs/tools/**" },
        { ...QUESTION, id: "entry-1", results: 1, askedAt: "" },
      ];
    },
    recall: async (id: string) => done.push(id),
    ask: async (question: object, focus: boolean) => done.push(question, focus),
    clearHistory: () => {
      panel.history = [];
    },
  };
  const accept = (item: Item | undefined) => {
    pick.selectedItems = item === undefined ? [] : [item];
    fire("accept");
  };
  beforeEach(() => {
    done = [];
    for (const event of Object.keys(listeners)) {
      delete listeners[event];
    }
    pick.value = "";
    Object.assign(window, { createQuickPick: () => pick });
  });

  it("lists the questions of an earlier window, with the labels of what they were narrowed to", async () => {
    const asked = askQuestion(panel as unknown as PackPanel);
    await new Promise(setImmediate);
    assert.deepEqual(
      pick.items.map(({ description }) => description),
      ["2 results \u00b7 Docs \u00b7 docs/tools/**", "1 result"],
    );
    accept(pick.items[0]);
    await asked;
    assert.deepEqual(done, ["entry-0"]);
  });

  it("asks what is typed, whatever was asked before", async () => {
    const asked = askQuestion(panel as unknown as PackPanel);
    await new Promise(setImmediate);
    pick.value = ` ${QUESTION.query} `;
    fire("change");
    assert.equal(pick.items.length, 3);
    accept(pick.items[0]);
    await asked;
    assert.deepEqual(done, [{ query: QUESTION.query, taskMode: "build", sources: "both", path: "" }, true]);
  });

  it("forgets the earlier questions when that is asked for, and asks nothing if the line is left", async () => {
    const asked = askQuestion(panel as unknown as PackPanel);
    await new Promise(setImmediate);
    fire("button");
    assert.deepEqual(pick.items, []);
    fire("hide");
    await asked;
    assert.deepEqual(done, []);
  });
});

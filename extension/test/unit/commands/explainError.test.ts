import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { explainError, explainTerminalError, followSelection } from "../../../src/commands/explainError";
import { errorLinks } from "../../../src/terminal/errorLinks";
import type { Question } from "../../../src/webview/messages";
import type { PackPanel } from "../../../src/webview/panel";
import { commands, env, window } from "../fake-vscode";

const TRACEBACK = 'Traceback (most recent call last):\n  File "/home/me/shop.py", line 1, in f\nValueError: selected';

describe("an error that is to be explained", () => {
  const { executeCommand } = commands;
  const asked: Question[] = [];
  const panel = {
    ask: async (question: Question) => {
      asked.push(question);
      return null;
    },
  } as unknown as PackPanel;
  let boxes: { value: string }[] = [];
  let typed: string | undefined;

  beforeEach(async () => {
    asked.length = 0;
    boxes = [];
    typed = undefined;
    select(null);
    await env.clipboard.writeText("");
    Object.assign(window, {
      showInputBox: async (options: { value: string }) => {
        boxes.push(options);
        return typed;
      },
    });
  });
  afterEach(() => {
    commands.executeCommand = executeCommand;
    window.activeTextEditor = undefined;
  });

  /** Opens an editor with a selection. */
  function select(text: string | null): void {
    const editor = text === null ? undefined : { document: { getText: () => text }, selection: {} };
    window.activeTextEditor = editor as unknown as typeof window.activeTextEditor;
  }

  /** Makes a terminal of which this is selected. */
  function selectInTerminal(text: string): void {
    commands.executeCommand = (async (command: string) => {
      assert.equal(command, "workbench.action.terminal.copySelection");
      await env.clipboard.writeText(text);
    }) as typeof executeCommand;
  }

  it("is the one of the selection, not that of the clipboard", async () => {
    select(`\n${TRACEBACK}\n`);
    await env.clipboard.writeText("KeyError: copied");
    await explainError(undefined, panel);
    assert.deepEqual(asked, [{ query: TRACEBACK, taskMode: "debug", sources: "both", path: "" }]);
    assert.equal(await env.clipboard.readText(), "KeyError: copied");
  });

  it("is offered in the menu only while what is selected looks like one", () => {
    const told: unknown[][] = [];
    commands.executeCommand = (async (...all: unknown[]) => void told.push(all)) as typeof executeCommand;
    const following = followSelection();
    for (const text of ["agent = LlmAgent()", "", TRACEBACK, "KeyError: 'x'", "x"]) {
      const textEditor = { document: { getText: () => text }, selection: {} } as never;
      window.selectionChanged.fire({ textEditor, kind: undefined });
    }
    following.dispose();
    assert.deepEqual(told, [
      ["setContext", "adkEvidence.errorSelected", true],
      ["setContext", "adkEvidence.errorSelected", false],
    ]);
  });

  it("is the one of the clipboard where nothing is selected", async () => {
    select(" \n");
    await env.clipboard.writeText("KeyError: copied");
    await explainError({ scheme: "file" }, panel);
    assert.equal(asked[0]?.query, "KeyError: copied");
  });

  it("is not the one of the clipboard where something else is selected", async () => {
    select("it broke");
    await env.clipboard.writeText("KeyError: copied");
    await explainError(undefined, panel);
    assert.deepEqual([boxes.map(({ value }) => value), asked.length], [["it broke"], 0]);
  });

  it("is asked for where there is none, beginning with what is selected", async () => {
    select("  it broke ");
    typed = "the agent never stops";
    await explainError(undefined, panel);
    assert.deepEqual([boxes[0]?.value, asked[0]?.query], ["it broke", "the agent never stops"]);
  });

  it("is not asked about if the user leaves the box", async () => {
    await explainError(undefined, panel);
    assert.deepEqual([boxes.length, asked.length], [1, 0]);
  });

  it("is what a link passes on", async () => {
    const [link] = errorLinks("google.adk.errors.not_found_error.NotFoundError: no session");
    assert.ok(link);
    await explainError(link.argument, panel);
    assert.equal(asked[0]?.query, "google.adk.errors.not_found_error.NotFoundError: no session");
  });

  it("is whatever is selected in the terminal, and the clipboard stays as it was", async () => {
    await env.clipboard.writeText("mine");
    selectInTerminal("it broke\n");
    await explainTerminalError(panel);
    assert.deepEqual([asked[0]?.query, await env.clipboard.readText()], ["it broke", "mine"]);
  });

  it("is not what the clipboard had where nothing is selected in the terminal", async () => {
    await env.clipboard.writeText("KeyError: copied");
    commands.executeCommand = (async () => undefined) as typeof executeCommand;
    await explainTerminalError(panel);
    assert.deepEqual([asked.length, boxes.length, await env.clipboard.readText()], [0, 1, "KeyError: copied"]);
  });

  for (const text of ["it broke", ""]) {
    it(`leaves an image in the clipboard where ${JSON.stringify(text)} is selected in the terminal`, async () => {
      const { writeText } = env.clipboard;
      // The command itself may replace the image.
      selectInTerminal(text);
      const { executeCommand: copy } = commands;
      const written: string[] = [];
      commands.executeCommand = (async (command: string) => {
        env.clipboard.writeText = writeText;
        await copy(command);
        env.clipboard.writeText = async (text: string) => void written.push(text);
      }) as typeof executeCommand;
      env.clipboard.writeText = async (text: string) => void written.push(text);
      try {
        await explainTerminalError(panel);
      } finally {
        env.clipboard.writeText = writeText;
      }
      assert.deepEqual(written, []);
    });
  }

  it("keeps its beginning and its end where it is longer than a question may be", async () => {
    const frames = '  File "/env/google/adk/a.py", line 1, in f\n    f()\n'.repeat(5000);
    select(`Traceback (most recent call last):\n${frames}RecursionError: too deep`);
    await explainError(undefined, panel);
    const query = asked[0]?.query ?? "";
    assert.ok(query.length <= 100_000 && query.endsWith("RecursionError: too deep"));
  });
});

describe("links in a terminal", () => {
  it("are the functions of calls in google-adk's files and the errors of google-adk", () => {
    const frame = '  File "/env/google/adk/runners.py", line 12, in run_async';
    const error = "google.adk.errors.NotFoundError: no";
    const texts = [frame, error].map((line) =>
      errorLinks(line).map(({ startIndex, length, command }) => [line.slice(startIndex, startIndex + length), command]),
    );
    assert.deepEqual(texts, [
      [["run_async", "adkEvidence.openFrame"]],
      [["google.adk.errors.NotFoundError", "adkEvidence.explainError"]],
    ]);
  });

  it("are none in other lines", () => {
    for (const line of ["$ python shop.py", '  File "/home/me/shop.py", line 1, in f', "ValueError: no", ""]) {
      assert.deepEqual(errorLinks(line), []);
    }
  });
});

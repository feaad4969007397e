import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { asTraceback, findErrorName, findFrame, isError } from "../../../src/text/traceback";
import { cpuMs } from "../cpu";

const FRAME = '  File "/env/site-packages/google/adk/runners.py", line 12, in run_async';

describe("a text that is an error", () => {
  for (const text of [
    `Traceback (most recent call last):\n${FRAME}\nValueError: no`,
    FRAME,
    `2026-01-01 ERROR ${FRAME}`,
    "ValueError: no agent",
    "google.adk.errors.not_found_error.NotFoundError: no session",
    "KeyboardInterrupt",
    "Exception: what happened",
    "what I did\nRuntimeError: what came of it",
    "E       AssertionError: assert 1 == 2",
    "  | ValueError: in a group",
  ]) {
    it(`is ${JSON.stringify(text.slice(0, 60))}`, () => assert.equal(isError(text), true));
  }

  for (const text of [
    "",
    "How do I retry a tool that throws?",
    "class ShopError(Exception):",
    "    except ValueError:",
    "raise ValueError('no')",
    "    ValueError: as a docstring says",
    "https://adk.dev/errors",
    "def error(): ...",
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(isError(text), false));
  }

  it("is found in linear time", function () {
    this.timeout(60_000);
    const took = cpuMs(() => {
      for (const part of ['File "', "a.", "Aa", "| ", "E  ", " ", 'File "/google/adk/', "google.adk.a"]) {
        isError(part.repeat(200_000));
        findFrame(part.repeat(200_000));
        findErrorName(part.repeat(200_000));
      }
    });
    assert.ok(took < 3000, `${took} ms`);
  });
});

describe("a line of a terminal", () => {
  it("names a call in a file of google-adk, and its function", () => {
    const found = findFrame(FRAME);
    assert.deepEqual(found?.frame, {
      path: "/env/site-packages/google/adk/runners.py",
      line: 12,
      function: "run_async",
    });
    assert.equal(FRAME.slice(found.place.start, found.place.start + found.place.length), "run_async");
    const windows = 'File "C:\\env\\google\\adk\\agents\\llm_agent.py", line 3, in <module>';
    assert.equal(findFrame(windows)?.frame.function, "<module>");
  });

  it("of another package names no call", () => {
    for (const path of ["/home/me/shop.py", "/env/google/genai/client.py", "/env/notgoogle/adk.py"]) {
      assert.equal(findFrame(`  File "${path}", line 12, in run`), null);
    }
    assert.equal(findFrame("google/adk/runners.py"), null);
  });

  it("names an error of google-adk", () => {
    const line = "google.adk.errors.not_found_error.NotFoundError: no session";
    const found = findErrorName(line);
    assert.equal(line.slice(found?.start, (found?.start ?? 0) + (found?.length ?? 0)), line.split(":")[0]);
    for (const other of ["ValueError: no", "see google.adk.errors.NotFoundError: it", "google.adk.runners: no"]) {
      assert.equal(findErrorName(other), null);
    }
  });

  it("becomes a traceback that the server reads", () => {
    const frame = { path: "/google/adk/runners.py", line: 12, function: "run" };
    assert.equal(
      asTraceback(frame),
      'Traceback (most recent call last):\n  File "/google/adk/runners.py", line 12, in run',
    );
    assert.deepEqual(findFrame(asTraceback(frame))?.frame, frame);
  });
});

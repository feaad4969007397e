import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { MarkScanner, type Part } from "../../../src/chat/marks";

/** The parts of an answer that arrives in these pieces; texts that follow each other are put together. */
function scan(...pieces: string[]): Part[] {
  const scanner = new MarkScanner();
  const parts = [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.end()];
  const merged: Part[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (part.kind === "text" && last?.kind === "text") {
      last.text += part.text;
    } else {
      merged.push({ ...part });
    }
  }
  return merged;
}

function marks(...pieces: string[]): number[][] {
  return scan(...pieces).flatMap((part) => (part.kind === "mark" ? [part.numbers] : []));
}

const FENCE = "```";
/** Answers, and the marks in them. */
const ANSWERS: readonly [string, number[][]][] = [
  ["It retries [CTX 1].", [[1]]],
  ["[CTX 1][CTX 12] and [CTX 3]", [[1], [12], [3]]],
  [
    "both [CTX 1, CTX 2] and [CTX 3; 4] and [CTX5,6]",
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  ],
  ["no marks: [CTX], [CTX x], [CTX 1, [CTX 1 2], CTX 1, [ctx 1], [CTX 12345]", []],
  ["[[CTX 1]](x) and [a][CTX 2]", [[1], [2]]],
  ["escaped \\[CTX 1] but \\\\[CTX 2]", [[2]]],
  ["code `[CTX 1]` and ``a ` [CTX 2]`` and [CTX 3]", [[3]]],
  ["an open ` backtick [CTX 1]\nand `code` [CTX 2]", [[1], [2]]],
  ["an \\` escaped one `x [CTX 1]` [CTX 2]", [[2]]],
  [`${FENCE}python\nx = 1  # [CTX 1]\n${FENCE}\n[CTX 2]`, [[2]]],
  [`- text\n  ${FENCE}\n  [CTX 1]\n  ${FENCE}\n  [CTX 2]`, [[2]]],
  [`1. ${FENCE}\n   [CTX 1]\n   ${FENCE}\n> ~~~~\n> [CTX 1]\n> ~~~\n> [CTX 1]\n> ~~~~\n[CTX 2]`, [[2]]],
  [`${FENCE}${FENCE}\n${FENCE}\n[CTX 1]\n${FENCE}${FENCE}\r\n[CTX 2]`, [[2]]],
  [`${FENCE}never closed\n[CTX 1]`, []],
  [`${FENCE}on one line${FENCE} [CTX 1]\n[CTX 2]`, [[1], [2]]],
  ["**bold** [CTX 1]\n* item [CTX 2]\n12) item [CTX 3]\n~~gone~~ [CTX 4]", [[1], [2], [3], [4]]],
  [`${"x".repeat(3000)}\`${"y".repeat(3000)}[CTX 1]\``, [[1]]],
];

/** Numbers from 0 to 1, the same in each run. */
function* random(): Generator<number, never> {
  for (let state = 20260101; ; ) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

describe("marks in an answer that arrives in pieces", () => {
  it("are found outside of code", () => {
    for (const [answer, expected] of ANSWERS) {
      assert.deepEqual(marks(answer), expected, answer.slice(0, 200));
    }
  });

  it("are the same wherever the pieces end", () => {
    for (const [answer] of ANSWERS.filter(([{ length }]) => length < 500)) {
      const whole = scan(answer);
      for (let at = 0; at <= answer.length; at++) {
        assert.deepEqual(scan(answer.slice(0, at), answer.slice(at)), whole, `${answer} at ${at}`);
      }
      assert.deepEqual(scan(...answer), whole, answer);
    }
  });

  it("are the same in any order of texts and any pieces", () => {
    const numbers = random();
    const below = (limit: number) => Math.floor(numbers.next().value * limit);
    const tokens = ["[CTX 1]", "[CTX", " 2]", "`", "``", FENCE, "~~~", "\n", " ", "- ", "\\", "[", "]", "a", "1.", ">"];
    for (let run = 0; run < 2000; run++) {
      const answer = Array.from({ length: below(30) }, () => tokens[below(tokens.length)]).join("");
      const pieces: string[] = [];
      for (let at = 0; at < answer.length; ) {
        const length = 1 + below(6);
        pieces.push(answer.slice(at, at + length));
        at += length;
      }
      const parts = scan(answer);
      assert.deepEqual(scan(...pieces), parts, JSON.stringify(pieces));
      assert.equal(parts.map(({ text }) => text).join(""), answer);
    }
  });

  it("hold back no more than what may become one", () => {
    const scanner = new MarkScanner();
    assert.deepEqual(scanner.push("It retries [CT"), [{ kind: "text", text: "It retries " }]);
    assert.deepEqual(scanner.push("X 1]. And"), [
      { kind: "mark", text: "[CTX 1]", numbers: [1] },
      { kind: "text", text: ". And" },
    ]);
  });

  it("take time in proportion to an answer without an end", () => {
    const scanner = new MarkScanner();
    for (let pushed = 0; pushed < 20_000; pushed++) {
      scanner.push("`[CTX ` ");
    }
    scanner.end();
  });
});

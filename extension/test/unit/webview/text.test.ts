import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { clip, plain, splitControls } from "../../../src/webview/app/controls";
import { body, excerpt } from "../../../src/webview/app/excerpt";
import { highlight } from "../../../src/webview/app/highlight";
import { splitTerms, termPattern } from "../../../src/webview/app/terms";

describe("control characters", () => {
  const labels = (text: string) =>
    splitControls(text).map((piece) => (piece.kind === "text" ? piece.text : `<${piece.label}>`));

  it("are named, the rest stays", () => {
    assert.deepEqual(labels("a\u202eb\tc\nd"), ["a", "<U+202E>", "b\tc\nd"]);
    assert.deepEqual(labels("\u001b[0m"), ["<ESC>", "[0m"]);
    assert.deepEqual(labels("plain"), ["plain"]);
    assert.deepEqual(labels(""), []);
  });

  it("are told once for a run of them", () => {
    assert.deepEqual(labels("x\u200b\u200b\u200b"), ["x", "<U+200B \u00d73>"]);
    assert.deepEqual(labels("\u202e\u2066"), ["<U+202E U+2066>"]);
    assert.deepEqual(labels("\u202e".repeat(10_000)), ["<U+202E \u00d710000>"]);
    assert.deepEqual(labels("\u0001\u0002\u0003\u0004\u0005"), ["<U+0001 U+0002 U+0003 \u00d75>"]);
  });

  it("are those of the whole of Unicode", () => {
    for (const character of ["\u0000", "\r", "\u007f", "\u0085", "\u00ad", "\u061c", "\u180e", "\u200b", "\u2028"]) {
      assert.equal(splitControls(character)[0]?.kind, "controls", character.codePointAt(0)?.toString(16));
    }
    for (const character of [
      "\u2029",
      "\u2060",
      "\ufeff",
      "\ufff9",
      "\u{e0041}",
      "\u{e0100}",
      "\ud800",
      "\ue000",
      "\u3164",
    ]) {
      assert.equal(splitControls(character)[0]?.kind, "controls", character.codePointAt(0)?.toString(16));
    }
  });

  it("are not in a file's line ends", () => {
    assert.deepEqual(labels("a\r\nb"), ["a\nb"]);
  });

  it("are in brackets where there is only a line of text", () => {
    assert.equal(plain("a\u202eb\nc"), "a[U+202E]b c");
    assert.equal(plain("x".repeat(500)).length, 201);
  });
});

describe("clipping", () => {
  it("cuts no character in two", () => {
    assert.equal(clip("a\u{1f600}b", 2), "a\u2026");
    assert.equal(clip("abc", 3), "abc");
  });
});

describe("a candidate's text", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1}`).join("\n");

  it("starts after the provenance header, if there is one", () => {
    assert.equal(body("[CORPUS=x]\n---\n---\ntitle: y"), "---\ntitle: y");
    assert.equal(body("no header"), "no header");
    assert.equal(body("title: y\n---\ntext"), "title: y\n---\ntext");
  });

  it("is shown whole if it is little longer than its fold", () => {
    assert.deepEqual(excerpt(lines(17), false), {
      text: lines(17),
      lines: 17,
      folded: false,
      foldable: false,
      cut: false,
    });
  });

  it("is folded by lines, and by length", () => {
    const many = excerpt(lines(40), false);
    assert.deepEqual([many.text, many.lines, many.folded], [lines(14), 40, true]);
    assert.equal(excerpt(lines(40), true).text, lines(40));
    const long = excerpt("x".repeat(5000), false);
    assert.deepEqual([long.text.length, long.folded, long.lines], [1601, true, 1]);
  });

  it("says when even its longest form leaves something out", () => {
    assert.ok(excerpt("x".repeat(1_000_000), true).cut);
    assert.ok(excerpt("x".repeat(1_000_000), true).text.length < 3000);
    assert.ok(!excerpt("x".repeat(1_000_000), false).cut);
    const huge = excerpt("y\n".repeat(100_000), true);
    assert.ok(huge.cut && huge.text.length <= 60_001);
  });
});

describe("matched terms", () => {
  const marked = (text: string, terms: string[]) =>
    splitTerms(text, termPattern(terms))
      .map((part) => (part.matched ? `<${part.text}>` : part.text))
      .join("");

  it("are found in any case, also inside names", () => {
    assert.equal(marked("RetryToolPlugin retries", ["retry", "tool"]), "<Retry><Tool>Plugin retries");
  });

  it("count as words of their own if they are short", () => {
    assert.equal(marked("is this it, IS it", ["is"]), "<is> this it, <IS> it");
  });

  it("are letters, not patterns", () => {
    assert.equal(marked("a.*b (x) [y] a-b", [".*b", "(x)", "[y]", "a-b"]), "a<.*b> <(x)> <[y]> <a-b>");
    assert.equal(termPattern([]), null);
    assert.equal(termPattern(["", " ", "x".repeat(100)]), null);
  });

  it("are tried longest first", () => {
    assert.equal(marked("before_model_callback", ["model", "before_model_callback"]), "<before_model_callback>");
  });
});

describe("highlighting", () => {
  const tags = (text: string, language: string, terms: RegExp | null = null): string[] => {
    const seen: string[] = [];
    const visit = (nodes: ReturnType<typeof highlight>["children"]): void => {
      for (const node of nodes) {
        if (node.type === "element") {
          seen.push(node.tagName);
          visit(node.children);
        }
      }
    };
    visit(highlight(text, language, terms).children);
    return seen;
  };
  const textOf = (nodes: ReturnType<typeof highlight>["children"]): string =>
    nodes
      .map((node) => (node.type === "element" ? textOf(node.children) : node.type === "text" ? node.value : ""))
      .join("");

  it("makes spans and marks, and keeps every character", () => {
    const code = 'def f(x):\n    return "<script>" + x  # </span>';
    assert.deepEqual(new Set(tags(code, "py", /return/g)), new Set(["span", "mark"]));
    assert.equal(textOf(highlight(code, "py", null).children), code);
  });

  it("leaves unknown languages and very long texts plain", () => {
    assert.deepEqual(tags("def f(): pass", "__proto__"), []);
    assert.deepEqual(tags("def f(): pass\n".repeat(3000), "py"), []);
  });
});

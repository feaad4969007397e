import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { body, excerpt, partsInLine, partsOf } from "../../../src/webview/app/excerpt";
import { highlight } from "../../../src/webview/app/highlight";
import { splitTerms, termPattern } from "../../../src/webview/app/terms";

describe("a candidate's text", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1}`).join("\n");

  it("starts after the provenance header, if there is one", () => {
    assert.equal(body("[CORPUS=x]\n---\n---\ntitle: y"), "---\ntitle: y");
    assert.equal(body("no header"), "no header");
    assert.equal(body("title: y\n---\ntext"), "title: y\n---\ntext");
  });

  it("is shown whole if it is little longer than its fold", () => {
    assert.deepEqual(excerpt(lines(8), false), {
      text: lines(8),
      lines: 8,
      folded: false,
      foldable: false,
      cut: false,
    });
  });

  it("is folded by lines, and by length", () => {
    const many = excerpt(lines(40), false);
    assert.deepEqual([many.text, many.lines, many.folded], [lines(6), 40, true]);
    assert.equal(excerpt(lines(40), true).text, lines(40));
    const long = excerpt("x".repeat(5000), false);
    assert.deepEqual([long.text.length, long.folded, long.lines], [1001, true, 1]);
  });

  it("is folded to the passage with most of the question's words", () => {
    const text = `${lines(30)}\nretry the tool\n${lines(30)}`;
    const shown = excerpt(text, false, [], termPattern(["retry", "tool"])).text;
    assert.ok(shown.includes("retry the tool") && shown.split("\n").length === 6, shown);
    const passages = ["def first():\n  pass", "max_retries: int = 3\n\n"];
    assert.equal(excerpt(text, false, passages, termPattern(["retries"])).text, "max_retries: int = 3");
    assert.equal(excerpt(text, false, passages, null).text, passages[0]);
    assert.equal(excerpt(text, true, passages, null).text, text);
  });

  it("is folded to where a paragraph begins, if that shows as many of the question's words", () => {
    const terms = termPattern(["retry", "tool"]);
    const fold = (text: string) => excerpt(text, false, [], terms).text.split("\n")[0];
    const paragraphs = `${lines(20)}\n\nBegin\nhere: retry the tool\n${lines(20)}`;
    assert.equal(fold(paragraphs), "Begin");
    assert.equal(fold(`${lines(20)}\n* Begin\nhere: retry the tool\n${lines(20)}`), "* Begin");
    // A later paragraph does not take the place of the first lines with these words.
    assert.equal(fold(`${lines(9)}\nretry the tool\n${lines(9)}\n\nretry the tool`), "line 5");
    // A word counts for more than the beginning of a paragraph.
    assert.equal(fold(`${lines(9)}\n\ntool\n${lines(9)}\nretry\ntool\n${lines(9)}`), "line 6");
  });

  it("falls apart at the lines for readers of other languages", () => {
    const left = [
      { lines: { start: 12, end: 13 }, language: "java" },
      { lines: { start: 14, end: 14 }, language: "go" },
    ];
    const parts = partsOf(lines(6), { lines: { start: 10, end: 15 }, left_out: left });
    assert.deepEqual(
      parts.map((part) => [part.start, part.end, part.language, part.text.split("\n").length]),
      [
        [10, 11, null, 2],
        [12, 13, "java", 2],
        [14, 14, "go", 1],
        [15, 15, null, 1],
      ],
    );
    assert.equal(parts.map((part) => part.text).join("\n"), lines(6));
    assert.equal(partsOf("a", { lines: null, left_out: [] })[0]?.text, "a");
  });

  it("says when even its longest form leaves something out", () => {
    assert.ok(excerpt("x".repeat(1_000_000), true).cut);
    assert.ok(excerpt("x".repeat(1_000_000), true).text.length < 3000);
    assert.ok(!excerpt("x".repeat(1_000_000), false).cut);
    const huge = excerpt("y\n".repeat(100_000), true);
    assert.ok(huge.cut && huge.text.length <= 60_001);
  });
});

describe("an outline", () => {
  const named = (...names: string[]) => names.map((name, at) => ({ name, lines: { start: at + 1, end: at + 1 } }));

  it("is a line of as many parts as there is room for, and of one at least", () => {
    assert.equal(partsInLine({ title: "Runner", parts: named("run", "close") }), 2);
    assert.equal(partsInLine({ title: "Runner", parts: named(..."x".repeat(20)) }), 8);
    assert.equal(partsInLine({ title: "Runner", parts: named("x".repeat(500), "close") }), 1);
    assert.equal(partsInLine({ title: "x".repeat(500), parts: named("run", "close") }), 1);
    assert.equal(partsInLine({ title: "Runner", parts: [] }), 0);
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

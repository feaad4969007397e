import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Candidate } from "../../../src/protocol/generated";
import { wordsApart } from "../../../src/webview/app/docstrings";
import { codeExcerpt, includedExcerpt, longest, partsInLine } from "../../../src/webview/app/excerpt";
import { highlight } from "../../../src/webview/app/highlight";
import { NO_TERMS, splitTerms, termsOf } from "../../../src/webview/app/terms";

const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1}`).join("\n");

describe("a candidate's text", () => {
  const fold = (text: string, more: Partial<Candidate> = {}) => {
    const piece = codeExcerpt(text, { lines: null, passages: [], best: null, ...more }, 100);
    return piece === null ? null : piece.text.split("\n").slice(piece.skip).join("\n");
  };

  it("is shown whole if it is little longer than its excerpt", () => {
    assert.equal(fold(lines(7)), null);
    assert.equal(fold(lines(40)), lines(6));
    assert.equal(fold("x".repeat(5000)), "x".repeat(5000));
  });

  it("is cut to the lines that match best, and lines beside these where there is room", () => {
    const from = (first: number) =>
      lines(40)
        .split("\n")
        .slice(first - 1, first + 5)
        .join("\n");
    assert.equal(fold(lines(40), { best: { start: 20, end: 22 } }), from(20));
    assert.equal(fold(lines(40), { best: { start: 39, end: 40 } }), from(35));
    const numbered = { start: 101, end: 140 };
    assert.equal(fold(lines(40), { lines: numbered, best: { start: 120, end: 120 } }), from(20));
  });

  it("is cut to lines that show something", () => {
    assert.equal(fold(`${"\n".repeat(7)}${lines(100)}`), lines(6));
  });

  it("is cut to a passage that the server chose", () => {
    const cited = { start: 101, end: 140 };
    const passages = [
      { lines: { start: 103, end: 103 }, text: "line 3" },
      { lines: { start: 120, end: 121 }, text: "line 20\nline 21" },
    ];
    assert.equal(fold(lines(40), { lines: cited, passages }), "line 3");
    const best = { start: 121, end: 121 };
    assert.equal(fold(lines(40), { lines: cited, passages, best }), "line 20\nline 21");
    const wrong = [{ lines: { start: 900, end: 901 }, text: "elsewhere" }];
    assert.equal(fold(lines(40), { lines: cited, passages: wrong }), lines(6));
  });

  it("is not cut inside a signature, nor behind what names lines that are left out", () => {
    const names = [1, 2, 3, 4, 5, 6, 7].map((at) => `    a${at}: int,`);
    const long = ["async def f(", ...names, ") -> str:  # so"];
    assert.equal(fold([...long, "  return 1", "  # more"].join("\n")), long.join("\n"));
    assert.equal(
      fold([...long, ..."abcd"].join("\n"), { best: { start: 12, end: 13 } }),
      [...long, ..."abcd"].join("\n"),
    );
    const told = ["def f(a):", '  """One.', "", "  Two.", "", "  Args:"];
    assert.equal(fold([...told, ...names].join("\n")), told.slice(0, 4).join("\n"));
  });

  it("loses the indentation that all its lines have", () => {
    const inside = `class A:\n${"    pass\n".repeat(9)}\n    def retry(self):\n        tool()`;
    assert.ok(fold(inside, { best: { start: 12, end: 12 } })?.endsWith("pass\n\ndef retry(self):\n    tool()"));
  });

  it("says when even its longest form leaves something out", () => {
    assert.ok(longest("x".repeat(1_000_000)).cut);
    assert.ok(longest("x".repeat(1_000_000)).text.length < 3000);
    const huge = longest("y\n".repeat(100_000));
    assert.ok(huge.cut && huge.text.length <= 60_001);
    assert.ok(!longest(lines(100)).cut);
  });
});

describe("Python that begins inside a string", () => {
  const parts = (text: string, from: number, inside = 0) =>
    wordsApart(text, { text, skip: from }, inside).map(
      ({ text, skip, words }) => `${words ? "words" : "code"}: ${text.split("\n").slice(skip).join("\n")}`,
    );

  it("is the definition's whole signature, the words of the string, and the code behind it", () => {
    const method = [
      "class A:",
      "  @decorated",
      "  def f(",
      "    self,",
      "  ) -> None:",
      '    """One.',
      "",
      "    It's a list:",
      "      - two",
      '    """',
      "    return 1",
    ].join("\n");
    assert.deepEqual(parts(method, 7), [
      "code: def f(\n  self,\n) -> None:",
      "words: It's a list:\n  - two",
      "code: return 1",
    ]);
    assert.deepEqual(parts(method, 5), [
      "code: def f(\n  self,\n) -> None:",
      "words: One.\n\nIt's a list:\n  - two",
      "code: return 1",
    ]);
    assert.deepEqual(parts(method, 10), ["code:     return 1"]);
    assert.equal(parts(method, 0).length, 1);
    assert.equal(parts('"""A module."""\n\nX = 1', 0).length, 1);
  });

  it("names the field or the variable that the string belongs to", () => {
    const field = "  SSE = 'sse' # it's\n  '''One.\n\n  - two'''\n";
    assert.deepEqual(parts(field, 3), ["code: SSE = 'sse' # it's", "words: - two"]);
    const broken = 'A = 1\nB: List[\n  int\n] = []\n"""One.\n\nSee ``B``.\n"""';
    assert.deepEqual(parts(broken, 6), ["code: B: List[\n  int\n] = []", "words: See `B`."]);
    const prompt = 'PROMPT = f"""\nAnswer.\n""".strip()\nX = 1';
    assert.deepEqual(parts(prompt, 1), ['code: PROMPT = f"""', "words: Answer.", "code: X = 1"]);
  });

  it("may be of a string that begins before the text, or does not end in it", () => {
    const rest = '  - and so on\n  """\n\n  B = 1\n  """Both.\n\n  Ways."""';
    assert.deepEqual(parts(rest, 0, 2), ["words: - and so on", 'code: B = 1\n"""Both.\n\nWays."""']);
    assert.deepEqual(parts(rest, 6, 2), ["code: B = 1", "words: Ways."]);
    const [code] = wordsApart(rest, { text: rest, skip: 3 }, 2);
    assert.equal(code?.text.split("\n")[0], "", "the end of a string colours nothing");
    const window = { text: "  - and so on", skip: 0 };
    assert.deepEqual(wordsApart(rest, window, 2), [{ text: "- and so on", skip: 0, words: true }]);
    const open = 'def f():\n  """One.\n  two';
    assert.deepEqual(parts(open, 2), ["code: def f():", "words: two"]);
    assert.deepEqual(parts(open, 0), [`code: ${open}`]);
  });
});

describe("the files that a page includes", () => {
  const shownOf = (shown: string) => {
    const found = includedExcerpt(shown, 100);
    return found && { path: found.path, text: found.piece.text.split("\n").slice(found.piece.skip).join("\n") };
  };

  it("are shown by the first lines that the server chose", () => {
    const files = "[INCLUDED a.py]\nimport os\n[... 3 lines]\nx = 1\n\n[INCLUDED b/c.py]\ny = 1";
    assert.deepEqual(shownOf(files), { path: "a.py", text: "import os" });
  });

  it("are shown by four lines at most", () => {
    assert.equal(shownOf(`[INCLUDED a.py]\n${lines(30)}`)?.text, lines(4));
  });

  it("are not shown where there are none, or nothing is in them", () => {
    assert.equal(shownOf(""), null);
    assert.equal(shownOf("no file"), null);
    assert.equal(shownOf("[INCLUDED a.py]\n\n"), null);
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

describe("the words of a question", () => {
  const marked = (text: string, question: string) =>
    splitTerms(text, termsOf(question))
      .map((part) => (part.matched ? `<${part.text}>` : part.text))
      .join("");

  it("are found in any form, as whole words and whole names only", () => {
    const question = "How do I retry a failing tool?";
    assert.equal(marked("Retries of a tool that failed", question), "<Retries> of a <tool> that <failed>");
    assert.equal(marked("max_retries, toolbox", question), "<max_retries>, toolbox");
    assert.equal(marked("ReflectAndRetryToolPlugin", question), "<ReflectAndRetryToolPlugin>");
    assert.equal(marked("on_tool_error_callback", question), "on_tool_error_callback");
  });

  it("are no words that say how a question is put, and no keywords of Python", () => {
    const text = "is it and in the for how do you";
    assert.equal(marked(text, "how is it in the for loop"), text);
  });

  it("are not what every method of a pasted traceback has, nor the folders of the user's machine", () => {
    const question = 'File "/home/lib/python3/app.py", line 7, in run\n    self.pour(cup)';
    assert.equal(marked("def run(self, cup): lib.line = app", question), "def <run>(self, <cup>): lib.line = app");
  });

  it("are names as they are written, not their parts", () => {
    const question = "difference between RemoteA2aAgent and LlmAgent.output_key";
    assert.equal(marked("agent: RemoteA2aAgent", question), "agent: <RemoteA2aAgent>");
    assert.equal(marked("x.output_key, output", question), "x.<output_key>, output");
  });

  it("are few of a long text, and none of an empty one", () => {
    assert.ok(termsOf(Array.from({ length: 5000 }, (_, at) => `name_${at}`).join(" ")).names.size <= 40);
    assert.equal(marked("anything", ""), "anything");
    assert.equal(marked("a.*b (x) [y]", ".* ( [ \\"), "a.*b (x) [y]");
  });
});

describe("highlighting", () => {
  const tags = (text: string, language: string, terms = NO_TERMS): string[] => {
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
    assert.deepEqual(new Set(tags(code, "py", termsOf("return value"))), new Set(["span", "mark"]));
    assert.equal(textOf(highlight(code, "py", NO_TERMS).children), code);
  });

  it("leaves out first lines, whose strings still colour the others", () => {
    const code = 'def f():\n    """One.\n\n    and two\n    """\n    return 1';
    const root = highlight(code, "py", NO_TERMS, 3);
    assert.equal(textOf(root.children), code.split("\n").slice(3).join("\n"));
    const string = root.children.find((node) => node.type === "element");
    assert.ok(string !== undefined && textOf(string.children).includes("and two"));
  });

  it("leaves unknown languages and very long texts plain", () => {
    assert.deepEqual(tags("def f(): pass", "__proto__"), []);
    assert.deepEqual(tags("def f(): pass\n".repeat(3000), "py"), []);
  });
});

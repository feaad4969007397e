import assert from "node:assert/strict";
import { describe, it } from "mocha";
import injections from "../../../../tests/injection.json";
import {
  clip,
  codeSpan,
  fenced,
  htmlText,
  markdownLine,
  messageLine,
  namedLine,
  promptLine,
  splitHidden,
  visible,
} from "../../../src/text/untrusted";

/** What the editor's own messages make links of. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
/** Written apart from the module, whose own pattern must not be what proves it. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|\u115f|\u3164|\u034f|\u180b|[\u{e0100}-\u{e01ef}]/u;

const CHARACTERS = [
  ...[
    "\u0000",
    "\r",
    "\u001b",
    "\u007f",
    "\u0085",
    "\u00ad",
    "\u034f",
    "\u061c",
    "\u115f",
    "\u180e",
    "\u200b",
    "\u202e",
  ],
  ...[
    "\u2028",
    "\u2029",
    "\u2060",
    "\u2066",
    "\u3164",
    "\ud800",
    "\ue000",
    "\ufeff",
    "\ufff9",
    "\u{e0041}",
    "\u{e0100}",
  ],
];

describe("hidden characters", () => {
  for (const character of CHARACTERS) {
    const code = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
    it(`are shown everywhere: ${code}`, () => {
      const text = `a${character}b`;
      assert.equal(splitHidden(text)[1]?.kind, "hidden");
      assert.equal(visible(text), `a<${code}>b`);
      for (const shown of [messageLine(text), markdownLine(text), namedLine(text), fenced(text), promptLine(text)]) {
        assert.doesNotMatch(shown, HIDDEN, JSON.stringify(shown));
      }
    });
  }

  it("are not in ordinary text", () => {
    const text = "src/google/adk/runners.py is gone (see `git log`). Ünïcödé 漢字 👍 ❤\ufe0f";
    assert.deepEqual(splitHidden(text), [{ kind: "text", text }]);
    for (const shown of [messageLine(text), namedLine(text), visible(text), promptLine(text)]) {
      assert.equal(shown, text);
    }
  });
});

describe("a line of the editor's messages", () => {
  for (const hostile of [
    "[x](command:workbench.action.terminal.new)",
    "a ](command:evil) b",
    "[a](https://evil.example) [b](file:///etc/passwd 'title')",
    "[a]\n(command:evil)",
    "[a]\u200b(command:evil)",
    "[[a](command:x)](command:y)",
  ]) {
    it(`holds no link in ${JSON.stringify(hostile)}`, () => {
      assert.doesNotMatch(messageLine(hostile), LINK);
    });
  }

  it("holds no icon", () => {
    assert.equal(messageLine("$(trash) $($(x"), "$ (trash) $ ($ (x");
  });

  it("has a sign for each hidden character", () => {
    assert.equal(messageLine("a\u202eb\u0000c\u001b[31m\u{e0041}\ud800"), "a\ufffdb\ufffdc\ufffd[31m\ufffd\ufffd");
  });

  for (const [group, texts] of Object.entries(injections)) {
    it(`is nothing but text in what tries to be more: ${group}`, () => {
      for (const text of texts) {
        assert.doesNotMatch(messageLine(text), LINK);
        assert.doesNotMatch(messageLine(text), HIDDEN);
        assert.ok(!messageLine(text).includes("$("));
      }
    });
  }

  it("is one line of a length that can be read", () => {
    assert.equal(messageLine("  one\n\ttwo \r\n three "), "one two three");
    const long = messageLine("x".repeat(100_000));
    assert.ok(long.length <= 400 && long.endsWith("…"));
  });
});

describe("Markdown", () => {
  it("has no markup of a text's own", () => {
    assert.equal(markdownLine("# [a](b) <i> `c` *d*"), "\\# \\[a\\] \\(b\\) \\<i\\> \\`c\\` \\*d\\*");
    assert.equal(markdownLine("a\n- b"), "a \\- b");
  });

  it("has code spans and fences that their texts cannot close", () => {
    assert.equal(codeSpan("a b"), "`a b`");
    assert.equal(codeSpan("a ``b`` \n c"), "``` a ``b`` c ```");
    for (const text of ["", "``", "```", "a\n``````\nb", "`".repeat(500), "~~~", "```\n````"]) {
      const lines = fenced(text, "python").split("\n");
      const mark = lines.at(-1) ?? "";
      assert.equal(lines[0], `${mark}python`);
      assert.ok(mark.length >= 3 && !lines.slice(1, -1).includes(mark), text);
    }
  });
});

describe("a text in the page", () => {
  const labels = (text: string) =>
    splitHidden(text).map((piece) => (piece.kind === "text" ? piece.text : `<${piece.label}>`));

  it("names hidden characters and keeps the rest", () => {
    assert.deepEqual(labels("a\u202eb\tc\nd"), ["a", "<U+202E>", "b\tc\nd"]);
    assert.deepEqual(labels("\u001b[0m"), ["<ESC>", "[0m"]);
    assert.deepEqual(labels(""), []);
  });

  it("names a run of them once", () => {
    assert.deepEqual(labels("x\u200b\u200b\u200b"), ["x", "<U+200B \u00d73>"]);
    assert.deepEqual(labels("\u202e\u2066"), ["<U+202E U+2066>"]);
    assert.deepEqual(labels("\u202e".repeat(10_000)), ["<U+202E \u00d710000>"]);
    assert.deepEqual(labels("\u{e0041}\u{e0041}"), ["<U+E0041 \u00d72>"]);
    assert.deepEqual(labels("\u0001\u0002\u0003\u0004\u0005"), ["<U+0001 U+0002 U+0003 \u00d75>"]);
  });

  it("has the line ends of every file", () => {
    assert.deepEqual(labels("a\r\nb"), ["a\nb"]);
  });

  it("is a line with names in brackets where there is room for a line alone", () => {
    assert.equal(namedLine("a\u202eb\nc"), "a[U+202E]b c");
    assert.equal(namedLine("x".repeat(500)).length, 201);
  });

  it("is no markup of the page's document", () => {
    assert.equal(htmlText('<a href="x">&amp;'), "&lt;a href=&quot;x&quot;&gt;&amp;amp;");
  });
});

describe("a text in a model's prompt", () => {
  it("keeps the joiners that scripts and emoji need, and line ends as line feeds", () => {
    assert.equal(visible("\u0645\u06cc\u200c\u062e\r\n👩\u200d💻\t."), "\u0645\u06cc\u200c\u062e\n👩\u200d💻\t.");
  });

  it("is one line where it is a label", () => {
    assert.equal(promptLine(" a\n\tb\u001b "), "a b<U+001B>");
  });
});

describe("clipping", () => {
  it("cuts no character in two", () => {
    assert.equal(clip("a\u{1f600}b", 2), "a\u2026");
    assert.equal(clip("abc", 3), "abc");
  });
});

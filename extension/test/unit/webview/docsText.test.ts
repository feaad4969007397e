import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Block, parseDocs, textOf } from "../../../src/webview/app/docsText";
import { docsExcerpt } from "../../../src/webview/app/excerpt";
import { cpuMs } from "../cpu";

const PAGE = "https://docs.example.org/tools/retry/";

/** The blocks as words: their kinds, their marks and their texts. */
function outline(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case "heading":
      case "paragraph":
        return [`${block.kind}: ${textOf(block.inline)}`];
      case "code":
        return [`${block.language}: ${block.text.split("\n").slice(block.skip).join("|")}`];
      case "row":
        return [`row: ${block.cells.map(textOf).join(", ")}`];
      case "rule":
        return ["rule"];
      case "tab":
        return [`tab ${block.title}${block.other ? " (other)" : ""}`, ...outline(block.children)];
      case "note":
        return [`${block.note}: ${textOf(block.title)}`, ...outline(block.children)];
      default:
        return [block.kind, ...outline(block.children)];
    }
  });
}

function links(blocks: readonly Block[]): string[] {
  return JSON.stringify(blocks).match(/(?<="href":")[^"]*/g) ?? [];
}

const TABS = `---
catalog_title: Retry
---
# Retry

=== "Python"

    !!! note "Mind"
        Only **once**.

    \`\`\`python title="a.py"
    --8<-- "a.py"
    retry()
    \`\`\`

=== "Go"

    \`\`\`go
    Retry()
    \`\`\`

After.`;

describe("a text of the docs", () => {
  it("is read with its tabs and remarks, without front matter and marks of snippets", () => {
    const left = [{ lines: { start: 118, end: 120 }, language: "go" }];
    assert.deepEqual(outline(parseDocs(TABS, PAGE, left, 101)), [
      "heading: Retry",
      "tab Python",
      "note: Mind",
      "paragraph: Only once.",
      "python: |retry()",
      "tab Go (other)",
      "go: Retry()",
      "paragraph: After.",
    ]);
  });

  it("has a tab for other readers only where all of its text is for them", () => {
    const text =
      '=== "Cloud"\n\n    Deploy.\n\n    === "Python"\n\n        deploy()\n\n    === "Go"\n\n        Deploy()\n';
    const left = [{ lines: { start: 9, end: 11 }, language: "go" }];
    assert.deepEqual(outline(parseDocs(text, PAGE, left)), [
      "tab Cloud",
      "paragraph: Deploy.",
      "tab Python",
      "paragraph: deploy()",
      "tab Go (other)",
      "paragraph: Deploy()",
    ]);
    const mixed = [{ lines: { start: 3, end: 3 }, language: "go" }];
    assert.deepEqual(outline(parseDocs('=== "OS X &amp; Linux"\n\n    Go.\n', PAGE, [])), [
      "tab OS X & Linux",
      "paragraph: Go.",
    ]);
    assert.deepEqual(outline(parseDocs('=== "Setup"\n\n    Go.\n\n    All.\n', PAGE, mixed)), [
      "tab Setup",
      "paragraph: Go.",
      "paragraph: All.",
    ]);
  });

  it("is read from inside a tab, too, where it may begin", () => {
    assert.deepEqual(outline(parseDocs("    ```python\n    retry()\n    ```\n\nAfter.", PAGE)), [
      "python: retry()",
      "paragraph: After.",
    ]);
  });

  it("has tables, lists, and lines at their places", () => {
    const blocks = parseDocs("3. three\n4. four\n\n| a | b |\n|---|---|\n| 1 | 2 |", PAGE);
    assert.deepEqual(outline(blocks), [
      "list",
      "item",
      "paragraph: three",
      "item",
      "paragraph: four",
      "table",
      "row: a, b",
      "row: 1, 2",
    ]);
    assert.deepEqual(blocks[0]?.kind === "list" && blocks[0].first, 3);
    assert.deepEqual(blocks[1]?.lines, [3, 6]);
  });

  it("has tags of layout and attributes left out, and every other tag as text", () => {
    const text =
      '<div class="x"><span class="y">Python</span><span class="z">Go</span></div> a<br>b {: .c } :material-x:';
    assert.equal(outline(parseDocs(text, PAGE))[0]?.replaceAll(/\s+/g, " ").trim(), "paragraph: Python Go a b");
    const acting = [
      '<div onclick="x">',
      "<script>x</script>",
      '<a href="javascript:x">',
      '<img src="x">',
      "<!-- x -->",
    ];
    for (const tag of acting) {
      assert.deepEqual(outline(parseDocs(`see ${tag}`, PAGE)), [`paragraph: see ${tag}`]);
    }
  });

  it("links to https alone, and within the site of its page", () => {
    const text = `[a](https://example.org/a) [b](/sessions/) [c](#next) [d](../b.md) [e](http://example.org)
[f](javascript:x) [g](data:text/html,x) [h](command:x) [i](https://u:p@example.org) [j](//evil.test) <https://k.test>`;
    assert.deepEqual(links(parseDocs(text, PAGE)), [
      "https://example.org/a",
      "https://docs.example.org/sessions/",
      `${PAGE}#next`,
      "https://evil.test/",
      "https://k.test/",
    ]);
    assert.deepEqual(links(parseDocs("[b](/sessions/)", "src/a.py")), []);
  });

  it("has images as their descriptions", () => {
    assert.deepEqual(outline(parseDocs("![a diagram](https://example.org/a.png)", PAGE)), ["paragraph: a diagram"]);
  });

  it("is left as it is written where it is no text to read", () => {
    assert.deepEqual(parseDocs(`${"|a".repeat(60)}\n${"|-".repeat(60)}\n|b`, PAGE), []);
  });

  it("is read in linear time, however it is made", function () {
    this.timeout(60_000);
    const size = 30_000;
    const made = [
      "- ".repeat(size / 2),
      "> ".repeat(size / 2),
      Array.from({ length: 240 }, (_, depth) => `${" ".repeat(depth)}- x`).join("\n"),
      "[".repeat(size),
      "![".repeat(size / 2),
      "*a ".repeat(size / 3),
      "`".repeat(size),
      Array.from({ length: 240 }, (_, run) => "`".repeat(run)).join(" "),
      "<div ".repeat(size / 5),
      "{ .a".repeat(size / 4),
      ":material-".repeat(size / 10),
      `|${"a|".repeat(500)}\n|${"-|".repeat(500)}\n${"|a\n".repeat(5000)}`,
      '=== "a"\n    '.repeat(size / 12),
      Array.from({ length: 120 }, (_, depth) => `${"    ".repeat(depth)}!!! note`).join("\n"),
      "--8<--\n".repeat(size / 8),
      "---\n".repeat(size / 4),
      "a\n".repeat(size / 2),
      "[a]: b\n".repeat(size / 7),
      "&".repeat(size),
      "\u202e".repeat(size),
    ];
    for (const text of made) {
      const took = cpuMs(() => {
        const blocks = parseDocs(text.slice(0, size), PAGE);
        docsExcerpt(blocks, { lines: null, headings: [], passages: [], best: null }, 100);
      });
      assert.ok(took < 2000, `${JSON.stringify(text.slice(0, 20))}: ${Math.round(took)} ms`);
    }
  });
});

describe("an excerpt of the docs", () => {
  /** `best` is the line that matches best. */
  const cut = (text: string, best: number | null = null) =>
    docsExcerpt(
      parseDocs(text, PAGE),
      { lines: null, headings: ["Retry"], passages: [], best: best === null ? null : { start: best, end: best } },
      100,
    );

  it("is a short text without the heading that is the card's title", () => {
    const { blocks, all } = cut("## Retry\n\nDo it again.");
    assert.ok(all);
    assert.deepEqual(outline(blocks), ["paragraph: Do it again."]);
    assert.deepEqual(outline(cut("## Retry").blocks), ["heading: Retry"]);
  });

  it("is whole blocks, and whole lines of code, around the lines that match best", () => {
    const code = Array.from({ length: 20 }, (_, line) => `    step(${line})`).join("\n");
    const { blocks, all } = cut(`Intro.\n\n\`\`\`python\ndef f():\n${code}\n    deadline = 3\n\`\`\`\n\nEnd.`, 25);
    assert.ok(!all);
    const shown = outline(blocks).join("|");
    assert.ok(shown.includes("deadline = 3") && shown.split("|").length <= 6, shown);
  });

  it("begins with no end of the code that stands before the lines that match best", () => {
    const code = (lines: number) => `\`\`\`python\n${"step()\n".repeat(lines)}\`\`\`\n\nThe deadline.`;
    assert.deepEqual(outline(cut(`Intro.\n\n${code(9)}`, 15).blocks), ["paragraph: The deadline."]);
    assert.equal(
      outline(cut(`${"Intro.\n\n".repeat(9)}${code(2)}`, 24).blocks).filter((it) => /step/.test(it)).length,
      1,
    );
  });

  it("keeps the numbers of a list and the head of a table", () => {
    const list = Array.from({ length: 20 }, (_, at) => `${at + 1}. step ${at === 11 ? "deadline" : "other"}`).join(
      "\n",
    );
    const [first] = cut(list, 12).blocks;
    assert.ok(first?.kind === "list" && (first.first ?? 0) > 1, JSON.stringify(first));
    assert.ok(outline([first]).includes("paragraph: step deadline"));
    const table = `| a | b |\n|---|---|\n${"| x | y |\n".repeat(20)}| deadline | z |`;
    assert.ok(outline(cut(table, 23).blocks).includes("row: a, b"));
  });

  it("is of one passage where passages are far from each other", () => {
    const paragraphs = Array.from({ length: 30 }, (_, at) => (at === 29 ? "The deadline." : `Paragraph ${at}.`));
    const passages = [1, 59].map((line) => ({ lines: { start: line, end: line }, text: "" }));
    const { blocks } = docsExcerpt(
      parseDocs(paragraphs.join("\n\n"), PAGE),
      { lines: { start: 1, end: 59 }, headings: [], passages, best: { start: 59, end: 59 } },
      100,
    );
    assert.deepEqual(outline(blocks), ["paragraph: The deadline."]);
  });

  it("does not begin with blank lines", () => {
    const code = Array.from({ length: 100 }, (_, line) => `step(${line})`).join("\n");
    const [first] = outline(cut(`\`\`\`python\n${"\n".repeat(7)}${code}\n\`\`\``).blocks);
    assert.match(first ?? "", /^python: step\(0\)/);
  });

  it("leaves out what is for readers of other languages", () => {
    const left = [{ lines: { start: 7, end: 99 }, language: "go" }];
    const text = '=== "Python"\n\n    retry()\n\n\n=== "Go"\n\n    Retry()\n';
    const { blocks, all } = docsExcerpt(
      parseDocs(text, PAGE, left),
      { lines: { start: 1, end: 9 }, headings: [], passages: [], best: null },
      100,
    );
    assert.ok(!all);
    assert.deepEqual(outline(blocks), ["tab Python", "paragraph: retry()"]);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import injections from "../../../../tests/injection.json";
import { quoteOf } from "../../../src/chat/quote";
import type { Candidate } from "../../../src/protocol/generated";
import { candidate } from "../evidence/packs";

const docs = (text: string, more: Partial<Candidate> = {}) => candidate({ source_type: "docs", text, ...more });

describe("a quote in an answer", () => {
  it("is code in a fence of its language", () => {
    assert.equal(quoteOf(candidate({ text: "def run():\r\n    ```" })), "````py\ndef run():\n    ```\n````");
    assert.equal(quoteOf(candidate({ text: "x", language: "`evil" })), "```\nx\n```");
  });

  it("is prose in a block quote, with examples in fences", () => {
    const text = "## Retry *it*\n\nUse the plugin.\n- one\n\n~~~ python\nplugin = RetryPlugin()\n~~~\nDone.";
    assert.equal(
      quoteOf(docs(text)),
      [
        "> Retry \\*it\\*  \n> \n> Use the plugin\\.  \n> \\- one",
        "```python\nplugin = RetryPlugin()\n```",
        "> Done\\.",
      ].join("\n\n"),
    );
  });

  it("has no front matter, and no marks of tabs, remarks, snippets and layout", () => {
    const text = [
      '---\ntitle: Tools\n---\n## Retry {#retry}\n=== "Python"\n    ```python\n    run()\n        .go()\n    ```\n',
      '    !!! note\n        Only <span class="x">once</span>.\n=== "Java"\n    --8<-- "a.java"\n    Later.\nDone.',
    ].join("\n");
    assert.equal(
      quoteOf(docs(text.replaceAll("\n", "\r\n"))),
      [
        "> Retry  \n> Python\\:",
        "```python\nrun()\n    .go()\n```",
        "> Note\\:  \n> Only once\\.  \n> Java\\:  \n> Later\\.  \n> Done\\.",
      ].join("\n\n"),
    );
  });

  it("has no marks of tabs in lists or with options, of bold type and of links", () => {
    const text = [
      '1. **`Session`**: See [How *it* resumes](#how-it-resumes), [`run()`](../run.md "Run") and ![a plot](a.png).\n',
      '    ===+ "Python" {: .new }\n\n        ```python\n        f(**x, **y)\n        ```\n',
      '    !!! note "Now"\n\n        Use `a(**k)`, `b(**k)` or **kwargs.',
      "2. Do **[it](b.md) last**.",
    ].join("\n");
    const quoted = quoteOf(docs(text)).replaceAll("\\", "");
    assert.equal(
      quoted,
      [
        "> 1. `Session`: See How *it* resumes, `run()` and a plot.  \n> \n> Python:",
        "```python\nf(**x, **y)\n```",
        "> Now:  \n> \n> Use `a(**k)`, `b(**k)` or **kwargs.  \n> 2. Do it last.",
      ].join("\n\n"),
    );
  });

  it("has the passages that match rather than the beginning", () => {
    const passages = [{ lines: { start: 7, end: 7 }, text: "It matches." }];
    assert.equal(quoteOf(docs("A long beginning.\n\nIt matches.", { passages })), "> It matches\\.");
  });

  it("is short, and says that it goes on", () => {
    const lines = quoteOf(docs(`${"a line\n".repeat(5000)}${"`".repeat(9)}`)).split("\n");
    assert.equal(lines.length, 13);
    assert.equal(lines.at(-1), "> \u2026");
    assert.ok(quoteOf(candidate({ text: "x".repeat(100_000) })).length < 400);
  });

  it("closes a fence that the text leaves open", () => {
    assert.equal(quoteOf(docs("See:\n```py\nx = 1")), "> See\\:\n\n```py\nx = 1\n```");
  });

  it("does not close a fence with a mark that text follows", () => {
    assert.equal(
      quoteOf(docs("````md\n```py\nx = 1\n```\n````\n~~~\n~~~ text\n~~~  \nDone.")),
      "````md\n```py\nx = 1\n```\n````\n\n```\n~~~ text\n```\n\n> Done\\.",
    );
    assert.equal(quoteOf(docs("```\n```py\nx\n```\nDone.")), "````\n```py\nx\n````\n\n> Done\\.");
  });

  for (const [group, texts] of Object.entries(injections)) {
    it(`is data, whatever it says: ${group}`, () => {
      for (const text of texts) {
        for (const quote of [quoteOf(docs(text)), quoteOf(candidate({ text, language: text }))]) {
          assert.deepEqual(outside(quote), [], quote);
        }
      }
    });
  }
});

/** Lines that are neither in a fence nor in a quote in which all markup is escaped. */
function outside(quote: string): string[] {
  let fence: string | null = null;
  return quote.split("\n").filter((line) => {
    const [mark] = /^`{3,}/.exec(line) ?? [];
    if (fence !== null) {
      fence = line === fence ? null : fence;
      return false;
    }
    if (mark !== undefined) {
      fence = mark;
      return /[^`]/.test(line.slice(mark.length).replace(/^[a-z0-9+#.-]{0,30}$/i, ""));
    }
    return line !== "" && !/^> (?:[^!-/:-@[-`{-~]|\\[!-/:-@[-`{-~])*$/.test(line);
  });
}

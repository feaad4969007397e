import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { codeOf, hasCode, hasExample } from "../../../src/evidence/exampleCode";
import { candidate } from "./packs";

const page = (text: string, more = {}) =>
  candidate({ source_type: "docs", language: "md", text, lines: { start: 1, end: text.split("\n").length }, ...more });

const TABS = `Do this:

=== "Python"

    \`\`\`python
    app = App(
        plugins=[Retry()],
    )
    \`\`\`

=== "Go"

    \`\`\`go
    retry()
    \`\`\`

\`\`\`shell
pip install it
\`\`\``;

describe("the code of a result", () => {
  it("is the Python of a page, with the imports first that its other blocks have for it", () => {
    const before = "```python\nfrom a import (\n    App,\n    Other,\n)\nfrom b import Retry as Again\nimport c\n```\n";
    const code = codeOf(page(TABS), `${before}\n${TABS}`);
    assert.equal(code, "from a import (\n    App,\n    Other,\n)\n\napp = App(\n    plugins=[Retry()],\n)");
  });

  it("has its own imports once and first, and none that stand where it is inserted", () => {
    const text = "```py\nimport os\n\nx = os.name\n```\n\n```py\nimport os\nfrom a import f\nf(x)\n```";
    assert.equal(codeOf(page(text), text), "import os\nfrom a import f\n\nx = os.name\n\n\nf(x)");
    assert.equal(codeOf(page(text), text, "import os\nimport os.path\n"), "from a import f\n\nx = os.name\n\n\nf(x)");
  });

  it("is that of another language where a page has no Python, and of none for other readers", () => {
    assert.equal(codeOf(page("```shell\npip install it\n```"), ""), "pip install it");
    const text = "```go\na()\n```\n```shell\nb\n```";
    const left_out = [{ lines: { start: 1, end: 3 }, language: "go" }];
    assert.equal(codeOf(page(text, { left_out }), text), "b");
    assert.ok(!hasCode(page("```go\na()\n```", { left_out })));
    assert.ok(hasCode(page(TABS)) && !hasCode(page("Only words with `code`.")));
  });

  it("is that of the files which a page includes", () => {
    const text = '```python\n--8<-- "examples/a.py:main"\n```';
    const attached = "[INCLUDED examples/a.py]\nfrom a import f\nf()\n\n[INCLUDED examples/b.go]\nb()";
    assert.equal(codeOf(page(text, { attached }), text), "from a import f\n\nf()");
  });

  it("is the examples of a page that are whole, and no signature by itself", () => {
    const fenced = (...blocks: string[]) => page(blocks.map((code) => `\`\`\`python\n${code}\n\`\`\``).join("\n\n"));
    const example = "def f(a):  # (so)\n    return {\n        'a': \"(\",\n    }";
    const parts = [
      "def f(a: int) -> str",
      "async def f(\n    a,\n):",
      "f(a=1, ..., b=2)",
      "x = [",
      '"""One',
      "# So:\n  a()",
    ];
    assert.equal(codeOf(fenced(...parts, example), ""), example);
    assert.ok(hasExample(fenced(parts[0] ?? "", example)) && !hasExample(page("```shell\npip install it\n```")));
    for (const part of [...parts, "pip install it", ">>> a()", "# Only words."]) {
      assert.ok(!hasExample(fenced(part)) && hasCode(fenced(part)), part);
    }
  });

  it("is the whole file of a sample, whose names may be defined anywhere in it", () => {
    const sample = candidate({ origin: "sample", text: "agent = Agent(tools=[tool])" });
    const file = `from a import Agent\n\ndef tool(): ...\n\n${sample.text}\n`;
    assert.equal(codeOf(sample, file), file.trim());
    assert.equal(codeOf(sample, file, "from a import Agent\n"), `def tool(): ...\n\n${sample.text}`);
    assert.ok(hasExample(sample));
  });

  it("is the ADK's own source as it stands, without its indentation, and no example", () => {
    const text = "  def run(self):\n    return Event()";
    assert.ok(!hasExample(candidate({ text })) && hasCode(candidate({ text })));
    assert.equal(codeOf(candidate({ text }), "from .events import Event\n"), "def run(self):\n  return Event()");
  });
});

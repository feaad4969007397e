import assert from "node:assert/strict";
import { describe, it } from "mocha";
import injections from "../../../../tests/injection.json";
import { plain } from "../../../src/evidence/plainText";

/** What the editor's own messages make links of. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

describe("text from elsewhere in messages of the editor", () => {
  for (const hostile of [
    "[x](command:workbench.action.terminal.new)",
    "a ](command:evil) b",
    "[a](https://evil.example) [b](file:///etc/passwd 'title')",
    "[a]\n(command:evil)",
    "[a]\u200b(command:evil)",
    "[[a](command:x)](command:y)",
  ]) {
    it(`holds no link in ${JSON.stringify(hostile)}`, () => {
      assert.doesNotMatch(plain(hostile), LINK);
    });
  }

  it("holds no icon", () => {
    assert.equal(plain("$(trash) $($(x"), "$ (trash) $ ($ (x");
  });

  it("shows hidden characters instead of obeying them", () => {
    assert.equal(plain("a\u202eb\u0000c\u001b[31m\u{e0041}\ud800"), "a\ufffdb\ufffdc\ufffd[31m\ufffd\ufffd");
  });

  for (const [group, texts] of Object.entries(injections)) {
    it(`is nothing but text in what tries to be more: ${group}`, () => {
      for (const text of texts) {
        assert.doesNotMatch(plain(text), LINK);
        assert.doesNotMatch(plain(text), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[\u{e0100}-\u{e01ef}]|\$\(/u);
      }
    });
  }

  it("is one line of a length that can be read", () => {
    assert.equal(plain("  one\n\ttwo \r\n three "), "one two three");
    const long = plain("x".repeat(100_000));
    assert.ok(long.length <= 400 && long.endsWith("…"));
  });

  it("leaves ordinary sentences as they are", () => {
    const sentence = "src/google/adk/runners.py is gone (see `git log`). Ünïcödé 漢字 👍";
    assert.equal(plain(sentence), sentence);
  });
});

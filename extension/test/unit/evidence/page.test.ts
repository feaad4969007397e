import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { isPageOf } from "../../../src/evidence/page";

const SITE = "https://adk.dev/";

describe("a page that may be opened in the browser", () => {
  for (const url of ["https://adk.dev/", "https://adk.dev/a/b/#c", "https://ADK.dev/a?b=c", "https://adk.dev:443/a"]) {
    it(`is ${url}`, () => {
      assert.ok(isPageOf(url, SITE));
    });
  }

  for (const url of [
    "http://adk.dev/a",
    "https://evil.example/adk.dev/",
    "https://adk.dev.evil.example/",
    "https://evil.example#adk.dev",
    "https://evil.example\\@adk.dev/",
    "https://user@adk.dev/",
    "https://user:password@adk.dev/",
    "https://adk.dev:8443/",
    "https://sub.adk.dev/",
    "//adk.dev/",
    "/a/b",
    "adk.dev",
    "",
    "javascript:alert(1)//adk.dev",
    "command:workbench.action.terminal.new",
    "vscode://adk.dev/x",
    "vscode-insiders:extension/x",
    "file:///etc/passwd",
    "file://adk.dev/x",
    "data:text/html,https://adk.dev/",
    "blob:https://adk.dev/x",
    "mailto:x@adk.dev",
    "ssh://adk.dev/",
    "https://",
    "https:// adk.dev/",
  ]) {
    it(`is not ${JSON.stringify(url)}`, () => {
      assert.ok(!isPageOf(url, SITE));
    });
  }

  it("is none where no site is known", () => {
    assert.ok(!isPageOf("https://adk.dev/", null));
    assert.ok(!isPageOf("https://adk.dev/", "no site"));
  });
});

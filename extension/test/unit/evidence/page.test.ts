import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { isPageOf, permalink } from "../../../src/evidence/page";

import { candidate } from "./packs";

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

describe("a permalink", () => {
  const commit = "979a8fa9dba9290b85ba6746686d1c274b20ca90";

  it("leads to the cited lines at their release or commit", () => {
    const code = "https://github.com/google/adk-python/blob/v2.13.0/src/google/adk/runners.py#L6-L12";
    assert.equal(permalink(candidate()), code);
    const page = candidate({ repo: "google/adk-docs", ref: commit, path: "docs/a b.md" });
    assert.equal(permalink(page), `https://github.com/google/adk-docs/blob/${commit}/docs/a%20b.md?plain=1#L6-L12`);
  });

  it("is none for what is not published", () => {
    for (const own of [{ repo: "me/shop" }, { ref: "tree-12" }, { ref: "main" }, { repo: "google/../x" }]) {
      assert.equal(permalink(candidate(own)), null);
    }
  });
});

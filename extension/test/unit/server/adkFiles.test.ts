import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { importsAdk, isDependencyFile, namesAdk, pinnedVersion } from "../../../src/server/adkFiles";
import { cpuMs } from "../cpu";

describe("Python code", () => {
  for (const code of [
    "import google.adk",
    "import google.adk.agents as agents",
    "from google.adk.agents import LlmAgent",
    "from google.adk import Agent",
    "from google import adk",
    "from google import genai, adk as kit",
    "from google import (adk, genai)",
    "import os, google.adk.tools",
    "def late():\n\tfrom google.adk.runners import Runner",
    '"""A module."""\r\nfrom google.adk.agents import LlmAgent\r\n',
  ]) {
    it(`uses the ADK: ${JSON.stringify(code)}`, () => assert.ok(importsAdk(code)));
  }

  for (const code of [
    "",
    "import google",
    "from google import genai",
    "from google import genai as adk",
    "from google import genai  # not adk",
    "from google.adkit import x",
    "from google.adk_extras import x",
    "import notgoogle.adk",
    "from my.google.adk import x",
    "# from google.adk.agents import LlmAgent",
    'text = "from google.adk.agents import LlmAgent"',
    "import os  # google.adk",
    "from google.cloud import adk_things",
    "print(google.adk)",
  ]) {
    it(`does not: ${JSON.stringify(code)}`, () => assert.ok(!importsAdk(code)));
  }
});

describe("a file of dependencies", () => {
  for (const text of [
    "google-adk",
    "requests\r\ngoogle-adk\r\n",
    "  Google_ADK [eval] >= 1.0",
    "google.adk~=1.0; python_version > '3.10'",
    "git+https://github.com/google/adk-python.git@main",
    '[project]\ndependencies = ["requests", "google-adk>=1.0"]',
    '[tool.poetry.dependencies.google-adk]\nversion = "^1.0"',
    '[[package]]\nname = "google-adk"\nversion = "1.0"',
    '{"default": {"google-adk": {"version": "==1.0"}}}',
    "[options]\ninstall_requires =\n    requests\n    google-adk>=1.0",
    "dependencies:\n  - conda-forge::google-adk",
  ]) {
    it(`names google-adk: ${JSON.stringify(text)}`, () => assert.ok(namesAdk(text)));
  }

  for (const text of [
    "",
    "google-adk-extras==1.0",
    "my-google-adk",
    "google-adk2",
    "# google-adk",
    "requests  # as google-adk does",
    "google-genai\nadk",
    "git+https://github.com/google/adk-python-community.git",
    "[tool.google-adk-extras]",
  ]) {
    it(`does not: ${JSON.stringify(text)}`, () => assert.ok(!namesAdk(text)));
  }

  it("has a name that is known", () => {
    for (const path of ["a/requirements-dev.in", "requirements/agents.txt", "uv.lock", "Pipfile", "environment.yaml"]) {
      assert.ok(isDependencyFile(path), path);
    }
    for (const path of ["README.md", "Cargo.lock", "package.json", "my-requirements.txt", "notes/agents.txt"]) {
      assert.ok(!isDependencyFile(path), path);
    }
  });
});

describe("the release that a file of dependencies pins", () => {
  for (const [text, version] of [
    ["requests\ngoogle-adk==1.18.0\n", "1.18.0"],
    ["Google_ADK[eval, mcp] == 1.18.0rc1 ; python_version > '3.10'", "1.18.0rc1"],
    ['dependencies = ["google-adk==2.0"]', "2.0"],
    ['[[package]]\r\nname = "google-adk"\r\nversion = "1.19.0"\r\n', "1.19.0"],
    ["google-adk>=1.18.0", undefined],
    ["google-adk==1.18.*", undefined],
    ["# google-adk==1.18.0", undefined],
    ["google-adk-extras==1.18.0", undefined],
  ] as const) {
    it(`is ${version}: ${JSON.stringify(text)}`, () => assert.equal(pinnedVersion(text), version));
  }
});

describe("a text of strangers", () => {
  const SIZE = 100_000;
  const nasty = [
    " ",
    "\t",
    "\n",
    "\r",
    "\r[",
    "\u2028import ",
    ",",
    "(",
    "#",
    '"',
    "'",
    '\\"',
    "\\'",
    '\\"\\\n',
    "=",
    "-",
    "[",
    "google",
    "google-",
    "import ",
    "as ",
    "a=",
    "{",
  ];

  for (const piece of nasty) {
    it(`is read in no time, whatever it repeats: ${JSON.stringify(piece)}`, function () {
      this.timeout(60_000);
      const text = piece.repeat(SIZE / piece.length);
      const took = cpuMs(() => {
        for (const start of ["", "import ", "from google import ", "from google import (", "[", "x ", "- ", '"', "'"]) {
          importsAdk(start + text);
          namesAdk(start + text);
          pinnedVersion(start + text);
        }
      });
      // A pattern that takes quadratic time takes minutes.
      assert.ok(took < 5000, `${took} ms`);
    });
  }
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { importsAdk, readerOf } from "../../../src/server/adkText";
import { cpuMs } from "../cpu";

describe("Python code", () => {
  for (const code of [
    "import google.adk",
    "import google.adk.agents as agents",
    "from google.adk.agents import LlmAgent",
    "from google.adk import Agent",
    "from google import adk",
    "from google import genai, adk as kit",
    "from google import (\n    genai,  # and\n    adk,\n)",
    "import os, google.adk.tools",
    "import os \\\n    , google.adk",
    "from google \\\r\n    import adk",
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

/** Texts of files by the path of the file: those that name google-adk as a dependency, and those that do not. */
const FILES: Record<string, { naming: string[]; others: string[] }> = {
  "requirements.txt": {
    naming: [
      "google-adk",
      "requests\r\ngoogle-adk\r\n",
      "google-adk==1.18.0  # pinned",
      "  Google_ADK [eval] >= 1.0",
      "google.adk~=1.0; python_version > '3.10'",
      "google-adk @ git+https://github.com/google/adk-python.git",
      "google-adk (>=1.0)",
      "google-adk \\\n    --hash=sha256:0",
      "git+https://github.com/google/adk-python.git@main",
      "-e git+ssh://git@github.com/google/adk-python#egg=adk",
    ],
    others: [
      "",
      "google-adk-extras==1.0",
      "my-google-adk",
      "google-adk2",
      "google-adkit",
      "google-adk.tools",
      "# google-adk",
      "requests  # as google-adk does",
      "google-genai\nadk",
      "# git+https://github.com/google/adk-python.git",
      "git+https://github.com/google/adk-python-community.git",
      "for google-adk",
    ],
  },
  "pyproject.toml": {
    naming: [
      '[project]\ndependencies = ["requests", "google-adk>=1.0"]',
      "[project]\ndependencies = [\n  'google-adk[eval]', # for tests\n]",
      "[dependency-groups]\nagents = [\"Google_ADK ~= 1.2 ; python_version > '3.10'\"]",
      '[tool.poetry.dependencies]\ngoogle-adk = "^1.0"',
      '[tool.poetry.dependencies]\n"google-adk" = "^1.0"',
      '[tool.poetry.dependencies.google-adk]\nversion = "^1.0"',
      '[tool.poetry]\ndependencies = { python = "^3.11", google-adk = "*" }',
      '[project]\nname = "google-adk"',
    ],
    others: [
      '[project]\ndependencies = ["google-adk-extras"]',
      '# dependencies = ["google-adk"]',
      'dependencies = [\n  # "google-adk>=1.0",\n  "requests",\n]',
      'description = "google-adk helpers"',
      'description = "helpers for google-adk"',
      'description = "for \\"google-adk\\" users"',
      '[tool.poetry.dependencies]\ngoogle-adk-extras = "^1.0"',
      "[tool.google-adk-extras]",
      "[tool.x] # [tool.google-adk]",
      '[project]\nname = "my-google-adk"',
    ],
  },
  "uv.lock": {
    naming: [
      '[[package]]\nname = "google-adk"\nversion = "1.0"',
      'dependencies = [\n    { name = "google-adk", extra = ["eval"] },\n]',
    ],
    others: ['[[package]]\nname = "google-adk-extras"', '[[package]]\nname = "google-genai"', 'summary = "google-adk"'],
  },
  "poetry.lock": { naming: ['[[package]]\nname = "google_adk"'], others: ['[[package]]\nname = "adk"'] },
  "pdm.lock": { naming: ['[[package]]\nname = "google-adk"'], others: [""] },
  "pylock.dev.toml": { naming: ['[[packages]]\nname = "google-adk"'], others: [""] },
  Pipfile: {
    naming: ['[packages]\ngoogle-adk = "*"', '[packages]\n"google-adk" = {version = "*"}'],
    others: ['[packages]\nrequests = "*"  # google-adk = "*"', '[packages]\ngoogle-adk-extras = "*"'],
  },
  "Pipfile.lock": {
    naming: ['{"default": {"google-adk": {"version": "==1.0"}}}'],
    others: ['{"default": {"google-adk-extras": {}}}', '{"default": {"x": {"index": "google-adk"}}}'],
  },
  "setup.cfg": {
    naming: [
      "[options]\ninstall_requires =\n    requests\n    google-adk>=1.0",
      "[options]\ninstall_requires = google-adk",
      "[options.extras_require]\nagents = google-adk[eval]",
    ],
    others: [
      "[options]\ninstall_requires =\n    google-adk-extras\n    # google-adk",
      "description = for google-adk users",
    ],
  },
  "setup.py": {
    naming: ['setup(install_requires=["requests", "google-adk>=1.0"])', 'REQUIRES = """\ngoogle-adk\n""".split()'],
    others: [
      "# setup(install_requires=['google-adk'])",
      "text = 'no end # google-adk",
      'setup(name="my-google-adk", description="For google-adk")',
    ],
  },
  "environment.yml": {
    naming: [
      "dependencies:\n  - python=3.12\n  - google-adk=1.0",
      "dependencies:\n  - conda-forge::google-adk",
      "dependencies:\n  - pip:\n      - 'google-adk[eval]>=1.0'",
    ],
    others: ["dependencies:\n  - google-adk-extras", "dependencies:\n  # - google-adk\n  - python", "name: google-adk"],
  },
};

/** Paths whose files are read in the same way as those of another one. */
const LIKE: Record<string, string> = {
  "requirements-dev.in": "requirements.txt",
  "requirements/agents.txt": "requirements.txt",
  "environment.yaml": "environment.yml",
};

describe("a file of dependencies", () => {
  for (const [path, like] of [...Object.keys(FILES).map((name) => [name, name] as const), ...Object.entries(LIKE)]) {
    const { naming = [], others = [] } = FILES[like] ?? {};
    const reads = readerOf(path.split("/"));
    for (const text of naming) {
      it(`${path} names google-adk: ${JSON.stringify(text)}`, () => assert.ok(reads?.(text)));
    }
    for (const text of others) {
      it(`${path} does not: ${JSON.stringify(text)}`, () => assert.equal(reads?.(text), false));
    }
  }

  it("has a name that is known", () => {
    for (const path of ["README.md", "Cargo.lock", "package.json", "my-requirements.txt", "notes/agents.txt"]) {
      assert.equal(readerOf(path.split("/")), undefined, path);
    }
  });
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
          for (const path of Object.keys(FILES)) {
            readerOf([path])?.(start + text);
          }
        }
      });
      // A pattern that takes quadratic time takes minutes.
      assert.ok(took < 5000, `${took} ms`);
    });
  }
});

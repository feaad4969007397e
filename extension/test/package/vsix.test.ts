import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, it } from "mocha";
import { COMMANDS } from "../../src/ids";

const PYTHON = path.join(process.cwd(), ".venv", "bin", "python");
const KIB = 1024;

/** Everything that the VSIX holds, at most so many bytes each. The wheel's name has the version. */
const CONTENT: [RegExp, number][] = [
  [/^\[Content_Types\]\.xml$/, 4 * KIB],
  [/^extension\.vsixmanifest$/, 8 * KIB],
  [/^extension\/LICENSE\.txt$/, 16 * KIB],
  [/^extension\/changelog\.md$/, 64 * KIB],
  [/^extension\/readme\.md$/, 16 * KIB],
  [/^extension\/package\.json$/, 32 * KIB],
  [/^extension\/package\.nls\.json$/, 16 * KIB],
  [/^extension\/extension\/dist\/extension\.js$/, 800 * KIB],
  [/^extension\/extension\/dist\/webview\.js$/, 330 * KIB],
  [/^extension\/extension\/dist\/THIRD_PARTY_NOTICES\.txt$/, 128 * KIB],
  [/^extension\/extension\/dist\/server\/adk_evidence-\d+\.\d+\.\d+-py3-none-any\.whl$/, 18_900 * KIB],
  [/^extension\/extension\/dist\/server\/constraints\.txt$/, 8 * KIB],
  [/^extension\/extension\/dist\/checker\/(adk_evidence(_lsp)?|packaging)\/([a-z]+\/)?\w+\.py$/, 64 * KIB],
  [/^extension\/extension\/dist\/checker\/adk_evidence\/_config\/history\.json\.gz$/, 160 * KIB],
  [/^extension\/extension\/dist\/checker\/__main__\.py$/, KIB],
  [/^extension\/extension\/l10n\/bundle\.l10n\.json$/, 64 * KIB],
  [/^extension\/extension\/media\/icon\.png$/, 16 * KIB],
  [/^extension\/extension\/media\/(panel-(dark|light)|view)\.svg$/, 4 * KIB],
  [/^extension\/extension\/media\/webview\.css$/, 64 * KIB],
  [/^extension\/extension\/media\/walkthrough\/(find|get-started|more)\.md$/, 8 * KIB],
];
// Of which the vectors take 15,130 KiB, and the written questions with the adapter that was trained with them 1,650 KiB.
const MOST_BYTES = 19_300 * KIB;

describe("the VSIX", () => {
  const vsix = process.env.ADK_EVIDENCE_VSIX ?? "";
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "adk-evidence-vsix-"));
  const inside = path.join(folder, "extension");
  let names: string[];

  before(() => {
    unzip(vsix, folder);
    names = fs
      .readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => fs.statSync(path.join(folder, name)).isFile());
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  function read(name: string): string {
    return fs.readFileSync(path.join(inside, name), "utf8");
  }

  it("holds what is on the list, and nothing else", () => {
    const unknown = names.filter((name) => !CONTENT.some(([pattern]) => pattern.test(name)));
    const missing = CONTENT.filter(([pattern]) => !names.some((name) => pattern.test(name)));
    assert.deepEqual({ unknown, missing }, { unknown: [], missing: [] });
  });

  it("is small", () => {
    for (const name of names) {
      const [, most] = CONTENT.find(([pattern]) => pattern.test(name)) ?? [];
      const { size } = fs.statSync(path.join(folder, name));
      assert.ok(size > 0 && size <= (most ?? 0), `${name}: ${size} bytes`);
    }
    assert.ok(fs.statSync(vsix).size <= MOST_BYTES, `${fs.statSync(vsix).size} bytes`);
  });

  it("tells nothing of the machine it was built on, holds no keys and no map of its sources", () => {
    const wheel = path.join(folder, "wheel");
    unzip(path.join(inside, "extension", "dist", "server", wheelName()), wheel);
    const told = [process.cwd(), os.homedir(), os.hostname()].filter((text) => text.length > 3).map(wholeWord);
    const secrets = /-----BEGIN [A-Z ]*PRIVATE KEY|\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{30,}|npm_\w{30,}|pa-[\w-]{30,})\b/;
    for (const name of fs.readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const file = path.join(folder, name);
      if (!fs.statSync(file).isFile() || /\.(png|whl)$/.test(name)) {
        continue;
      }
      const text = fs.readFileSync(file, "utf8");
      for (const word of told) {
        assert.doesNotMatch(text, word, `${name} names ${word.source}`);
      }
      assert.doesNotMatch(text, secrets, name);
      assert.doesNotMatch(text, /sourceMappingURL=/, name);
    }
  });

  it("has every command that it contributes, and contributes every command that it has", () => {
    const contributed = manifest().contributes.commands.map(({ command }: { command: string }) => command);
    assert.deepEqual([...contributed].sort(), Object.values(COMMANDS).sort());
    const bundle = read("extension/dist/extension.js");
    for (const command of contributed) {
      assert.ok(bundle.includes(`"${command}"`), `${command} is not in the bundle`);
    }
  });

  it("lists few commands and settings, and says in place of a removed setting what to do", () => {
    const { commands, configuration } = manifest().contributes;
    assert.ok(commands.length <= 16, `${commands.length} commands`);
    const settings: [string, { deprecationMessage?: string; default?: unknown }][] = Object.entries(
      configuration.properties,
    );
    const listed = settings.filter(([, { deprecationMessage }]) => deprecationMessage === undefined);
    assert.ok(listed.length <= 10, `${listed.length} settings`);
    const removed = settings.filter((setting) => !listed.includes(setting)).map(([name]) => name);
    const names = ["profile", "ingest.docs", "ingest.code", "chat.wordings"].map((name) => `adkEvidence.${name}`);
    assert.deepEqual(removed.sort(), names.sort());
    // The number that is shown is the server's own.
    const { default: results } = configuration.properties["adkEvidence.maxResults"];
    assert.match(fs.readFileSync("config/settings.yaml", "utf8"), new RegExp(`^  max_results_final: ${results}$`, "m"));
  });

  it("keeps to the lower part of menus, and offers to explain only what looks like an error", () => {
    const { menus, chatParticipants } = manifest().contributes;
    const entries: { command: string; group: string; when: string }[] = [
      ...menus["editor/context"],
      ...menus["terminal/context"],
    ];
    assert.deepEqual(
      entries.filter(({ group }) => /^(?:navigation|1)/.test(group)),
      [],
    );
    assert.match(entries.find(({ command }) => command === COMMANDS.explainError)?.when ?? "", /errorSelected/);
    // The next message of a chat is for @adk, too.
    assert.equal(chatParticipants[0].isSticky, true);
  });

  it("names no file in its manifest that it does not hold", () => {
    const named = JSON.stringify(manifest()).matchAll(/"(?:\.\/)?(extension\/[^"]+)"/g);
    for (const [, name = ""] of named) {
      assert.ok(fs.existsSync(path.join(inside, name)), `${name} is missing`);
    }
  });

  it("has a text for every key of its manifest, and no other", () => {
    const used = [...read("package.json").matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key);
    const defined = Object.entries(JSON.parse(read("package.nls.json")));
    assert.deepEqual([...new Set(used)].sort(), defined.map(([key]) => key).sort());
    for (const [key, text] of defined) {
      assert.ok(typeof text === "string" && text.trim() !== "", `${key} is empty`);
    }
  });

  it("shows pictures that the repository has at this version's tag, and links to nothing else of it", () => {
    const { version, repository } = manifest();
    const readme = read("readme.md");
    const links = [...readme.matchAll(/(!?)\[[^\]]*\]\(([^)]+)\)/g)].map(([, picture, target = ""]) => ({
      picture,
      target,
    }));
    const pictures = links.filter(({ picture }) => picture === "!").map(({ target }) => target);
    assert.ok(pictures.length >= 3);
    const place = `${repository.url}/raw/v${version}/`;
    for (const target of pictures) {
      assert.ok(target.startsWith(place), target);
      assert.ok(fs.statSync(target.slice(place.length)).size < 200_000, target);
    }
    for (const { target } of links) {
      assert.match(target, /^(?:https:|#|command:)/, "a link that leads nowhere from the Marketplace");
    }
  });

  it("is listed with an address, categories, words to search for and a changelog", () => {
    const listed = manifest();
    for (const address of [listed.bugs.url, listed.homepage]) {
      assert.ok(address.startsWith(listed.repository.url), address);
    }
    assert.ok(["AI", "Chat", "Programming Languages"].every((name) => listed.categories.includes(name)));
    // The Marketplace takes no more.
    assert.ok(listed.keywords.length <= 30);
    assert.equal(listed.pricing, "Free");
    assert.match(read("changelog.md"), /^# Changelog/);
  });

  it("has one tool for models by default, of the name that the server for agents uses", () => {
    const { languageModelTools: tools, configuration } = manifest().contributes;
    assert.deepEqual(
      tools.map(({ name }: { name: string }) => name),
      ["find_adk_evidence"],
    );
    assert.match(tools[0].when, /!config\.adkEvidence\.mcp\.enabled/);
    assert.equal(configuration.properties["adkEvidence.mcp.enabled"].default, false);
  });

  it("brings the licences along, its own and those of what it bundles", () => {
    assert.match(read("LICENSE.txt"), /Apache License/);
    const notices = read("extension/dist/THIRD_PARTY_NOTICES.txt");
    for (const name of ["vscode-languageclient", "preact", "highlight.js", "lowlight", "@vscode/l10n", "packaging"]) {
      assert.match(notices, new RegExp(`^${name} \\d+\\.\\d+(\\.\\d+)? \\([A-Z][\\w. -]+\\)$`, "m"));
    }
  });

  it("brings a wheel of its own version, with a version for each requirement", () => {
    const wheel = path.join(inside, "extension", "dist", "server", wheelName());
    const unpacked = path.join(folder, "wheel");
    unzip(wheel, unpacked);
    const { version } = manifest();
    const metadata = fs.readFileSync(path.join(unpacked, `adk_evidence-${version}.dist-info`, "METADATA"), "utf8");
    assert.match(metadata, new RegExp(`^Version: ${version}$`, "m"));
    const pinned = new Map(read("extension/dist/server/constraints.txt").trim().split("\n").map(pin));
    // Of the extras, the extension installs these alone.
    const required = [...metadata.matchAll(/^Requires-Dist: ([A-Za-z0-9._-]+)(.*)$/gm)]
      .filter(([, , rest = ""]) => !rest.includes("extra ==") || /extra == ['"](mcp|voyage)['"]/.test(rest))
      .map(([, name = ""]) => canonical(name));
    assert.ok(required.length > 10);
    for (const name of ["mcp", "voyageai"]) {
      assert.ok(required.includes(name), name);
    }
    for (const name of required) {
      assert.ok(pinned.has(name), `${name} has no version`);
    }
    // pip reads it and finds that it fits; without an index it can take it from nowhere else.
    const options = ["--no-index", "--no-deps", "--dry-run", "--ignore-installed", "--quiet"];
    execFileSync(PYTHON, ["-m", "pip", "install", ...options, wheel]);
  });

  it("is the same, byte for byte, when it is built again", () => {
    const digest = () => createHash("sha256").update(fs.readFileSync(vsix)).digest("hex");
    const first = digest();
    execFileSync(process.execPath, ["extension/package.mjs"], { stdio: ["ignore", "ignore", "inherit"] });
    assert.equal(digest(), first);
  });

  function manifest() {
    return JSON.parse(read("package.json"));
  }

  function wheelName(): string {
    return fs.readdirSync(path.join(inside, "extension", "dist", "server")).find((name) => name.endsWith(".whl")) ?? "";
  }
});

/** Matches `/root` in `"/root/work"`, but neither in `/roots.py` nor in `agents/root`. */
function wholeWord(text: string): RegExp {
  return new RegExp(`(?<![\\w-])${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`);
}

function unzip(archive: string, folder: string): void {
  execFileSync(PYTHON, ["-m", "zipfile", "-e", archive, folder]);
}

function pin(line: string): [string, string] {
  const match = /^([a-z0-9-]+)==(\d[\w.]*)$/.exec(line);
  assert.ok(match, `no exact version: ${line}`);
  return [match[1] ?? "", match[2] ?? ""];
}

function canonical(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { CancellationTokenSource, commands, type Location, Position, Uri } from "vscode";
import { CitedLocations, definitionAt } from "../../../src/evidence/citedLocations";
import { Evidence } from "../../../src/evidence/client";
import type { SourceDocuments } from "../../../src/evidence/sourceDocuments";
import { Problem } from "../../../src/problem";
import type { SourceResult, SymbolResult } from "../../../src/protocol/generated";
import { FakeBackend } from "./fakeBackend";
import { candidate, pack, source } from "./packs";

const DOCUMENT = Uri.parse("adk-evidence:/google/adk-python@v2.13.0/src/google/adk/runners.py");
const TEXT = "one\n\nthree\r\nfour\n";
const documents = { addressOf: () => DOCUMENT } as unknown as SourceDocuments;

/** Where the source is that a server answers with. */
async function find(answer: () => SourceResult): Promise<[string, number, number, number, number] | null> {
  const places = new CitedLocations(new Evidence(new FakeBackend({ "adk/source": answer })), documents);
  return spot(await places.find(candidate(), pack(), new CancellationTokenSource().token));
}

function spot(place: Location | null): [string, number, number, number, number] | null {
  if (place === null) {
    return null;
  }
  const { start, end } = place.range;
  return [place.uri.path, start.line, start.character, end.line, end.character];
}

describe("where a name of the ADK is defined", () => {
  const found = {
    repo: "google/adk-python",
    commit: "c0de",
    path: "a.py",
    lines: { start: 7, end: 9 },
  } as SymbolResult;
  const at = () =>
    definitionAt(
      Uri.file("/work/agent.py"),
      new Position(2, 3),
      async () => found,
      () => DOCUMENT,
    );
  const { executeCommand } = commands;

  afterEach(() => {
    Object.assign(commands, { executeCommand });
  });

  it("is the cited source where no other extension knows, and this one is asked as one of the others", async () => {
    Object.assign(commands, { executeCommand: async () => [await at()].filter((place) => place !== undefined) });
    const place = await at();
    assert.equal(place?.uri, DOCUMENT);
    assert.equal(spot(place ?? null)?.[1], 6);
  });

  it("is left to those who know, and unknown where the server cannot say", async () => {
    Object.assign(commands, { executeCommand: async () => ["elsewhere"] });
    assert.equal(await at(), undefined);
    Object.assign(commands, { executeCommand: async () => [] });
    const failing = async () => {
      throw new Problem("There is no index.", "no_index");
    };
    assert.equal(await definitionAt(DOCUMENT, new Position(0, 0), failing, () => DOCUMENT), undefined);
  });
});

describe("where cited lines can be read", () => {
  it("is the document at the commit, whatever becomes of the file on the disk", async () => {
    for (const local_matches of [true, false]) {
      const found = await find(() => source({ text: TEXT, lines: { start: 2, end: 3 }, local_matches }));
      assert.deepEqual(found, [DOCUMENT.path, 1, 0, 2, 5]);
    }
  });

  it("is the beginning where no lines are known", async () => {
    assert.deepEqual(await find(() => source({ text: TEXT, lines: null })), [DOCUMENT.path, 0, 0, 0, 3]);
  });

  it("is a document with the text of the file, never the file itself, where nothing else keeps the lines", async () => {
    const changed = { text: TEXT, lines: { start: 4, end: 4 }, matches_index: false, local_matches: false };
    assert.deepEqual(await find(() => source(changed)), [DOCUMENT.path, 3, 0, 3, 4]);
  });

  it("is nowhere where the server cannot say", async () => {
    const failing = (code: string) => () => {
      throw new Problem("It failed.", code);
    };
    assert.equal(await find(failing("source_unavailable")), null);
    await assert.rejects(find(failing("cancelled")), { code: "cancelled" });
  });
});

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { openSavedPack, savePack } from "../../../src/commands/savedPacks";
import { Evidence } from "../../../src/evidence/client";
import { MAX_PACK_BYTES, packAsJson, readSavedPack } from "../../../src/evidence/savedPack";
import { Problem } from "../../../src/problem";
import type { CheckResult, EvidenceResult } from "../../../src/protocol/generated";
import type { ShownRequest } from "../../../src/webview/actions";
import type { PackPanel } from "../../../src/webview/panel";
import { FakeBackend } from "../evidence/fakeBackend";
import { candidate, pack, rendered } from "../evidence/packs";
import { CancellationTokenSource, FileSystemError } from "../fake-vscode";

/** An hour that is of this day or of the next one in every time zone. */
const BUILT_AT = "2026-11-20T12:00:00Z";
const FILE = vscode.Uri.file("/work/evidence.json");
const two = pack({
  query: "How do I retry?",
  index: {
    generation: "g",
    created_at: BUILT_AT,
    fingerprint: "f",
    content: null,
    dense: "complete",
    dense_model: null,
    corpora: {},
  },
  candidates: [candidate(), candidate({ rank: 2, candidate_id: "other", citation: "adk-docs@c:https://adk.dev/a/" })],
});

/** A disk, and what the user chooses in the editor's dialogs. */
class Fixture {
  readonly files = new Map<string, Uint8Array>();
  chosen: vscode.Uri | undefined = FILE;
  /** How large a file says that it is. */
  size: number | null = null;
  proposed = "";
  readonly told: string[] = [];
  readonly shown: { request: ShownRequest; pack: EvidenceResult; notice: string | null }[] = [];
  readonly backend: FakeBackend;
  readonly evidence: Evidence;
  readonly panel: PackPanel;

  constructor(shown: EvidenceResult | null, check: () => CheckResult) {
    this.backend = new FakeBackend({
      "adk/check": () => check(),
      "adk/render": ({ format }) => rendered(`# as ${format}`),
    });
    this.evidence = new Evidence(this.backend);
    const { token } = new CancellationTokenSource();
    this.panel = {
      pack: shown,
      show: async (request: ShownRequest) => {
        const answer = await request.run(token as unknown as vscode.CancellationToken);
        this.shown.push({ request, pack: answer, notice: request.notice?.() ?? null });
        return answer;
      },
    } as unknown as PackPanel;
    const read = (uri: vscode.Uri) => {
      const bytes = this.files.get(uri.path);
      if (bytes === undefined) {
        throw FileSystemError.FileNotFound(uri as never);
      }
      return bytes;
    };
    Object.assign(vscode.window, {
      showSaveDialog: async ({ defaultUri }: { defaultUri: vscode.Uri }) => {
        this.proposed = defaultUri.path;
        return this.chosen;
      },
      showInformationMessage: async (text: string) => void this.told.push(text),
      showOpenDialog: async () => (this.chosen === undefined ? undefined : [this.chosen]),
    });
    Object.assign(vscode.workspace, {
      fs: {
        stat: async (uri: vscode.Uri) => ({ size: this.size ?? read(uri).length, mtime: 0 }),
        readFile: async (uri: vscode.Uri) => read(uri),
        writeFile: async (uri: vscode.Uri, bytes: Uint8Array) => {
          if (uri.path.startsWith("/locked/")) {
            throw FileSystemError.NoPermissions();
          }
          this.files.set(uri.path, bytes);
        },
      },
    });
  }

  put(text: string, file = FILE): void {
    this.files.set(file.path, new TextEncoder().encode(text));
  }

  text(file = FILE): string {
    return new TextDecoder().decode(this.files.get(file.path));
  }
}

function checked(more: Partial<CheckResult> = {}): CheckResult {
  const state = (candidate_id: string, now: string) => ({
    candidate_id,
    verification: { state: now, lines: null, path: null, reason: "" },
  });
  const states = [state(candidate().candidate_id, "exact"), state("other", "gone")];
  return { intact: true, candidates: states, ...more } as CheckResult;
}

describe("saved packs", () => {
  let before: { window: object; workspace: object };
  beforeEach(() => {
    before = { window: { ...vscode.window }, workspace: { ...vscode.workspace } };
    Object.assign(vscode.window, { activeTextEditor: undefined });
  });
  afterEach(() => {
    Object.assign(vscode.window, before.window);
    Object.assign(vscode.workspace, before.workspace);
  });

  it("are saved as the JSON of every other surface, under a name made of the question", async () => {
    const fixture = new Fixture(two, checked);
    await savePack(fixture.panel, fixture.evidence);
    const { queryUsed: _, ...alone } = two;
    assert.deepEqual(JSON.parse(fixture.text()), alone);
    assert.match(fixture.proposed, /\/evidence-how-do-i-retry\.json$/);
    assert.deepEqual(fixture.told, ["The answer is saved in evidence.json."]);
  });

  it("are saved under a name in which no character is cut in two", async () => {
    const fixture = new Fixture({ ...two, query: `a${"\u{20000}".repeat(60)}` }, checked);
    await savePack(fixture.panel, fixture.evidence);
    assert.ok(fixture.proposed.endsWith(`/evidence-a${"\u{20000}".repeat(24)}.json`), fixture.proposed);
  });

  it("are saved as Markdown where the file's name says so", async () => {
    const fixture = new Fixture(two, checked);
    fixture.chosen = vscode.Uri.file("/work/evidence.MD");
    await savePack(fixture.panel, fixture.evidence);
    assert.equal(fixture.text(fixture.chosen), "# as markdown");
  });

  it("are not saved where nothing is shown, nothing is chosen or nothing can be written", async () => {
    const empty = new Fixture(null, checked);
    await assert.rejects(savePack(empty.panel, empty.evidence), { code: "no_pack" });
    const fixture = new Fixture(two, checked);
    fixture.chosen = undefined;
    await savePack(fixture.panel, fixture.evidence);
    assert.equal(fixture.files.size, 0);
    fixture.chosen = vscode.Uri.file("/locked/evidence.json");
    await assert.rejects(savePack(fixture.panel, fixture.evidence), { code: "not_saved", message: /evidence\.json/ });
  });

  it("are shown with the states of their citations as they are now", async () => {
    const fixture = new Fixture(null, checked);
    fixture.put(packAsJson(two));
    await openSavedPack(fixture.panel, fixture.evidence);
    const [shown] = fixture.shown;
    assert.deepEqual(
      shown?.pack.candidates.map(({ verification }) => verification.state),
      ["exact", "gone"],
    );
    assert.equal(shown?.request.question.query, "How do I retry?");
    assert.match(
      shown?.notice ?? "",
      /^This is a saved answer, from an index that was built on Nov 2[01], 2026\. Checked again just now: 1 of 2 citations hold\.$/,
    );
    // Saved again, the pack is the one that was made.
    assert.equal(packAsJson(shown?.pack ?? two), packAsJson(two));
  });

  it("say so where they were edited, or cannot be checked", async () => {
    const edited = new Fixture(null, () => checked({ intact: false }));
    edited.put(packAsJson(two));
    await openSavedPack(edited.panel, edited.evidence);
    assert.match(edited.shown[0]?.notice ?? "", /edited after the answer was saved: do not rely on its texts/);
    const failing = new Fixture(null, () => {
      throw new Problem("Nothing is indexed yet.", "no_index");
    });
    failing.put(packAsJson(two));
    await openSavedPack(failing.panel, failing.evidence);
    assert.match(failing.shown[0]?.notice ?? "", /could not be checked again: Nothing is indexed yet\./);
    assert.equal(failing.shown[0]?.pack.candidates.length, 2);
  });

  it("are not shown once the user has cancelled", async () => {
    const fixture = new Fixture(null, () => {
      throw new Problem("Cancelled.", "cancelled");
    });
    fixture.put(packAsJson(two));
    await assert.rejects(openSavedPack(fixture.panel, fixture.evidence), { code: "cancelled" });
    fixture.chosen = undefined;
    await openSavedPack(fixture.panel, fixture.evidence);
    assert.equal(fixture.shown.length, 0);
  });

  for (const [what, text, said] of [
    ["no JSON", "# Evidence", /not JSON/],
    ["no object", "[1, 2]", /not a saved answer/],
    ["null", "null", /not a saved answer/],
    ["another JSON", '{"name": "x"}', /not a saved answer/],
    ["a pack with a wrong member", packAsJson(two).replace('"rank": 2', '"rank": "2"'), /not a saved answer/],
  ] as const) {
    it(`are refused in one sentence where the file holds ${what}`, async () => {
      const fixture = new Fixture(null, checked);
      fixture.put(text);
      await assert.rejects(readSavedPack(FILE), { code: "not_a_pack", message: said });
    });
  }

  it("are refused where the file is too large or not there", async () => {
    const fixture = new Fixture(null, checked);
    await assert.rejects(readSavedPack(FILE), { code: "not_a_pack", message: /cannot be read/ });
    fixture.put(packAsJson(two));
    fixture.size = MAX_PACK_BYTES + 1;
    await assert.rejects(readSavedPack(FILE), { code: "not_a_pack", message: /too large/ });
  });
});

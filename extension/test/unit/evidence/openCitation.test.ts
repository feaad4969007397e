import assert from "node:assert/strict";
import { beforeEach, describe, it } from "mocha";
import type { SymbolInformation, Uri as VscodeUri } from "vscode";
import { openFileOnDisk } from "../../../src/commands/openFileOnDisk";
import { Evidence } from "../../../src/evidence/client";
import { Highlight } from "../../../src/evidence/highlight";
import { Citations } from "../../../src/evidence/openCitation";
import { citationOf } from "../../../src/evidence/outlines";
import { followOpened, panelActions } from "../../../src/evidence/panelActions";
import { readOnly, sourceAddress } from "../../../src/evidence/sourceAddress";
import { SourceDocuments } from "../../../src/evidence/sourceDocuments";
import { CONTEXT } from "../../../src/ids";
import { Problem } from "../../../src/problem";
import type { SourceResult } from "../../../src/protocol/generated";
import { variedPack } from "../../webview/packs";
import { commands, FakeEditor, Range, Selection, textDocuments, Uri, window, workspace } from "../fake-vscode";
import { FakeBackend } from "./fakeBackend";
import { candidate, pack, source } from "./packs";

const TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n";
const CITED = source({ text: TEXT, lines: { start: 2, end: 4 } });
const KEYBOARD = 1;
const BY_PROGRAM = 3;

/** The places of a range: line and column of its beginning and its end. */
function spot({ start, end }: Range): number[] {
  return [start.line, start.character, end.line, end.character];
}

function documentsFor(answer: () => SourceResult): SourceDocuments {
  return new SourceDocuments(new Evidence(new FakeBackend({ "adk/source": answer })));
}

describe("a citation that is opened", () => {
  let editor: FakeEditor;

  beforeEach(() => {
    textDocuments.length = 0;
    window.shown.length = 0;
    window.visibleTextEditors = [];
    workspace.openTextDocument = async (uri: Uri) => ({ uri });
    window.showTextDocument = async (shown: { uri: Uri } | Uri) => {
      const uri = shown instanceof Uri ? shown : shown.uri;
      window.shown.push({ uri, options: undefined });
      editor = new FakeEditor(uri, TEXT);
      return editor;
    };
  });

  async function click(answer: SourceResult): Promise<void> {
    const evidence = new Evidence(new FakeBackend({ "adk/source": () => answer }));
    const citations = new Citations(evidence, new SourceDocuments(evidence), new Highlight());
    await citations.open(candidate(), pack(), "source");
  }

  it("is a read-only source with the lines marked and nothing selected, whatever became of its file", async () => {
    for (const answer of [CITED, { ...CITED, local_matches: false }, { ...CITED, matches_index: false }]) {
      window.shown.length = 0;
      await click(answer);
      assert.deepEqual(
        window.shown.map(({ uri }) => uri.scheme),
        ["adk-evidence"],
      );
      assert.deepEqual(spot(editor.selection), [1, 0, 1, 0]);
      assert.deepEqual(editor.marked[0] && spot(editor.marked[0].range), [1, 0, 3, 4]);
    }
  });

  it("is asked for by its id alone", async () => {
    const backend = new FakeBackend({ "adk/source": () => CITED });
    const evidence = new Evidence(backend);
    const shown = candidate();
    await new Citations(evidence, new SourceDocuments(evidence), new Highlight()).open(shown, pack(), "source");
    assert.deepEqual(backend.asked.at(-1)?.params, { candidateId: shown.candidate_id });
  });

  it("is the source in the editor where the title of a result of the docs is clicked", async () => {
    const url = "https://adk.dev/tools/retry/";
    const evidence = new Evidence(
      new FakeBackend({ "adk/source": () => ({ ...CITED, url, site_url: "https://adk.dev/" }) }),
    );
    const shown = candidate({ source_type: "docs" });
    const citations = new Citations(evidence, new SourceDocuments(evidence), new Highlight());
    await citations.open(shown, pack({ candidates: [shown] }), "default");
    assert.equal(window.shown.length, 1);
  });

  it("is asked for by the citation itself where it is a part of an outline", async () => {
    const backend = new FakeBackend({ "adk/source": () => CITED });
    const evidence = new Evidence(backend);
    const citations = new Citations(evidence, new SourceDocuments(evidence), new Highlight());
    const [outline] = variedPack().outlines;
    assert.ok(outline?.parts[0] !== undefined);
    const citation = citationOf(outline, outline.parts[0]);
    await panelActions(evidence, citations).openCitation(citation, pack());
    assert.deepEqual(backend.asked.at(-1)?.params, { citation });
    assert.match(citation, /^adk-docs@[0-9a-f]{40}:docs\/integrations\/reflect-and-retry\.md#L76-L112$/);
    assert.deepEqual(editor.marked[0] && spot(editor.marked[0].range), [1, 0, 3, 4]);
  });

  it("is left for the panel with Escape where the panel has opened it, until another document is in use", async () => {
    const evidence = new Evidence(new FakeBackend({ "adk/source": () => CITED }));
    const citations = new Citations(evidence, new SourceDocuments(evidence), new Highlight());
    const following = followOpened();
    const leads = () => commands.executed.filter(([, key]) => key === CONTEXT.openedByPanel).at(-1)?.[2];
    const activate = (active: FakeEditor | undefined) => {
      window.activeTextEditor = active;
      window.activeEditorChanged.fire(active);
    };
    const show = window.showTextDocument;
    window.showTextDocument = async (...shown) => {
      activate(await show(...shown));
      return editor;
    };
    try {
      await panelActions(evidence, citations).open(candidate(), pack(), "source");
      assert.equal(leads(), true);
      activate(undefined);
      activate(editor);
      assert.equal(leads(), true);
      activate(new FakeEditor(Uri.file("/project/agent.py"), TEXT));
      assert.equal(leads(), false);
      // As from code, by its definition.
      await citations.open(candidate(), pack(), "source");
      assert.equal(leads(), false);
    } finally {
      following.dispose();
      window.activeTextEditor = undefined;
    }
  });

  it("is marked again after its tab was out of sight, and moving the cursor changes nothing", async () => {
    await click(CITED);
    const again = new FakeEditor(editor.document.uri, TEXT);
    window.visibleEditorsChanged.fire([again]);
    assert.deepEqual(again.marked[0] && spot(again.marked[0].range), [1, 0, 3, 4]);
    again.selection = new Selection(5, 0, 5, 0);
    window.selectionChanged.fire({ textEditor: again, kind: KEYBOARD });
    assert.equal(again.marked.length > 0, true);
    workspace.closedDocuments.fire(again.document);
    const reopened = new FakeEditor(editor.document.uri, TEXT);
    window.visibleEditorsChanged.fire([reopened]);
    assert.deepEqual(reopened.marked, []);
  });

  it("is marked, too, where the editor itself selected the lines of a link", () => {
    const highlight = new Highlight();
    const cited = new FakeEditor(Uri.from({ scheme: "adk-evidence", path: "/google/adk-python@v1/a.py" }), TEXT);
    const own = new FakeEditor(Uri.file("/work/a.py"), TEXT);
    for (const textEditor of [cited, own]) {
      textEditor.selection = new Selection(1, 0, 3, 4);
      window.selectionChanged.fire({ textEditor, kind: BY_PROGRAM });
    }
    assert.deepEqual(spot(cited.selection), [1, 0, 1, 0]);
    assert.deepEqual(cited.marked[0] && spot(cited.marked[0].range), [1, 0, 3, 4]);
    assert.deepEqual(spot(own.selection), [1, 0, 3, 4]);
    highlight.dispose();
  });

  it("is left as the reader selects it", () => {
    const highlight = new Highlight();
    const cited = new FakeEditor(Uri.from({ scheme: "adk-evidence", path: "/google/adk-python@v1/a.py" }), TEXT);
    cited.selection = new Selection(1, 0, 3, 4);
    window.selectionChanged.fire({ textEditor: cited, kind: KEYBOARD });
    assert.deepEqual(spot(cited.selection), [1, 0, 3, 4]);
    highlight.dispose();
  });

  it("is a read-only source in the editor's own list of symbols", () => {
    const location = { uri: Uri.file("/corpora/a.py"), range: new Range(3, 0, 3, 0) };
    const place = { repo: "google/adk-python", commit: "v1", path: "a.py" };
    for (const [data, scheme] of [
      [place, "adk-evidence"],
      [{ ...place, commit: 1 }, "file"],
    ] as const) {
      const symbol = { location: { ...location }, data } as unknown as SymbolInformation;
      assert.equal(readOnly(symbol, (of) => sourceAddress(of, undefined)).location.uri.scheme, scheme);
    }
  });

  it("leads to its file, to edit that on purpose: at the same line, with nothing selected", async () => {
    await click(CITED);
    let options: unknown;
    window.showTextDocument = async (shown: { uri: Uri } | Uri, given: unknown) => {
      const uri = shown instanceof Uri ? shown : shown.uri;
      options = given;
      window.shown.push({ uri, options: given });
      return new FakeEditor(uri, TEXT);
    };
    window.activeTextEditor = editor;
    await openFileOnDisk({ read: async () => CITED });
    assert.equal(window.shown.at(-1)?.uri.path, CITED.local_file);
    assert.deepEqual(spot((options as { selection: Range }).selection), [1, 0, 1, 0]);
    await assert.rejects(openFileOnDisk({ read: async () => ({ ...CITED, local_file: null }) }), { code: "no_file" });
    window.activeTextEditor = undefined;
    await assert.rejects(openFileOnDisk({ read: async () => CITED }), { code: "no_source" });
  });
});

describe("the read-only document with a source", () => {
  const now = { ...CITED, matches_index: false, local_matches: false };
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString().replace("\ufeff", "");
  const address = (of: SourceResult) => documentsFor(() => of).addressOf(of, undefined) as VscodeUri;

  it("has the text that its address names, also after the window was loaded anew", async () => {
    for (const answer of [CITED, now]) {
      assert.equal(text(await documentsFor(() => answer).readFile(address(answer))), TEXT);
    }
    assert.notEqual(address(CITED).toString(), address(now).toString());
  });

  it("says so where that text is nowhere any more, and shows no other", async () => {
    await assert.rejects(documentsFor(() => now).readFile(address(CITED)), /has changed/);
    await assert.rejects(documentsFor(() => ({ ...now, text: "other\n" })).readFile(address(now)), /has changed/);
  });

  it("cannot be written", () => {
    assert.throws(() => documentsFor(() => CITED).writeFile(), /no permissions/);
  });

  it("is asked of each folder's server in turn where its address names none", async () => {
    workspace.workspaceFolders = ["/a", "/b"].map((path, index) => ({ uri: Uri.file(path), name: path, index }));
    const asked: string[] = [];
    const documents = new SourceDocuments({
      source: async (_params, _token, scope) => {
        asked.push(scope?.path ?? "");
        if (scope?.path !== "/b") {
          throw new Problem("It is not here.", "not_indexed");
        }
        return CITED;
      },
    });
    try {
      const place = { repo: "google/adk-python", commit: "v1", path: "a.py" };
      assert.equal(text(await documents.readFile(sourceAddress(place, undefined))), TEXT);
      assert.deepEqual(asked, ["", "/a", "/b"]);
      asked.length = 0;
      const ofA = sourceAddress(place, Uri.file("/a/x.py") as unknown as VscodeUri);
      await assert.rejects(documents.readFile(ofA), /not here/);
      assert.deepEqual(asked, ["/a"]);
    } finally {
      workspace.workspaceFolders = undefined;
    }
  });
});

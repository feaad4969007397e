import assert from "node:assert/strict";
import { describe, it } from "mocha";
import * as vscode from "vscode";
import { indexProject } from "../../../src/commands/indexProject";
import { Evidence } from "../../../src/evidence/client";
import { Problem } from "../../../src/problem";
import type { IndexResult, ServerStatus } from "../../../src/protocol/generated";
import { GetStarted, type JobParts } from "../../../src/server/getStarted";
import { type Asked, FakeBackend } from "../evidence/fakeBackend";

const FOLDER = { uri: vscode.Uri.parse("file:///work/shop"), name: "shop", index: 0 };
const REPORT: IndexResult = {
  name: "shop",
  files: 6,
  chunks: 20,
  skipped: [],
  seconds: 2,
  warnings: [],
  status: "success",
};

interface Editor {
  services?: string[];
  folders?: readonly unknown[];
  /** What the user answers to each message. */
  answers?: string[];
  index?: () => Promise<IndexResult>;
}

/** Indexes in an editor: its messages, then what the panel says in the end. `asked` gets what the server was asked. */
async function indexed(editor: Editor, asked: Asked[] = [], logged: string[] = []): Promise<string[]> {
  const told: string[] = [];
  const answers = [...(editor.answers ?? [])];
  const message =
    (kind: string) =>
    async (text: string): Promise<string | undefined> => {
      told.push(`${kind}: ${text}`);
      return answers.shift();
    };
  const before = { ...vscode.window };
  const folders = vscode.workspace.workspaceFolders;
  Object.assign(vscode.workspace, { workspaceFolders: editor.folders ?? [FOLDER] });
  Object.assign(vscode.window, {
    activeTextEditor: undefined,
    showInformationMessage: message("information"),
    showWarningMessage: message("warning"),
  });
  try {
    const log = { warn: (line: string) => logged.push(line) } as unknown as vscode.LogOutputChannel;
    const backend = new FakeBackend({
      "adk/status": async () => ({ profile: "local", services: editor.services ?? [] }) as unknown as ServerStatus,
      "adk/index": editor.index ?? (async () => REPORT),
    });
    const parts = { problemOf: (reason: unknown) => reason } as JobParts;
    const job = new GetStarted(parts, {} as vscode.Memento);
    const indexing = indexProject(new Evidence(backend), log, job, () => undefined);
    await indexing.finally(() => asked.push(...backend.asked));
    return [...told, ...(job.state.outcome?.lines ?? [])];
  } finally {
    Object.assign(vscode.window, before);
    Object.assign(vscode.workspace, { workspaceFolders: folders });
  }
}

describe("indexing the project's code", () => {
  it("indexes the folder in use, and says what questions search from now on", async () => {
    const asked: Asked[] = [];
    const told = await indexed({}, asked);
    assert.deepEqual(
      asked.map(({ method, params }) => [method, params]),
      [
        ["adk/status", { folder: "file:///work/shop", examined: false }],
        ["adk/index", { folder: "file:///work/shop" }],
      ],
    );
    assert.deepEqual(told, ["Your code is indexed: 6 files. Questions from this folder search it, too."]);
  });

  it("says which files are missing and why, and the log names them all", async () => {
    const skipped = ["a.bin (binary)", "b.csv (too large)", "c.txt (holds a secret)"];
    skipped.push(...["d.bin", "e.bin", "f.bin"].map((file) => `${file} (binary)`));
    const few = await indexed({ index: async () => ({ ...REPORT, skipped: skipped.slice(0, 2), status: "partial" }) });
    assert.equal(few[1], "Left out: a.bin (binary), b.csv (too large)");
    const logged: string[] = [];
    const many = await indexed({ index: async () => ({ ...REPORT, skipped }) }, [], logged);
    assert.match(
      many[1] ?? "",
      /^6 files were left out: a\.bin \(binary\), .*, c\.txt \(holds a secret\), .*, e\.bin \(binary\)… The log/,
    );
    assert.deepEqual(
      logged,
      skipped.map((file) => `Left out: ${file}`),
    );
  });

  it("points at the log only for remarks that are on no file that is named", async () => {
    const remark = "Files that may hold credentials, by their names, were not indexed: .env.";
    const report = { ...REPORT, skipped: [".env (may hold a secret, by its name)"], warnings: [remark] };
    const [, left, ...more] = await indexed({ index: async () => report });
    assert.deepEqual([left, more], ["Left out: .env (may hold a secret, by its name)", []]);
    const warnings = [remark, "The disk is almost full."];
    assert.equal((await indexed({ index: async () => ({ ...report, warnings }) })).at(-1), "The log says more.");
  });

  it("sends no code to a service without a yes", async () => {
    const asked: Asked[] = [];
    // Of the profile local, whose store another setting has changed.
    const [told = ""] = await indexed({ services: ["store.kind"] }, asked);
    assert.match(told, /^warning: The code of shop goes to services, as these settings say: store\.kind\./);
    assert.deepEqual(
      asked.map(({ method }) => method),
      ["adk/status"],
    );
    const again: Asked[] = [];
    await indexed({ services: ["store.kind"], answers: ["Index"] }, again);
    assert.equal(again.at(-1)?.method, "adk/index");
  });

  it("needs a folder", async () => {
    await assert.rejects(indexed({ folders: [] }), { code: "no_folder" });
  });

  it("leaves problems to whoever started it", async () => {
    const failing = (code: string) => async () => {
      throw new Problem("It ended.", code);
    };
    await assert.rejects(indexed({ index: failing("store_error") }), { code: "store_error" });
  });
});

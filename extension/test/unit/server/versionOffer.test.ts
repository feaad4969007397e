import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import type { ProjectStatus, ServerStatus } from "../../../src/protocol/generated";
import type { Answered } from "../../../src/server/pool";
import { VersionOffer } from "../../../src/server/versionOffer";

const FOLDER = "file:///work/agent";
const INDEX = "Index google-adk 1.18.0";
const PROJECT: ProjectStatus = {
  folder: FOLDER,
  version: "1.18.0",
  taken_from: ".venv",
  asked: "",
  indexed: "2.13.0",
  exact: false,
};

function answered(more: Partial<ProjectStatus> = {}, folder = FOLDER): Answered {
  const result = { projects: [{ ...PROJECT, ...more }] } as unknown as ServerStatus;
  return { folder: { id: folder, uri: undefined }, method: "adk/status", result };
}

class Kept implements vscode.Memento {
  private readonly values = new Map<string, unknown>();
  keys = () => [...this.values.keys()];
  get<T>(key: string): T | undefined {
    return this.values.get(key) as T | undefined;
  }
  async update(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
  }
}

describe("the offer to index a project's version", () => {
  const before = { ...vscode.window };
  const run = vscode.commands.executeCommand;
  let said: string[];
  let ran: unknown[][];
  let choice: string | undefined;

  beforeEach(() => {
    said = [];
    ran = [];
    choice = undefined;
    Object.assign(vscode.window, {
      showInformationMessage: async (text: string) => {
        said.push(text);
        return choice;
      },
    });
    Object.assign(vscode.commands, {
      executeCommand: async (...all: unknown[]) => {
        ran.push(all);
      },
    });
  });

  afterEach(() => {
    Object.assign(vscode.window, before);
    Object.assign(vscode.commands, { executeCommand: run });
  });

  it("is made once for each folder and version", async () => {
    const offer = new VersionOffer(new Kept());
    await offer.consider(answered());
    await offer.consider(answered());
    assert.deepEqual(said, [
      "agent uses google-adk 1.18.0 (from .venv). That version is not indexed. Answers are of 2.13.0 and may not hold for 1.18.0.",
    ]);
    await offer.consider(answered({ version: "1.31.0" }));
    assert.equal(said.length, 2);
  });

  it("is not made where the version is indexed, nothing is, or the answer is of another folder or request", async () => {
    const offer = new VersionOffer(new Kept());
    await offer.consider(answered({ exact: true, indexed: "1.18.0" }));
    await offer.consider(answered({ indexed: null }));
    await offer.consider(answered({}, "file:///work/other"));
    await offer.consider({ ...answered(), method: "adk/ingest" });
    await offer.consider({ ...answered(), result: undefined });
    assert.deepEqual(said, []);
  });

  it("indexes the version of the folder", async () => {
    choice = INDEX;
    await new VersionOffer(new Kept()).consider(answered());
    assert.deepEqual(ran, [["adkEvidence.ingest", { folder: FOLDER }]]);
  });

  it("is not made again in another window once it was declined", async () => {
    const kept = new Kept();
    choice = "Not Now";
    await new VersionOffer(kept).consider(answered());
    await new VersionOffer(kept).consider(answered());
    assert.equal(said.length, 1);
    await new VersionOffer(kept).consider(answered({ version: "1.31.0" }));
    assert.equal(said.length, 2);
  });
});

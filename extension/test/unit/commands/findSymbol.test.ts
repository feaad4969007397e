import assert from "node:assert/strict";
import { describe, it } from "mocha";
import * as vscode from "vscode";
import { copySymbol, symbolSearch } from "../../../src/commands/findSymbol";
import { Evidence } from "../../../src/evidence/client";
import { Problem } from "../../../src/problem";
import type { TargetsParams } from "../../../src/protocol/generated";
import { FakeBackend } from "../evidence/fakeBackend";
import { answer, target } from "./targets";

const token: vscode.CancellationToken = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose() {} }),
};

describe("the search for symbols", () => {
  function backend(refused: Problem | null = null) {
    return new FakeBackend({
      "adk/targets": ({ python }) => {
        if (refused !== null && python !== undefined) {
          throw refused;
        }
        return answer([target()]);
      },
    });
  }

  function pythons({ asked }: FakeBackend): (string | null | undefined)[] {
    return asked.map(({ params }) => (params as TargetsParams).python);
  }

  it("does not wait until the user's interpreter is known", async () => {
    const server = backend();
    const search = symbolSearch(new Evidence(server), undefined, new Promise(() => undefined));
    assert.equal((await search("Runner", token)).results.length, 1);
    assert.deepEqual(pythons(server), [undefined]);
  });

  it("asks whether the user's interpreter has what is found", async () => {
    const server = backend();
    const interpreter = Promise.resolve("/venv/bin/python");
    const search = symbolSearch(new Evidence(server), undefined, interpreter);
    await interpreter;
    await search("Runner", token);
    assert.deepEqual(pythons(server), ["/venv/bin/python"]);
  });

  it("finds symbols also where the server cannot read that interpreter, and asks for it once", async () => {
    const server = backend(new Problem("It is neither.", "invalid_request"));
    const interpreter = Promise.resolve("/odd/pypy");
    const search = symbolSearch(new Evidence(server), undefined, interpreter);
    await interpreter;
    assert.equal((await search("Runner", token)).results.length, 1);
    await search("Runner", token);
    assert.deepEqual(pythons(server), ["/odd/pypy", undefined, undefined]);
  });

  it("tells every other failure", async () => {
    const refused = new Problem("Nothing is indexed yet.", "no_index");
    const interpreter = Promise.resolve("/venv/bin/python");
    const search = symbolSearch(new Evidence(backend(refused)), undefined, interpreter);
    await interpreter;
    await assert.rejects(search("Runner", token), refused);
  });

  it("asks for no longer text than the server takes", async () => {
    const server = backend();
    await symbolSearch(new Evidence(server), undefined, Promise.resolve(undefined))("x".repeat(5000), token);
    assert.deepEqual(
      server.asked.map(({ params }) => (params as TargetsParams).query.length),
      [1000],
    );
  });
});

describe("copying a symbol", () => {
  it("copies the import, or the name of what has none, and says which", async () => {
    assert.equal(await copySymbol(target()), "Import copied.");
    assert.equal(await vscode.env.clipboard.readText(), "from google.adk import Runner");
    assert.equal(await copySymbol(target({ standing: "private", import_statement: "" })), "Name copied.");
    assert.equal(await vscode.env.clipboard.readText(), "google.adk.runners.Runner");
  });
});

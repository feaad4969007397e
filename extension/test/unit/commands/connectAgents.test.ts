import assert from "node:assert/strict";
import os from "node:os";
import { afterEach, describe, it } from "mocha";
import { connectAgents } from "../../../src/commands/connectAgents";
import { Problem } from "../../../src/problem";
import type { Resolution } from "../../../src/server/resolve";
import { configured, tasks } from "../fake-vscode";

const environment = { lasting: async (python: string) => python.replace("1.2.3", "current") };

function resolved(args: string[]): Resolution {
  const command = "/storage/1.2.3/bin/python";
  return { trail: [], launch: { command, args, isolated: true, key: "", origin: "privateEnvironment", version: null } };
}

describe("connecting agents", () => {
  afterEach(() => {
    tasks.executed.length = 0;
    configured.clear();
  });

  it("runs the command with the server's program, at a path that stays, and for its index", async () => {
    configured.set("adkEvidence.home", "/data/my index");
    await connectAgents(resolved(["-I", "-c", "run()", "serve", "lsp", "--log-level", "info"]), undefined, environment);
    const [execution] = tasks.executed.map((task) => task.execution);
    assert.equal(execution?.process, "/storage/current/bin/python");
    assert.deepEqual(execution?.args, ["-I", "-c", "run()", "setup", "--home", "/data/my index"]);
    assert.equal(execution?.options.cwd, os.homedir());
  });

  it("says what is missing where there is no program, or one that the user wrote", async () => {
    const missing = new Problem("Nothing is installed.", "no_environment");
    await assert.rejects(connectAgents({ trail: [], problem: missing }, undefined, environment), missing);
    await assert.rejects(connectAgents(resolved([]), undefined, environment), /Run `adk-evidence setup`/);
    assert.deepEqual(tasks.executed, []);
  });
});

import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { activePython, knownPythons, onDidChangePython } from "../../../src/server/pythonExtension";

const MANAGER = "ms-python.vscode-python-envs";
const PYTHON = "ms-python.python";
const FOLDER = vscode.Uri.file("/work");

/** Has these extensions installed, each with its API; null for one that is turned off. */
function install(apis: Record<string, object | null>): void {
  const extensions = Object.fromEntries(
    Object.entries(apis).map(([id, api]) => {
      const exports = api ?? undefined;
      return [id, { isActive: true, exports, activate: async () => exports }];
    }),
  );
  Object.assign(vscode.extensions, { getExtension: (id: string) => extensions[id] });
}

function managed(executable: unknown): object {
  return { execInfo: { run: { executable } } };
}

/** What the Python extension says, which has one interpreter. */
function pythonExtension(file: string): object {
  const environment = { executable: { uri: vscode.Uri.file(file) } };
  return {
    ready: Promise.resolve(),
    environments: {
      getActiveEnvironmentPath: () => ({}),
      resolveEnvironment: async () => environment,
      known: [environment],
    },
  };
}

describe("the interpreter of a folder", () => {
  afterEach(() => Object.assign(vscode.extensions, { getExtension: () => undefined }));

  it("is that of the Python Environments extension where it is installed", async () => {
    const asked: unknown[] = [];
    install({
      [PYTHON]: pythonExtension("/usr/bin/python3"),
      [MANAGER]: {
        getEnvironment: async (scope: unknown) => {
          asked.push(scope);
          return managed("/work/.venv/bin/python");
        },
        getEnvironments: async () => [managed("/opt/python/bin/python"), managed("/usr/bin/python3")],
      },
    });
    assert.equal(await activePython(FOLDER), "/work/.venv/bin/python");
    assert.deepEqual(asked, [FOLDER]);
    assert.deepEqual(await knownPythons(), ["/opt/python/bin/python", "/usr/bin/python3"]);
  });

  it("is that of the Python extension where the other is turned off, has another API, fails, or names no path", async () => {
    const failing = async () => {
      throw new Error("not today");
    };
    for (const manager of [null, {}, { getEnvironment: failing }, { getEnvironment: async () => managed("python") }]) {
      install({ [MANAGER]: manager, [PYTHON]: pythonExtension("/usr/bin/python3") });
      assert.equal(await activePython(FOLDER), "/usr/bin/python3");
      assert.deepEqual(await knownPythons(), ["/usr/bin/python3"]);
    }
  });

  it("is none where neither is installed", async () => {
    assert.equal(await activePython(FOLDER), undefined);
    assert.deepEqual(await knownPythons(), []);
  });

  it("has changed when the Python Environments extension says so", async () => {
    const changes = new vscode.EventEmitter<void>();
    install({ [MANAGER]: { onDidChangeEnvironment: changes.event } });
    let told = 0;
    const following = onDidChangePython(() => told++);
    changes.fire();
    following.dispose();
    assert.equal(told, 1);
  });
});

import assert from "node:assert/strict";
import os from "node:os";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { MCP_ENABLED } from "../../../src/ids";
import { registerMcpServers } from "../../../src/mcp/provider";
import type { Launch, Resolution } from "../../../src/server/resolve";
import { configurationChanges, configured, mcpProviders } from "../fake-vscode";

type Provider = vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition>;

const NEVER: vscode.CancellationToken = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose: () => undefined }),
};

function started(command: string): Resolution {
  const args = ["serve", "lsp"];
  const launch: Launch = { command, args, isolated: true, key: command, origin: "interpreter", version: "1.2.3" };
  return { trail: [], launch };
}

describe("the provider of the server for agents", () => {
  let registered: vscode.Disposable;
  let provider: Provider;
  /** What each folder resolves to; the key of a window without folders is empty. */
  let programs: Record<string, Resolution>;
  let looks: boolean[];
  /** The names of the folders that have nothing to do with the ADK. */
  let others: Set<string>;
  let change: () => void;

  beforeEach(() => {
    configured.set(MCP_ENABLED, true);
    programs = { "": started("/env/python") };
    looks = [];
    others = new Set();
    registered = registerMcpServers({
      version: "1.2.3",
      key: { environment: async () => ({ VOYAGE_API_KEY: "pa-secret" }) },
      wanted: async (folder) => !others.has(folder?.name ?? ""),
      resolve: async (folder, fresh) => {
        looks.push(fresh);
        return programs[folder?.name ?? ""] ?? Promise.reject(new Error("unknown folder"));
      },
      onDidChange: (listener) => {
        change = listener;
        return { dispose: () => undefined };
      },
    });
    const found = mcpProviders.get("adkEvidence.mcp");
    assert.ok(found);
    provider = found as Provider;
  });
  afterEach(() => {
    registered.dispose();
    configured.clear();
    Object.assign(vscode.workspace, { workspaceFolders: undefined });
  });

  function open(...names: string[]): void {
    const folders = names.map((name, index) => ({ name, index, uri: vscode.Uri.file(`/${name}`) }));
    Object.assign(vscode.workspace, { workspaceFolders: folders });
  }

  it("is offered in a workspace whose folders were all closed", async () => {
    open();
    assert.equal((await offered()).length, 1);
  });

  async function offered(): Promise<vscode.McpStdioServerDefinition[]> {
    return (await provider.provideMcpServerDefinitions(NEVER)) ?? [];
  }

  it("offers the server of the environment, not started in the workspace's folder", async () => {
    const [server, ...others] = await offered();
    assert.deepEqual(others, []);
    assert.equal(server?.label, "ADK Evidence");
    assert.equal(server.command, "/env/python");
    assert.deepEqual(server.args, ["serve", "mcp"]);
    assert.equal(server.version, "1.2.3");
    assert.equal(server.cwd?.path, os.homedir());
  });

  it("offers nothing, and tells nothing, as long as there is no environment", async () => {
    programs[""] = { trail: [], problem: { name: "", message: "", code: "no_environment", fixes: [] } };
    assert.deepEqual(await offered(), []);
  });

  it("gives the key to a server that is about to start, and to no list", async () => {
    const [server] = await offered();
    assert.ok(server);
    assert.ok(!JSON.stringify(server).includes("pa-secret"));
    const resolved = await provider.resolveMcpServerDefinition?.(server, NEVER);
    assert.equal(resolved?.env.VOYAGE_API_KEY, "pa-secret");
    assert.equal(resolved.env.PYTHONPATH, null);
  });

  it("offers one server for folders that share a program, and one for each that has its own", async () => {
    programs = { one: started("/a"), two: started("/b"), three: started("/a") };
    open("one", "three");
    assert.deepEqual(
      (await offered()).map(({ label }) => label),
      ["ADK Evidence"],
    );
    open("one", "two", "three");
    assert.deepEqual(
      (await offered()).map(({ label, command }) => [label, command]),
      [
        ["ADK Evidence (one)", "/a"],
        ["ADK Evidence (two)", "/b"],
      ],
    );
  });

  it("offers nothing, and looks for no program, where nothing has to do with the ADK", async () => {
    others = new Set([""]);
    assert.deepEqual(await offered(), []);
    programs = { one: started("/a"), two: started("/b") };
    open("one", "two");
    others = new Set(["one"]);
    assert.deepEqual(
      (await offered()).map(({ command }) => command),
      ["/b"],
    );
    assert.equal(looks.length, 1);
  });

  it("lets agents index what lies in the folders that are open", async () => {
    programs = { one: started("/a"), two: started("/a") };
    open("one", "two");
    const [server] = await offered();
    assert.deepEqual(server?.args, ["serve", "mcp", "--root", "/one", "--root", "/two"]);
  });

  it("tells the editor of changes, and then looks anew", async () => {
    let told = 0;
    provider.onDidChangeMcpServerDefinitions?.(() => told++);
    await offered();
    change();
    assert.equal(told, 1);
    await offered();
    await offered();
    assert.deepEqual(looks, [false, true, false]);
  });

  it("offers nothing beside the extension's own tool, and looks for no program", async () => {
    configured.clear();
    assert.deepEqual(await offered(), []);
    assert.deepEqual(looks, []);
  });

  it("offers the server where the editor has no place for the extension's own tool", async () => {
    configured.clear();
    const { registerTool } = vscode.lm;
    Object.assign(vscode.lm, { registerTool: undefined });
    try {
      assert.equal((await offered()).length, 1);
    } finally {
      Object.assign(vscode.lm, { registerTool });
    }
  });

  it("tells the editor when the setting changes, and of no other setting", () => {
    let told = 0;
    provider.onDidChangeMcpServerDefinitions?.(() => told++);
    configurationChanges.fire("adkEvidence.hover.enabled");
    assert.equal(told, 0);
    configurationChanges.fire(MCP_ENABLED);
    assert.equal(told, 1);
  });

  it("is nothing in an editor that has no place for it", () => {
    const { registerMcpServerDefinitionProvider: register } = vscode.lm;
    Object.assign(vscode.lm, { registerMcpServerDefinitionProvider: undefined });
    try {
      registerMcpServers({
        version: "1.2.3",
        key: { environment: async () => ({}) },
        wanted: () => assert.fail("asked"),
        resolve: () => assert.fail("asked"),
        onDidChange: () => assert.fail("listened"),
      }).dispose();
    } finally {
      Object.assign(vscode.lm, { registerMcpServerDefinitionProvider: register });
    }
  });
});

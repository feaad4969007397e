import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { mcpServer } from "../../../src/mcp/server";
import { serverArguments } from "../../../src/server/python";
import type { Launch, Origin } from "../../../src/server/resolve";

function launch(command: string, args: readonly string[], origin: Origin): Launch {
  return { command, args, isolated: origin !== "command", key: "", origin, version: null };
}

describe("the server for agents", () => {
  it("runs in the environment of the language server, from the same index", () => {
    const server = mcpServer(launch("/env/bin/python", serverArguments(), "privateEnvironment"), {
      home: "/data/my index",
    });
    assert.equal(server?.command, "/env/bin/python");
    const place = server.args.indexOf("serve");
    assert.deepEqual(server.args.slice(place), ["serve", "mcp", "--home", "/data/my index"]);
    assert.deepEqual(server.args.slice(0, place), serverArguments().slice(0, place));
    // Another interpreter's modules must not be loaded.
    assert.deepEqual(server.env, { PYTHONHOME: null, PYTHONPATH: null, __PYVENV_LAUNCHER__: null });
  });

  it("answers of the version that the window's one project uses", () => {
    const server = mcpServer(launch("/env/bin/python", serverArguments(), "privateEnvironment"), {}, ["/w"], "/w");
    assert.deepEqual(server?.args.slice(server.args.indexOf("mcp")), ["mcp", "--project", "/w", "--root", "/w"]);
  });

  it("follows a command that the user chose, without the options of the language server", () => {
    const chosen = launch("uv", ["run", "adk-evidence", "serve", "lsp", "--log-level", "debug"], "command");
    assert.deepEqual(mcpServer(chosen, {}), {
      command: "uv",
      args: ["run", "adk-evidence", "serve", "mcp"],
      env: {},
    });
  });

  it("is not guessed where that command does not say what it serves", () => {
    assert.equal(mcpServer(launch("/opt/start-lsp", [], "command"), {}), undefined);
    assert.equal(mcpServer(launch("wrapper", ["lsp", "serve"], "command"), {}), undefined);
  });
});

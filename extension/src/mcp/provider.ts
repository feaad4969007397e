/**
 * Offers the MCP server to the editor, which starts the server and gives its tools to models. No model is to see the same
 * search twice: the server is offered where the user turns it on, and then package.json hides the extension's own tool;
 * or where the editor has no place for that tool.
 */

import os from "node:os";
import * as vscode from "vscode";
import { hasToolApi } from "../chat/tool";
import { folderPath, indexSettings, mcpEnabled } from "../config";
import { MCP_ENABLED, MCP_PROVIDER } from "../ids";
import type { VoyageKey } from "../server/key";
import type { Resolution } from "../server/resolve";
import { type McpServer, mcpServer } from "./server";

export interface McpParts {
  /** The extension's own version. */
  readonly version: string;
  readonly key: Pick<VoyageKey, "environment">;
  /** Whether a folder has to do with the ADK; without one, whether the window has. */
  wanted(folder: vscode.WorkspaceFolder | undefined): Promise<boolean>;
  /** Which program serves a folder, looked at anew if it is `fresh`; starts no server. */
  resolve(folder: vscode.WorkspaceFolder | undefined, fresh: boolean): Promise<Resolution>;
  /** Calls back when that may have changed. */
  onDidChange(listener: () => void): vscode.Disposable;
}

/** Registers the provider, in editors that have a place for it. */
export function registerMcpServers(parts: McpParts): vscode.Disposable {
  // Editors that derive from this one may lack it.
  if (typeof vscode.lm?.registerMcpServerDefinitionProvider !== "function") {
    return vscode.Disposable.from();
  }
  const provider = new McpServers(parts);
  return vscode.Disposable.from(
    provider,
    vscode.lm.registerMcpServerDefinitionProvider(MCP_PROVIDER, provider),
    parts.onDidChange(() => provider.changed()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(MCP_ENABLED)) {
        provider.changed();
      }
    }),
  );
}

class McpServers implements vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition>, vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.changes.event;
  private stale = false;

  constructor(private readonly parts: McpParts) {}

  /**
   * One server for each program and index of the folders that have to do with the ADK: to look for programs starts some.
   * The editor asks unprompted, so missing programs are not reported.
   */
  async provideMcpServerDefinitions(): Promise<vscode.McpStdioServerDefinition[]> {
    const fresh = this.stale;
    this.stale = false;
    if (hasToolApi() && !mcpEnabled()) {
      return [];
    }
    const found = new Map<string, { server: McpServer; folder: vscode.WorkspaceFolder | undefined }>();
    const { workspaceFolders: folders = [] } = vscode.workspace;
    const roots = folders.map(folderPath).filter((path) => path !== undefined);
    // Several folders share a server, which cannot tell for which of them a tool is called.
    const project = folders.length === 1 ? roots[0] : undefined;
    const looks = (folders.length > 0 ? folders : [undefined]).map(async (folder) => ({
      folder,
      resolution: (await this.parts.wanted(folder)) ? await this.parts.resolve(folder, fresh) : undefined,
    }));
    for (const { folder, resolution } of await Promise.all(looks)) {
      const server =
        resolution && "launch" in resolution
          ? mcpServer(resolution.launch, indexSettings(folder), roots, project)
          : undefined;
      const same = JSON.stringify(server);
      if (server && !found.has(same)) {
        found.set(same, { server, folder });
      }
    }
    const several = found.size > 1;
    return [...found.values()].map(({ server, folder }) =>
      this.definition(several && folder ? `ADK Evidence (${folder.name})` : "ADK Evidence", server),
    );
  }

  /** Adds the key, which the editor does not get before the server starts. */
  async resolveMcpServerDefinition(server: vscode.McpStdioServerDefinition): Promise<vscode.McpStdioServerDefinition> {
    server.env = { ...server.env, ...(await this.parts.key.environment()) };
    return server;
  }

  /** Tells the editor to ask again. */
  changed(): void {
    this.stale = true;
    this.changes.fire();
  }

  dispose(): void {
    this.changes.dispose();
  }

  private definition(label: string, { command, args, env }: McpServer): vscode.McpStdioServerDefinition {
    const definition = new vscode.McpStdioServerDefinition(label, command, [...args], { ...env }, this.parts.version);
    // Not the workspace's folder: what lies there must not be found as a program or a module.
    definition.cwd = vscode.Uri.file(os.homedir());
    return definition;
  }
}

/** How the MCP server is started: with the program of the language server, which serves both protocols. */

import { FOREIGN_VARIABLES } from "../server/python";
import type { Launch } from "../server/resolve";

export interface McpServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the editor's environment; null takes a variable out of it. */
  readonly env: Readonly<Record<string, string | null>>;
}

/**
 * The MCP server that answers from the same index as a language server.
 *
 * @param roots Folders below which agents may index code.
 * @param project The folder whose google-adk answers are of.
 * @returns undefined where the program's arguments do not have `serve lsp`, which `serve mcp` would replace.
 */
export function mcpServer(
  launch: Launch,
  index: { home?: string },
  roots: readonly string[] = [],
  project?: string,
): McpServer | undefined {
  const version = project === undefined ? [] : ["--project", project];
  return runningInstead(launch, ["serve", "mcp"], index, [...version, ...roots.flatMap((root) => ["--root", root])]);
}

/** The program of a language server with another command, and the options of that command. */
export function runningInstead(
  { command, args, isolated }: Launch,
  words: readonly string[],
  index: { home?: string },
  options: readonly string[] = [],
): McpServer | undefined {
  const place = args.findLastIndex((word, at) => word === "serve" && args[at + 1] === "lsp");
  if (place < 0) {
    return undefined;
  }
  const home = index.home === undefined ? [] : ["--home", index.home];
  return {
    command,
    // The words after `lsp` are options for the language server only.
    args: [...args.slice(0, place), ...words, ...home, ...options],
    env: isolated ? Object.fromEntries(FOREIGN_VARIABLES.map((name) => [name, null])) : {},
  };
}

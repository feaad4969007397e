/** The tool with which a model in the editor finds evidence: bounded by the model's budget, its texts fenced as data. */

import * as vscode from "vscode";
import { paramsOfRequest } from "../api/request";
import type { FindEvidenceRequest } from "../api/types";
import type { Evidence } from "../evidence/client";
import { TASK_MODE } from "../evidence/question";
import { Problem } from "../problem";
import type { EvidenceResult } from "../protocol/generated";
import { clip, messageLine } from "../text/untrusted";
import { fitted } from "./fit";

/** As package.json names it, and as the MCP server names the same search: a model sees one of the two. */
const TOOL = "find_adk_evidence";

const LONGEST_SHOWN = 120;
/** The chat writes longer results of tools to a file (from 8,192 characters), which a model then has to read in parts. */
const MOST_CHARACTERS = 8000;
/** About as much; a model can ask again. */
const MOST_TOKENS = 2000;

/** Whether the editor has a place for tools of extensions; editors that derive from VS Code may lack it. */
export function hasToolApi(): boolean {
  return typeof vscode.lm?.registerTool === "function";
}

/** Registers the tool, in editors that have a place for it. `inputs` is what package.json says of each input. */
export function registerEvidenceTool(evidence: Evidence, inputs: object): vscode.Disposable {
  return hasToolApi() ? vscode.lm.registerTool(TOOL, new EvidenceTool(evidence, inputs)) : vscode.Disposable.from();
}

class EvidenceTool implements vscode.LanguageModelTool<object> {
  constructor(
    private readonly evidence: Evidence,
    private readonly inputs: object,
  ) {}

  prepareInvocation({
    input,
  }: vscode.LanguageModelToolInvocationPrepareOptions<object>): vscode.PreparedToolInvocation {
    const query = "query" in input && typeof input.query === "string" ? input.query : "";
    // No question for consent: the search reads an index and changes nothing.
    return { invocationMessage: vscode.l10n.t("Finding ADK evidence: {0}", clip(messageLine(query), LONGEST_SHOWN)) };
  }

  async invoke(
    { input, tokenizationOptions }: vscode.LanguageModelToolInvocationOptions<object>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    try {
      refuseUnknown(input, this.inputs);
      // The server refuses what else the model should not have sent.
      const asked = paramsOfRequest(input as FindEvidenceRequest);
      const params = { taskMode: TASK_MODE, ...asked };
      const pack = await this.evidence.find(params, token);
      const text = await this.promptWithin(pack, tokenizationOptions, token);
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
    } catch (reason) {
      throw forModel(reason);
    }
  }

  /** The pack as a prompt within the model's budget. */
  private promptWithin(
    pack: EvidenceResult,
    options: vscode.LanguageModelToolTokenizationOptions | undefined,
    token: vscode.CancellationToken,
  ): Promise<string> {
    const render = (maxTokens: number) => this.evidence.render({ pack, format: "prompt", maxTokens }, token);
    const budget = Math.min(options?.tokenBudget ?? MOST_TOKENS, MOST_TOKENS);
    // Whichever is nearer to its limit counts: the tokens, or the characters.
    const count = async (text: string) =>
      Math.max((await options?.countTokens(text, token)) ?? 0, (budget * text.length) / MOST_CHARACTERS);
    return fitted(render, count, budget);
  }
}

/** Refuses what the server does not see, or would call by another name than the tool does. */
function refuseUnknown(input: object, inputs: object): void {
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(inputs, name));
  if (unknown !== undefined) {
    throw new Problem(`There is no input ${clip(messageLine(unknown), LONGEST_SHOWN)}.`, "invalid_request");
  }
  const sources: unknown = "sources" in input ? input.sources : undefined;
  if (sources !== undefined && !(Array.isArray(sources) && sources.every((one) => one === "docs" || one === "code"))) {
    throw new Problem('sources: it should be a list of "docs" and "code".', "invalid_request");
  }
}

/** An error whose message tells the model what went wrong and what could be done. */
function forModel(reason: unknown): Error {
  if (!(reason instanceof Problem)) {
    return new Error("ADK Evidence failed unexpectedly. Go on without it, or tell the user to look at its log.");
  }
  if (reason.code === "cancelled") {
    return new vscode.CancellationError();
  }
  const fixes = reason.fixes.map(({ title }) => `"${title}"`).join(", ");
  return new Error(fixes === "" ? reason.message : `${reason.message} The user can do this: ${fixes}.`);
}

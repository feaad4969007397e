/** The tool with which a model in the editor finds evidence: bounded by the model's budget, its texts fenced as data. */

import * as vscode from "vscode";
import { checkRequest, paramsOfRequest } from "../api/request";
import type { Evidence } from "../evidence/client";
import { limitsOf, taskModeOf } from "../evidence/requestSettings";
import { Problem } from "../problem";
import type { EvidenceResult } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import { fitted, MOST_EVIDENCE_TOKENS } from "./fit";

/** As package.json names it. */
const TOOL = "adk_find_evidence";

/** Registers the tool. */
export function registerEvidenceTool(evidence: Evidence): vscode.Disposable {
  return vscode.lm.registerTool(TOOL, new EvidenceTool(evidence));
}

class EvidenceTool implements vscode.LanguageModelTool<object> {
  constructor(private readonly evidence: Evidence) {}

  prepareInvocation({
    input,
  }: vscode.LanguageModelToolInvocationPrepareOptions<object>): vscode.PreparedToolInvocation {
    const query = "query" in input && typeof input.query === "string" ? input.query : "";
    return { invocationMessage: vscode.l10n.t("Finding ADK evidence: {0}", messageLine(query)) };
  }

  async invoke(
    { input, tokenizationOptions }: vscode.LanguageModelToolInvocationOptions<object>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    try {
      const request = checkRequest(input);
      const params = { taskMode: taskModeOf(undefined), ...limitsOf(undefined), ...paramsOfRequest(request) };
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
    return options === undefined
      ? render(MOST_EVIDENCE_TOKENS)
      : fitted(render, (text) => options.countTokens(text, token), options.tokenBudget);
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

/** What another extension or a model asks, as the server's parameters. The server checks them and says what is wrong. */

import type { EvidenceFilters, EvidenceParams, RenderParams } from "../protocol/generated";
import type { FindEvidenceRequest, PromptOptions } from "./types";

export function paramsOfRequest(request: FindEvidenceRequest): EvidenceParams {
  const { query, taskMode, maxResults, timeBudgetMs, sources, pathAllowlist, pathBlocklist } = request;
  const filters: EvidenceFilters = given({
    source_types: sources as EvidenceFilters["source_types"],
    path_allowlist: pathAllowlist,
    path_blocklist: pathBlocklist,
  });
  return { query, filters, ...given({ taskMode, maxResults, timeBudgetMs }) };
}

/** @param options The budget alone, or several options. */
export function paramsOfPrompt(options: number | PromptOptions | undefined): Omit<RenderParams, "pack" | "format"> {
  return given(typeof options === "object" ? options : { maxTokens: options });
}

/** The members that are not undefined. */
function given<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** Checks what another extension asks, and says what is wrong with it. */

import { Problem } from "../problem";
import { acceptsMember, isSymbolName, MAX_QUERY, MAX_RESULTS, MAX_SYMBOL_NAME } from "../protocol/check";
import type { EvidenceFilters, EvidenceParams, RenderParams } from "../protocol/generated";
import type { FindEvidenceRequest, PromptOptions } from "./types";

/** What each member must be, in words. */
type Words<T> = Readonly<Record<keyof T, string>>;

const RESULTS = `a whole number from 1 to ${MAX_RESULTS}`;

const REQUEST: Words<FindEvidenceRequest> = {
  query: `a text of 1 to ${MAX_QUERY} characters`,
  taskMode: '"build", "debug", "explain" or "refactor"',
  maxResults: RESULTS,
  timeBudgetMs: "a whole number of milliseconds from 1",
  sources: 'a list of "docs" and "code"',
  pathAllowlist: "a list of globs",
  pathBlocklist: "a list of globs",
  scope: "a URI",
};

const PROMPT: Words<PromptOptions> = {
  maxTokens: "a whole number from 1",
  system: "a text",
  history: 'a list of turns, each with a role ("user" or "assistant") and a content alone',
  maxDocuments: RESULTS,
  maxDocumentTokens: "a whole number from 1",
};

/**
 * A request with nothing in it that does not belong there.
 *
 * @throws Problem `invalid_request`, with a sentence for the author of the caller.
 */
export function checkRequest(request: unknown): FindEvidenceRequest {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw invalid("The request must be an object with a query.");
  }
  checkMembers(request, "FindEvidenceRequest", REQUEST, "request");
  if (!("query" in request) || request.query === undefined) {
    throw invalid("The request has no query.");
  }
  return request as FindEvidenceRequest;
}

/** The server's parameters for a request that was checked. */
export function paramsOfRequest(request: FindEvidenceRequest): EvidenceParams {
  const { query, taskMode, maxResults, timeBudgetMs, sources, pathAllowlist, pathBlocklist } = request;
  const filters: EvidenceFilters = given({
    source_types: sources as EvidenceFilters["source_types"],
    path_allowlist: pathAllowlist,
    path_blocklist: pathBlocklist,
  });
  return { query, filters, ...given({ taskMode, maxResults, timeBudgetMs }) };
}

/** @throws Problem `invalid_request` if it is not what `findSymbol` takes. */
export function checkName(name: unknown): string {
  if (!isSymbolName(name)) {
    throw invalid(`The name of a symbol must be a text of 1 to ${MAX_SYMBOL_NAME} characters.`);
  }
  return name;
}

/**
 * The server's parameters for a prompt: of its budget alone, or of several options.
 *
 * @throws Problem `invalid_request`, with a sentence for the author of the caller.
 */
export function checkPrompt(options: unknown): Omit<RenderParams, "pack" | "format"> {
  const asked = typeof options === "object" ? options : { maxTokens: options };
  if (asked === null || Array.isArray(asked)) {
    throw invalid("The options of a prompt must be an object, or a number of tokens.");
  }
  checkMembers(asked, "PromptOptions", PROMPT, "prompt");
  return given(asked as PromptOptions);
}

function checkMembers<T>(
  object: object,
  definition: "FindEvidenceRequest" | "PromptOptions",
  words: Words<T>,
  of: string,
): void {
  for (const [name, value] of Object.entries(object)) {
    const accepted = acceptsMember(definition, name, value);
    if (accepted === undefined) {
      throw invalid(`A ${of} has no member ${JSON.stringify(name)}.`);
    }
    if (value !== undefined && !accepted) {
      throw invalid(`The member ${name} of a ${of} must be ${words[name as keyof T]}.`);
    }
  }
}

/** The members that are not undefined. */
function given<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

function invalid(message: string): Problem {
  return new Problem(message, "invalid_request");
}

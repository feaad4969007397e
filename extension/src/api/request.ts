/** Checks what another extension asks, and says what is wrong with it. */

import { Problem } from "../problem";
import type { EvidenceFilters, EvidenceParams, RenderParams } from "../protocol/generated";
import { MAX_QUERY } from "../webview/messages";
import { type Guard, listOf, oneOf, shapeOf, text } from "../webview/shape";
import type { ConversationTurn, FindEvidenceRequest, PromptOptions } from "./types";

const MOST_RESULTS = 100;
/** The greatest whole number that the server takes. */
const MOST = 2 ** 31 - 1;

const filled: Guard<string> = (value): value is string => text(value) && value.trim() !== "";
const taskMode = oneOf("build", "debug", "explain", "refactor");
const source = oneOf("docs", "code");

function count(most: number): Guard<number> {
  return (value): value is number => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;
}

/** What each member must be, and that in words. */
type Members<T> = { [K in keyof T]-?: [Guard<NonNullable<T[K]>>, string] };

const REQUEST: Members<FindEvidenceRequest> = {
  query: [
    (value): value is string => filled(value) && value.length <= MAX_QUERY,
    `a text of 1 to ${MAX_QUERY} characters`,
  ],
  taskMode: [taskMode, '"build", "debug", "explain" or "refactor"'],
  maxResults: [count(MOST_RESULTS), `a whole number from 1 to ${MOST_RESULTS}`],
  timeBudgetMs: [count(MOST), "a whole number of milliseconds from 1"],
  sources: [
    (value): value is ("docs" | "code")[] => listOf(source)(value) && value.length > 0,
    'a list of "docs" and "code"',
  ],
  pathAllowlist: [listOf(filled), "a list of globs"],
  pathBlocklist: [listOf(filled), "a list of globs"],
  repoRef: [filled, "a commit, a tag or a branch"],
  scope: [(value): value is string => text(value) && URL.canParse(value), "a URI"],
};

const turn = shapeOf<ConversationTurn>({ role: oneOf("user", "assistant"), content: text });

const PROMPT: Members<PromptOptions> = {
  maxTokens: [count(MOST), "a whole number from 1"],
  system: [text, "a text"],
  history: [
    (value): value is ConversationTurn[] => listOf(turn)(value) && value.every((one) => Object.keys(one).length === 2),
    'a list of turns, each with a role ("user" or "assistant") and a content alone',
  ],
  maxDocuments: [count(MOST_RESULTS), `a whole number from 1 to ${MOST_RESULTS}`],
  maxDocumentTokens: [count(MOST), "a whole number from 1"],
};

/**
 * A request with nothing in it that does not belong there.
 *
 * @throws Problem `invalid_request`, with a sentence for whoever wrote the caller.
 */
export function checkRequest(request: unknown): FindEvidenceRequest {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw invalid("The request must be an object with a query.");
  }
  checkMembers(request, REQUEST, "request");
  if (!("query" in request) || request.query === undefined) {
    throw invalid("The request has no query.");
  }
  return request as FindEvidenceRequest;
}

/** The server's parameters for a request that was checked. */
export function paramsOfRequest(request: FindEvidenceRequest): EvidenceParams {
  const { query, taskMode: mode, maxResults, timeBudgetMs, sources, pathAllowlist, pathBlocklist, repoRef } = request;
  const filters: EvidenceFilters = {
    ...(isNonEmpty(sources) ? { source_types: sources } : {}),
    ...(pathAllowlist ? { path_allowlist: pathAllowlist } : {}),
    ...(pathBlocklist ? { path_blocklist: pathBlocklist } : {}),
    ...(repoRef === undefined ? {} : { repo_ref_hint: repoRef }),
  };
  return {
    query,
    filters,
    ...(mode === undefined ? {} : { taskMode: mode }),
    ...(maxResults === undefined ? {} : { maxResults }),
    ...(timeBudgetMs === undefined ? {} : { timeBudgetMs }),
  };
}

/** @throws Problem `invalid_request` if it is not what `findSymbol` takes. */
export function checkName(name: unknown): string {
  if (!filled(name) || name.length > 500) {
    throw invalid("The name of a symbol must be a text of 1 to 500 characters.");
  }
  return name;
}

/**
 * The server's parameters for a prompt: of its budget alone, or of several options.
 *
 * @throws Problem `invalid_request`, with a sentence for whoever wrote the caller.
 */
export function checkPrompt(options: unknown): Omit<RenderParams, "pack" | "format"> {
  const given = typeof options === "object" ? options : { maxTokens: options };
  if (given === null || Array.isArray(given)) {
    throw invalid("The options of a prompt must be an object, or a number of tokens.");
  }
  checkMembers<PromptOptions>(given, PROMPT, "prompt");
  const { maxTokens, system, history, maxDocuments, maxDocumentTokens } = given as PromptOptions;
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(system === undefined ? {} : { system }),
    ...(history === undefined ? {} : { history }),
    ...(maxDocuments === undefined ? {} : { maxDocuments }),
    ...(maxDocumentTokens === undefined ? {} : { maxDocumentTokens }),
  };
}

function checkMembers<T>(given: object, members: Members<T>, of: string): void {
  for (const [name, value] of Object.entries(given)) {
    const member = Object.hasOwn(members, name) ? members[name as keyof T] : undefined;
    if (member === undefined) {
      throw invalid(`A ${of} has no member ${JSON.stringify(name)}.`);
    }
    const [accepts, words] = member;
    if (value !== undefined && !accepts(value)) {
      throw invalid(`The member ${name} of a ${of} must be ${words}.`);
    }
  }
}

function isNonEmpty<T>(items: T[] | undefined): items is [T, ...T[]] {
  return items !== undefined && items.length > 0;
}

function invalid(message: string): Problem {
  return new Problem(message, "invalid_request");
}

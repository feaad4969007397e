/** Checks what another extension asks, and says what is wrong with it. */

import { Problem } from "../problem";
import type { EvidenceFilters, EvidenceParams } from "../protocol/generated";
import { MAX_QUERY } from "../webview/messages";
import { type Guard, listOf, oneOf, text } from "../webview/shape";
import type { FindEvidenceRequest } from "./types";

const MOST_RESULTS = 100;
const MOST_MS = 2 ** 31 - 1;

const filled: Guard<string> = (value): value is string => text(value) && value.trim() !== "";
const taskMode = oneOf("build", "debug", "explain", "refactor");
const source = oneOf("docs", "code");

function count(most: number): Guard<number> {
  return (value): value is number => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;
}

/** What each member must be, in words. */
const MEMBERS: { [K in keyof FindEvidenceRequest]-?: [Guard<NonNullable<FindEvidenceRequest[K]>>, string] } = {
  query: [
    (value): value is string => filled(value) && value.length <= MAX_QUERY,
    `a text of 1 to ${MAX_QUERY} characters`,
  ],
  taskMode: [taskMode, '"build", "debug", "explain" or "refactor"'],
  maxResults: [count(MOST_RESULTS), `a whole number from 1 to ${MOST_RESULTS}`],
  timeBudgetMs: [count(MOST_MS), "a whole number of milliseconds from 1"],
  sources: [
    (value): value is ("docs" | "code")[] => listOf(source)(value) && value.length > 0,
    'a list of "docs" and "code"',
  ],
  pathAllowlist: [listOf(filled), "a list of globs"],
  pathBlocklist: [listOf(filled), "a list of globs"],
  repoRef: [filled, "a commit, a tag or a branch"],
  scope: [(value): value is string => text(value) && URL.canParse(value), "a URI"],
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
  for (const [name, value] of Object.entries(request)) {
    const member = Object.hasOwn(MEMBERS, name) ? MEMBERS[name as keyof FindEvidenceRequest] : undefined;
    if (member === undefined) {
      throw invalid(`A request has no member ${JSON.stringify(name)}.`);
    }
    const [accepts, words] = member;
    if (value !== undefined && !accepts(value)) {
      throw invalid(`The member ${name} of a request must be ${words}.`);
    }
  }
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

/** @throws Problem `invalid_request` if it is no budget of tokens. */
export function checkMaxTokens(maxTokens: unknown): number | null {
  if (maxTokens !== undefined && !count(MOST_MS)(maxTokens)) {
    throw invalid("maxTokens must be a whole number from 1.");
  }
  return maxTokens ?? null;
}

function isNonEmpty<T>(items: T[] | undefined): items is [T, ...T[]] {
  return items !== undefined && items.length > 0;
}

function invalid(message: string): Problem {
  return new Problem(message, "invalid_request");
}

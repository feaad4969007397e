/** Questions: what the server is asked for the panel's query line, and for text that it has not open. */

import type { EvidenceFilters, EvidenceParams } from "../protocol/generated";
import type { Question } from "../webview/messages";

const LONGEST_SELECTION = 1500;
const COMMENT = /^\s*(?:#+:?|\/{2,}|\/\*+|\*+\/?|--)\s?/;

/** The parameters of a question of the query line. */
export function paramsOf({ query, taskMode, sources, path }: Question): EvidenceParams {
  const filters: EvidenceFilters = {};
  if (sources !== "both") {
    filters.source_types = [sources];
  }
  const paths = path
    .split(",")
    .map((glob) => glob.trim())
    .filter((glob) => glob !== "");
  if (paths.length > 0) {
    filters.path_allowlist = paths;
  }
  return { query, taskMode, filters };
}

/** Selected text as a question: one line without comment marks. Empty if there is nothing to ask. */
export function questionOfText(selected: string): string {
  return selected
    .trim()
    .slice(0, LONGEST_SELECTION)
    .split(/\r?\n/)
    .map((line) => line.replace(COMMENT, ""))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

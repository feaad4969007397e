/** Questions of the panel's query line, and about text that the server has not open. */

import type * as vscode from "vscode";
import type { EvidenceFilters, EvidenceParams, Range } from "../protocol/generated";
import { clipQuestion, hasTraceback } from "../text/traceback";
import type { Question, TaskMode } from "../webview/messages";
import { isSynchronized } from "./synchronized";

/** What evidence is wanted for, where neither a chat command nor a link says otherwise. */
export const TASK_MODE: TaskMode = "build";

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

/**
 * Selected text as a question: one line without comment marks, but a traceback as it is. Empty if there is nothing to
 * ask.
 */
export function questionOfText(selected: string): string {
  if (hasTraceback(selected)) {
    return clipQuestion(selected.trim());
  }
  return selected
    .trim()
    .slice(0, LONGEST_SELECTION)
    .split(/\r?\n/)
    .map((line) => line.replace(COMMENT, ""))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * The question about a selection in a document; null if there is no text to ask about. Where the server has the document
 * open, it makes the question of the selection and its surroundings; else the question is the selected text or the line.
 */
export function questionAt(
  document: vscode.TextDocument,
  selection: vscode.Range,
): Pick<EvidenceParams, "query" | "textDocument" | "range"> | null {
  const asked = document.validateRange(selection);
  const line = document.lineAt(asked.start.line).range;
  const text = questionOfText(document.getText(asked)) || questionOfText(document.getText(line));
  if (text === "") {
    return null;
  }
  if (isSynchronized(document)) {
    return { textDocument: { uri: document.uri.toString() }, range: toProtocol(asked) };
  }
  return { query: text };
}

function toProtocol({ start, end }: vscode.Range): Range {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}

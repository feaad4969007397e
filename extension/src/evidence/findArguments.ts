/** What a command link of a hover, a code action or another extension's call may ask "Find ADK Evidence" for. */

import type { DocumentId, Position, Range } from "../protocol/generated";
import { MAX_QUERY, type TaskMode } from "../webview/messages";
import { oneOf, shapeOf, text } from "../webview/shape";

export interface FindArguments {
  /** The question; without one it is built from the place. */
  query?: string;
  taskMode?: TaskMode;
  textDocument?: DocumentId;
  range?: Range;
}

const LARGEST = 2 ** 31 - 1;
const taskMode = oneOf<TaskMode>("build", "debug", "explain", "refactor");
const documentId = shapeOf<DocumentId>({ uri: text });
const count = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LARGEST;
const position = shapeOf<Position>({ line: count, character: count });
const range = shapeOf<Range>({ start: position, end: position });

/** Whether a command's argument is meant as a request; menus pass the address of their document. */
export function isRequest(argument: unknown): argument is Record<string, unknown> {
  return typeof argument === "object" && argument !== null && ("query" in argument || "textDocument" in argument);
}

/** The request that an argument stands for, without whatever else is in it; null if it is not a valid one. */
export function parseFindArguments(argument: Record<string, unknown>): FindArguments | null {
  const found: FindArguments = {};
  if (argument.query !== undefined) {
    if (!text(argument.query) || argument.query.trim() === "" || argument.query.length > MAX_QUERY) {
      return null;
    }
    found.query = argument.query;
  }
  if (argument.taskMode !== undefined) {
    if (!taskMode(argument.taskMode)) {
      return null;
    }
    found.taskMode = argument.taskMode;
  }
  if (argument.textDocument !== undefined) {
    if (!documentId(argument.textDocument)) {
      return null;
    }
    found.textDocument = { uri: argument.textDocument.uri };
  }
  if (argument.range !== undefined) {
    if (!range(argument.range)) {
      return null;
    }
    found.range = argument.range;
  }
  const askable = found.query !== undefined || (found.textDocument !== undefined && found.range !== undefined);
  return askable ? found : null;
}

/** Tracebacks in questions: the server takes a long text only if it has one, and needs the lines of the traceback. */

import { MAX_QUERY } from "../protocol/check";
import { clip } from "./untrusted";

// What the server takes of a text without a traceback (MAX_QUERY_CHARS of server/adk_evidence/models/request.py).
const MAX_WORDS = 8000;
// How much of a conversation's earlier part, or of a selection, stands before the end of a traceback.
const BEGINNING = 2000;
const FIRST_LINE = /Traceback \(most recent call last\)/;

/** How much of a text, and of a line, is looked at for an error. */
const LOOKED_AT = 200_000;
const LONGEST_LINE = 2000;
// Every part has a limit, so that a text takes linear time.
const FRAME = /File "([^"\n]{0,500}?[\\/]google[\\/]adk[\\/][^"\n]{1,300}\.pyx?)", line (\d{1,7}), in ([\w.<>]{1,120})/;
const ANY_FRAME = /^.{0,200}File "[^"\n]{1,500}", line \d{1,7}/m;
const ENDING = "(?:Error|Exception|Warning|Exit|Interrupt|Group|Timeout|NotFound)";
/** What pytest and groups of exceptions put before a line. Other lines that are indented are code. */
const MARK = String.raw`^(?:E {2,40}|[ +|-]{0,40}\| ?)?`;
/** `google.adk.errors.NotFoundError: what happened` */
const ERROR_LINE = new RegExp(
  String.raw`${MARK}(?:[A-Za-z_]\w{0,80}\.){0,12}(?:[A-Z]\w{0,80}${ENDING}|Exception)(?::\s|:?[ \t]{0,9}$)`,
  "m",
);
const ADK_ERROR = new RegExp(String.raw`${MARK}(google\.adk(?:\.\w{1,80}){0,12}\.[A-Z]\w{0,80}${ENDING}): `);

/** A call in one of google-adk's files, as a line of a traceback names it. */
export interface Frame {
  path: string;
  line: number;
  function: string;
}

/** A part of a line, in UTF-16 units. */
export interface Place {
  start: number;
  length: number;
}

/** Whether a text is an error: a traceback, a part of one, or a line that begins with the name of an error. */
export function isError(text: string): boolean {
  const beginning = text.slice(0, LOOKED_AT);
  return hasTraceback(beginning) || ANY_FRAME.test(beginning) || ERROR_LINE.test(beginning);
}

/** The call in a file of google-adk that a line of a terminal names, and where the line names its function. */
export function findFrame(line: string): { frame: Frame; place: Place } | null {
  const found = FRAME.exec(line.slice(0, LONGEST_LINE));
  const [whole = "", path = "", number = "", name = ""] = found ?? [];
  if (found === null) {
    return null;
  }
  const start = found.index + whole.length - name.length;
  return { frame: { path, line: Number(number), function: name }, place: { start, length: name.length } };
}

/** Where a line of a terminal names an error of google-adk. */
export function findErrorName(line: string): Place | null {
  const found = ADK_ERROR.exec(line.slice(0, LONGEST_LINE));
  const [whole = "", name = ""] = found ?? [];
  return found === null ? null : { start: found.index + whole.length - name.length - ": ".length, length: name.length };
}

export function isFrame(value: unknown): value is Frame {
  return (
    typeof value === "object" &&
    value !== null &&
    "path" in value &&
    typeof value.path === "string" &&
    "line" in value &&
    typeof value.line === "number" &&
    "function" in value &&
    typeof value.function === "string"
  );
}

/** One call as a traceback that the server reads. */
export function asTraceback({ path, line, function: name }: Frame): string {
  return `Traceback (most recent call last):\n  File "${path}", line ${line}, in ${name}`;
}

export function hasTraceback(text: string): boolean {
  return FIRST_LINE.test(text);
}

/** A question that the server takes: words lose their end; a traceback, which ends with its error, loses its middle. */
export function clipQuestion(text: string): string {
  if (!hasTraceback(text)) {
    return clip(text, MAX_WORDS - 1);
  }
  return text.length < MAX_QUERY ? text : `${text.slice(0, BEGINNING)}\n${text.slice(BEGINNING + 2 - MAX_QUERY)}`;
}

/** Tracebacks in questions: the server takes a long text only if it has one, and needs the lines of the traceback. */

import { MAX_QUERY } from "../protocol/check";
import { clip } from "./untrusted";

// What the server takes of a text without a traceback (MAX_QUERY_CHARS of server/adk_evidence/models/request.py).
const MAX_WORDS = 8000;
// How much of a conversation's earlier part, or of a selection, stands before the end of a traceback.
const BEGINNING = 2000;
const FIRST_LINE = /Traceback \(most recent call last\)/;

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

/** What a command link of a hover, a code action or another extension's call may ask "Find ADK Evidence" for. */

import { isFindArguments } from "../protocol/check";
import type { FindArguments } from "../protocol/generated";

/** Whether a command's argument is meant as a request; menus pass the address of their document. */
export function isRequest(argument: unknown): argument is Record<string, unknown> {
  return typeof argument === "object" && argument !== null && ("query" in argument || "textDocument" in argument);
}

/** The request in an argument, without other members of the argument; null if the request is not valid. */
export function parseFindArguments(argument: Record<string, unknown>): FindArguments | null {
  if (!isFindArguments(argument)) {
    return null;
  }
  const { query, taskMode, textDocument, range } = argument;
  return {
    ...(query === undefined ? {} : { query }),
    ...(taskMode === undefined ? {} : { taskMode }),
    ...(textDocument === undefined ? {} : { textDocument: { uri: textDocument.uri } }),
    ...(range === undefined ? {} : { range }),
  };
}

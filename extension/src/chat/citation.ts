import type { Location } from "vscode";
import type { Candidate } from "../protocol/generated";

/** A candidate in an answer. */
export interface Citation {
  candidate: Candidate;
  /** Where a click leads; null if it can be read nowhere any more. */
  location: Location | null;
}

// The editor makes a link of an anchor's title without escaping it.
const UNSAFE = /[^\p{L}\p{N} ._/:+-]/gu;
const LONGEST = 80;

/** A citation as people write it: the file's name and the lines. */
export function titleOf({ path, lines }: Candidate): string {
  const name = (path.split("/").at(-1) ?? path).replaceAll(UNSAFE, "").slice(-LONGEST) || "source";
  return lines === null ? name : `${name}:${lines.start}-${lines.end}`;
}

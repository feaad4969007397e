/** Decides what a click on a citation opens; opens nothing itself. */

import type { Candidate, LineSpan, SourceResult } from "../protocol/generated";
import type { OpenTarget } from "../webview/actions";
import { isPageOf } from "./page";

/** What the reader must be told of what is opened. */
export type Note =
  /** The file on the disk is another by now; this is the cited one. */
  | "kept"
  /** The cited text stands at other lines of the file by now. */
  | "moved"
  /** What was cited is at these lines, but with another text. */
  | "changed"
  /** What was cited is in the file no more. */
  | "gone"
  /** The file has changed, and nobody could tell whether the cited lines have. */
  | "unverified"
  /** The page is not one of the corpus' site, so its source is opened in its place. */
  | "no-page";

export type Opening =
  | { kind: "page"; url: string }
  /** `file` is shown if its text is still the source's; if it has been edited since, the document is. */
  | { kind: "file"; file: string; lines: LineSpan | null; note: Note | null }
  /** The read-only document with the source at its commit. */
  | { kind: "document"; lines: LineSpan | null; note: Note | null }
  /** Nothing: there is no such page, or nothing is left of the source. */
  | { kind: "nothing"; reason: "no-page" | "gone" };

/**
 * @param where What was clicked.
 * @param openDocs The setting: what a click on a citation of the docs opens.
 */
export function planOpening(
  candidate: Pick<Candidate, "source_type" | "origin">,
  source: SourceResult,
  where: OpenTarget,
  openDocs: "browser" | "source",
): Opening {
  const inBrowser =
    where === "browser" || (where === "default" && candidate.source_type === "docs" && openDocs === "browser");
  if (!inBrowser) {
    return planSource(candidate, source);
  }
  if (source.url !== null && isPageOf(source.url, source.site_url)) {
    return { kind: "page", url: source.url };
  }
  if (where === "browser") {
    return { kind: "nothing", reason: "no-page" };
  }
  const opening = planSource(candidate, source);
  return "note" in opening ? { ...opening, note: opening.note ?? "no-page" } : opening;
}

function planSource(candidate: Pick<Candidate, "origin">, source: SourceResult): Opening {
  const { lines, local_file: file, local_matches: matches } = source;
  if (source.matches_index) {
    // Pages that were made of docstrings lie inside the index, where nobody should edit them.
    if (matches && file !== null && candidate.origin === "repository") {
      return { kind: "file", file, lines, note: null };
    }
    return { kind: "document", lines, note: matches ? null : "kept" };
  }
  if (file === null) {
    return { kind: "nothing", reason: "gone" };
  }
  const state = source.verification?.state ?? "unverified";
  return {
    kind: "file",
    file,
    lines: state === "gone" ? null : lines,
    note: state === "exact" ? null : state,
  };
}

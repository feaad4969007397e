/** Decides what a click on a citation opens; opens nothing itself. */

import type { Candidate, LineSpan, SourceResult, Verification } from "../protocol/generated";
import type { OpenTarget } from "../webview/actions";
import { isPageOf } from "./page";

/** What the reader must know about the opened text. */
export type Note =
  /** The file on the disk is different by now; this is the cited text. */
  | "kept"
  /** The cited text is at other lines of the file by now. */
  | "moved"
  /** The cited code is at these lines, formatted otherwise. */
  | "same_tree"
  /** What was cited is at these lines, but with another text. */
  | "changed"
  /** What was cited is no longer in the file. */
  | "gone"
  /** The file has changed; whether the cited lines have is not known. */
  | "unverified"
  /** The page is not on the corpus' site, so its source is opened instead. */
  | "no-page";

export type Opening =
  | { kind: "page"; url: string }
  /** The read-only document with the source, never the file itself: a slip of a key there would change the corpus. */
  | { kind: "document"; lines: LineSpan | null; note: Note | null }
  /** There is no such page. */
  | { kind: "nothing" };

/**
 * @param where What was clicked.
 * @param openDocs The setting: what a click on a citation of the docs opens.
 */
export function planOpening(
  candidate: Pick<Candidate, "source_type">,
  source: SourceResult,
  where: OpenTarget,
  openDocs: "browser" | "source",
): Opening {
  const inBrowser =
    where === "browser" || (where === "default" && candidate.source_type === "docs" && openDocs === "browser");
  if (!inBrowser) {
    return planSource(source);
  }
  if (source.url !== null && isPageOf(source.url, source.site_url)) {
    return { kind: "page", url: source.url };
  }
  if (where === "browser") {
    return { kind: "nothing" };
  }
  const { lines, note } = planSource(source);
  return { kind: "document", lines, note: note ?? "no-page" };
}

const NOTES: Record<Verification["state"], Note | null> = {
  exact: null,
  moved: "moved",
  same_tree: "same_tree",
  changed: "changed",
  gone: "gone",
  unverified: "unverified",
};

/** Which lines of the source's document are marked, and what the reader must know. */
export function planSource(source: SourceResult): Extract<Opening, { kind: "document" }> {
  const { lines } = source;
  // Of a text that the index has, the server says what became of the citation only where another file has its text.
  if (source.matches_index && source.verification === null) {
    return { kind: "document", lines, note: source.local_matches ? null : "kept" };
  }
  const state = source.verification?.state;
  // A state that is unknown here says nothing about the lines.
  const note = state === undefined || !Object.hasOwn(NOTES, state) ? "unverified" : NOTES[state];
  return { kind: "document", lines: note === "gone" ? null : lines, note };
}

/** What the panel needs from outside: it shows evidence and takes clicks, and knows neither server nor editor. */

import type { CancellationToken } from "vscode";
import type { Fix } from "../problem";
import type { Candidate, EvidenceResult } from "../protocol/generated";
import type { FromPage, Question } from "./messages";

/** What a click asks to copy, or to write into the user's file. */
export type Copied = Extract<FromPage, { type: "copy" }>["what"];
/** What a click asks to open: as the settings say, the cited source, or the page in the browser. */
export type OpenTarget = Extract<FromPage, { type: "open" }>["where"];

/**
 * Done for the panel when something is asked for or clicked. Each may throw a `Problem`: a failed `ask` becomes the
 * panel's error state, with the problem's fixes as buttons; that of another action is announced in the page.
 */
export interface PanelActions {
  /** Answers a question. `token` is cancelled when the user cancels, asks something else or closes the panel. */
  ask(question: Question, token: CancellationToken): Promise<EvidenceResult>;
  /** Opens what a candidate cites; `candidate` is one of `pack`'s. */
  open(candidate: Candidate, pack: EvidenceResult, where: OpenTarget): Promise<void>;
  /** Opens lines, or a file, that an outline of `pack` cites. */
  openCitation(citation: string, pack: EvidenceResult): Promise<void>;
  /** Copies something of a candidate of `pack`, or writes it into a file; returns a sentence on what was done. */
  copy(what: Copied, pack: EvidenceResult, candidate: Candidate): Promise<string>;
  /** The document or folder of a pack's question, as a URI; null if that is not known. */
  scopeOf(pack: EvidenceResult): string | null;
  /** The folder whose project a pack was made for, as a URI; null if no folder is open. */
  folderOf(pack: EvidenceResult): string | null;
  /** Restores a pack of an earlier window; `scope` is what `scopeOf` returned for it then. */
  takeUp(pack: EvidenceResult, scope: string): void;
  /** Runs the command of a button that the panel showed: a problem's fix, or "Get Started" of the empty state. */
  act(fix: Fix): Promise<void>;
}

/** A request from elsewhere that the panel shows, e.g. for a selection in an editor. */
export interface ShownRequest {
  /** What is known of the question beforehand; where the server builds the query, the pack tells it. */
  question: Partial<Question>;
  /** Makes the request. It is called again when the user chooses to try again. */
  run(token: CancellationToken): Promise<EvidenceResult>;
  /** A sentence on where the answer comes from, for the panel to show above it. */
  notice?(): string | null;
}

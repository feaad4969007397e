/** What the extension and the panel's page say to each other. Both sides check what they get. */

import type { EvidenceResult } from "../protocol/generated";

export type TaskMode = EvidenceResult["task_mode"];
export type Sources = "both" | "docs" | "code";

/** The controls of the query line. */
export interface Question {
  query: string;
  taskMode: TaskMode;
  sources: Sources;
  /** Globs of repository paths, separated by commas; empty: all. */
  path: string;
}

/** A question that was answered. */
export interface HistoryItem extends Question {
  id: string;
  results: number;
  /** ISO 8601. */
  askedAt: string;
}

export interface ViewError {
  /** One sentence. */
  message: string;
  actions: { title: string; id: string }[];
}

/** Everything that the page shows. */
export interface ViewState {
  phase: "empty" | "loading" | "ready" | "error";
  question: Question;
  /** Which entry of the history `pack` is. */
  current: string | null;
  pack: EvidenceResult | null;
  /** The document or folder that `pack` was asked for, as a URI: its server is the one that knows the citations. */
  scope?: string | null | undefined;
  error: ViewError | null;
  history: HistoryItem[];
}

export type ToPage = { type: "state"; state: ViewState } | { type: "say"; text: string };

export type FromPage =
  | { type: "ready" }
  | { type: "ask"; question: Question }
  | { type: "cancel" }
  /** `where` overrides the setting `adkEvidence.openDocs`. */
  | { type: "open"; candidateId: string; where: "default" | "source" | "browser" }
  | { type: "copy"; what: "citation" | "markdown" | "json" | "prompt"; candidateId: string | null }
  | { type: "history"; id: string }
  | { type: "clearHistory" }
  | { type: "action"; id: string };

/** What the page keeps with the editor, so that a panel survives a reload of the window. */
export interface SavedState {
  version: 1;
  view: ViewState;
  /** What was typed and not asked yet. */
  draft: Question;
  /** The candidate that the keyboard is on. */
  active: string | null;
}

/** Actions that are always there; an error's own have ids that the extension makes. */
export const ACTIONS = { ingest: "ingest", retry: "retry" } as const;

/** Longest query that the server takes. */
export const MAX_QUERY = 8000;
/** Longest path filter that the page sends. */
export const MAX_PATH = 2000;
/** Questions that a session remembers. */
export const MAX_HISTORY = 50;

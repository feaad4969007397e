/** What the extension and the panel's page say to each other. Both sides check what they get. */

export type {
  FromPage,
  HistoryItem,
  Question,
  SavedState,
  TaskMode,
  ToPage,
  ViewError,
  ViewState,
} from "../protocol/generated";

/** Actions that are always there; an error's own have ids that the extension makes. */
export const ACTIONS = { ingest: "ingest", indexVersion: "indexVersion", retry: "retry" } as const;

/** What the extension and the panel's page say to each other. Both sides check what they get. */

export type {
  FromPage,
  HistoryItem,
  Question,
  SavedState,
  TaskMode,
  ToPage,
  ViewError,
  ViewJob,
  ViewState,
} from "../protocol/generated";

/** Actions that are always there; an error's own have ids that the extension makes. */
export const ACTIONS = { indexVersion: "indexVersion", retry: "retry" } as const;

/**
 * The id of an action of the card on setting up is this with the action's title: a click on a card that was replaced
 * meanwhile must do nothing else.
 */
export const JOB_ACTION = "job-";

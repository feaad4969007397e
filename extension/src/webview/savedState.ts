import type { SavedState } from "./messages";

/** Characters of JSON. */
const LARGEST_KEPT = 3_000_000;

/** The state as the page and the workspace keep it: without its pack where the pack makes it too large. */
export function keepable(state: SavedState): SavedState {
  return JSON.stringify(state).length <= LARGEST_KEPT
    ? state
    : { ...state, view: { ...state.view, pack: null, current: null } };
}

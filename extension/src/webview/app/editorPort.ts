/** The page's line to the extension. */

import { isSavedState, isToPage } from "../../protocol/check";
import type { FromPage, SavedState, ToPage } from "../messages";

interface EditorApi {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: SavedState): void;
}

declare function acquireVsCodeApi(): EditorApi;

export interface EditorPort {
  send(message: FromPage): void;
  /** What was saved before the editor dropped the page, if it is of this version. */
  load(): SavedState | null;
  save(state: SavedState): void;
  /** Calls back for every message of the extension; anything else is dropped. */
  listen(listener: (message: ToPage) => void): void;
}

/** Connects to the extension; the editor allows it once. */
export function connect(): EditorPort {
  const api = acquireVsCodeApi();
  return {
    send: (message) => api.postMessage(message),
    load: () => {
      const state = api.getState();
      return isSavedState(state) ? state : null;
    },
    save: (state) => api.setState(state),
    listen: (listener) => {
      window.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
        if (isToPage(data)) {
          listener(data);
        }
      });
    },
  };
}

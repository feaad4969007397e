/** The page's line to the extension. */

import { t } from "@vscode/l10n";
import { ACTIONS, type FromPage, type SavedState, type ToPage } from "../messages";
import { oneOf, shapeOf } from "../shape";
import { isSavedState, isToPage } from "../validate";
import { NO_QUESTION } from "./model";

interface EditorApi {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: SavedState): void;
}

declare function acquireVsCodeApi(): EditorApi;

export interface Host {
  send(message: FromPage): void;
  /** What was saved before the editor dropped the page, if it is of this version. */
  load(): SavedState | null;
  save(state: SavedState): void;
  /** Calls back for every message. What is not one of the host's is dropped; a state that cannot be read says so. */
  listen(listener: (message: ToPage) => void): void;
}

/** Connects to the extension; the editor allows it once. */
export function connect(): Host {
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
        } else if (isAnyState(data)) {
          listener(unreadable());
        }
      });
    },
  };
}

const isAnyState = shapeOf({ type: oneOf("state") });

/** Shown for a state that cannot be read: without it the page would wait for ever. */
function unreadable(): ToPage {
  const message = t("The answer has a form that this panel cannot show. Ask again, or reload the window.");
  const error = { message, actions: [{ title: t("Try Again"), id: ACTIONS.retry }] };
  return {
    type: "state",
    state: { phase: "error", question: NO_QUESTION, current: null, pack: null, error, history: [] },
  };
}

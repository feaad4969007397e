/** Says when the cause of failed requests is gone. */

import * as vscode from "vscode";
import { scopeInUse } from "../evidence/scope";
import type { GetStarted } from "./getStarted";
import type { ServerPool } from "./pool";
import { UNTIL_INGESTED, UNTIL_READY } from "./setUpCodes";

/**
 * Calls back with the codes of the problems that are gone once a server is ready, once keywords answer, or once an
 * ingestion has ended. `again`: what was answered by keywords, or of another version, can be answered better.
 */
export function onDidRecover(
  pool: Pick<ServerPool, "state" | "onDidChange" | "onDidAnswer">,
  job: Pick<GetStarted, "state" | "onDidChange">,
  listener: (codes: readonly string[], again: boolean) => void,
): vscode.Disposable {
  let ready = false;
  let { answers } = job.state;
  return vscode.Disposable.from(
    pool.onDidChange(() => {
      const was = ready;
      ready = pool.state(scopeInUse()).kind === "ready";
      if (ready && !was) {
        listener(UNTIL_READY, false);
      }
    }),
    pool.onDidAnswer(({ method, problem }) => {
      if (method === "adk/ingest" && !problem) {
        listener(UNTIL_INGESTED, true);
      } else if (method === "adk/ingest" && problem?.code === "cancelled") {
        // It may have published an index before it was stopped.
        listener([], true);
      }
    }),
    job.onDidChange((state) => {
      if (state.answers !== answers && state.answers !== "nothing") {
        listener(UNTIL_INGESTED, state.answers === "meaning");
      }
      ({ answers } = state);
    }),
  );
}

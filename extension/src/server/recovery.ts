/** Says when the cause of failed requests is gone. */

import * as vscode from "vscode";
import { scopeInUse } from "../evidence/scope";
import type { ServerPool } from "./pool";

/** Problems that are gone once a server is ready. A server that ended during an answer may do so again. */
const UNTIL_READY = [
  "no_environment",
  "environment_outdated",
  "environment_broken",
  "bad_interpreter",
  "package_missing",
  "package_incompatible",
  "start_failed",
  "server_crashed",
];
const UNTIL_INGESTED = ["no_index", "index_mismatch"];

/** Calls back with the codes of the problems that are gone once a server is ready, or an ingestion has ended. */
export function onDidRecover(
  pool: Pick<ServerPool, "state" | "onDidChange" | "onDidAnswer">,
  listener: (codes: readonly string[]) => void,
): vscode.Disposable {
  let ready = false;
  return vscode.Disposable.from(
    pool.onDidChange(() => {
      const was = ready;
      ready = pool.state(scopeInUse()).kind === "ready";
      if (ready && !was) {
        listener(UNTIL_READY);
      }
    }),
    pool.onDidAnswer(({ method, problem }) => {
      if (method === "adk/ingest" && !problem) {
        listener(UNTIL_INGESTED);
      }
    }),
  );
}

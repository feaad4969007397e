/** Shows what the server reports of an ingestion where the user can cancel it. */

import type { Middleware } from "vscode-languageclient/node";

type Report = Parameters<NonNullable<Middleware["handleWorkDoneProgress"]>>[1];
type Listener = (message: string, percentage: number | null) => void;

const listeners = new Set<Listener>();

/**
 * Passes on what the server reports until it is disposed of. The server opens progress itself for ingestions alone, and
 * runs one ingestion at a time.
 */
export function onIngestProgress(listener: Listener): { dispose(): void } {
  listeners.add(listener);
  return { dispose: () => listeners.delete(listener) };
}

/**
 * For the language client, which shows progress in the status bar, where the user cannot cancel it: while there is a
 * listener, the listener gets the progress instead.
 */
export const progressMiddleware = {
  handleWorkDoneProgress(_token, report, next) {
    if (listeners.size === 0 || report.kind === "end") {
      next(_token, report);
      return;
    }
    for (const listener of listeners) {
      listener(report.message ?? "", percentageOf(report));
    }
  },
} satisfies Middleware;

function percentageOf(report: Report): number | null {
  return report.kind === "end" ? null : (report.percentage ?? null);
}

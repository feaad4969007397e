/** Shows what the server reports of an ingestion where the user can cancel it. */

import type { Middleware } from "vscode-languageclient/node";
import type { IngestProgress } from "../protocol/generated";

/** The notification that says how far an ingestion is. */
export const INGEST_PROGRESS = "$/adk/ingestProgress";

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

const followers = new Set<(progress: IngestProgress) => void>();

/** Passes on how far an ingestion is until it is disposed of; the editor shows no progress of its own meanwhile. */
export function followIngestion(follower: (progress: IngestProgress) => void): { dispose(): void } {
  const silent = onIngestProgress(() => undefined);
  followers.add(follower);
  return {
    dispose: () => {
      silent.dispose();
      followers.delete(follower);
    },
  };
}

/** For the session: the server has said how far an ingestion is. */
export function ingestionIs(progress: IngestProgress): void {
  // A setting may name a server that says something else.
  if (!Number.isFinite(progress.fraction)) {
    return;
  }
  for (const follower of followers) {
    follower(progress);
  }
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

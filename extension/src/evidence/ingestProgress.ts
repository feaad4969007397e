/** Tells what the server reports of an ingestion where the user can stop it. */

import type { Middleware } from "vscode-languageclient/node";
import type { IngestProgress } from "../protocol/generated";

/** The notification that says how far an ingestion is. */
export const INGEST_PROGRESS = "$/adk/ingestProgress";

const followers = new Set<(progress: IngestProgress) => void>();

/** Does a work, and passes on how far its ingestion is; the editor shows no progress of its own meanwhile. */
export async function following<Result>(
  follower: (progress: IngestProgress) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  followers.add(follower);
  try {
    return await work();
  } finally {
    followers.delete(follower);
  }
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

/** For the language client, which shows progress in the status bar: no such progress where somebody follows. */
export const progressMiddleware = {
  handleWorkDoneProgress(token, report, next) {
    if (followers.size === 0 || report.kind === "end") {
      next(token, report);
    }
  },
} satisfies Middleware;

import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { following } from "../evidence/ingestProgress";
import { scopeInUse } from "../evidence/scope";
import type { IngestResult } from "../protocol/generated";
import type { GetStarted, Outcome } from "../server/getStarted";
import { FIXES } from "../server/problems";
import { messageLine } from "../text/untrusted";
import { projectUsed, wholeOf } from "./getStarted";

/**
 * Update Index: shows the progress in the panel, with a way to stop, and then the outcome.
 *
 * @param argument `{ folder }`, the URI of a folder whose project's version of google-adk is indexed; by default, that
 * of the folder in use.
 */
export async function ingestCorpora(
  argument: unknown,
  evidence: Evidence,
  log: vscode.LogOutputChannel,
  job: GetStarted,
  shown: () => void,
): Promise<void> {
  const folder = folderOf(argument);
  const scope = folder ?? scopeInUse();
  const status = await evidence.status(undefined, scope);
  const project = projectUsed(status, folder);
  const params = folder ? { folder: folder.toString() } : wholeOf(status);
  shown();
  await job.runTask(
    project
      ? vscode.l10n.t("Indexing google-adk {0}", messageLine(project.version))
      : vscode.l10n.t("Updating the ADK index"),
    (token, onProgress) => following(onProgress, () => evidence.ingest(params, token, scope)),
    (run) => ingested(run, log, project?.version),
  );
}

function folderOf(argument: unknown): vscode.Uri | undefined {
  const named = typeof argument === "object" && argument !== null && "folder" in argument && argument.folder;
  return typeof named === "string" ? vscode.Uri.parse(named) : undefined;
}

/** What an ingestion came to; its remarks go to the log. `version`: the project's google-adk, if there is one. */
export function ingested(run: IngestResult, log: Pick<vscode.LogOutputChannel, "warn">, version?: string): Outcome {
  for (const notice of run.notices) {
    log.warn(messageLine(notice));
  }
  const next = "adk_docs" in run.missing ? FIXES.fetchGuides() : FIXES.ask();
  return { lines: [summary(run, version), ...lacks(run)], actions: [next] };
}

/** One sentence for each thing that the run failed to read or to index. */
function lacks({ missing, failed_files: failed }: IngestResult): string[] {
  const sentences = Object.entries(missing).map(([name, reason]) =>
    name === "adk_docs"
      ? vscode.l10n.t(
          "The guides (google/adk-docs) could not be read: {0} The index has no guides, or those of the last update that read them.",
          messageLine(reason),
        )
      : vscode.l10n.t("{0} could not be read: {1}", messageLine(name), messageLine(reason)),
  );
  const [first] = failed;
  if (first !== undefined) {
    sentences.push(
      failed.length === 1
        ? vscode.l10n.t("{0} could not be split into passages, so the index lacks this file.", messageLine(first))
        : vscode.l10n.t(
            "{0} files could not be split into passages, so the index lacks them; the first is {1}.",
            failed.length,
            messageLine(first),
          ),
    );
  }
  return sentences;
}

function summary({ status, seconds, notices }: IngestResult, version: string | undefined): string {
  const noticed = notices.length > 0 ? ` ${vscode.l10n.t("The log says more.")}` : "";
  const built = version
    ? vscode.l10n.t("google-adk {0} is indexed ({1} seconds).", messageLine(version), Math.round(seconds))
    : vscode.l10n.t("The index is ready after {0} seconds.", Math.round(seconds));
  return (status === "unchanged" ? vscode.l10n.t("The index is up to date.") : built) + noticed;
}

import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { following } from "../evidence/ingestProgress";
import { scopeInUse } from "../evidence/scope";
import { COMMANDS } from "../ids";
import { Problem } from "../problem";
import type { IngestResult } from "../protocol/generated";
import type { GetStarted } from "../server/getStarted";
import { messageLine } from "../text/untrusted";
import { wholeOf } from "./getStarted";

/**
 * Update Index: shows the progress in the panel, with a way to stop, and then the outcome.
 *
 * @param argument `{ folder }`, the URI of a document or folder whose project's version of google-adk is indexed; by
 * default, that of the folder in use.
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
  const params = folder ? { folder: folder.toString() } : wholeOf(await evidence.status(undefined, scope));
  let run: IngestResult;
  try {
    shown();
    run = await job.runTask(vscode.l10n.t("Updating the ADK index"), (token, onProgress) =>
      following(onProgress, () => evidence.ingest(params, token, scope)),
    );
  } catch (error) {
    if (!(error instanceof Problem && error.code === "cancelled")) {
      throw error;
    }
    void tellStopped();
    return;
  }
  for (const notice of run.notices) {
    log.warn(messageLine(notice));
  }
  // The message may stand for long; the command is done.
  void tell(run);
}

function folderOf(argument: unknown): vscode.Uri | undefined {
  const named = typeof argument === "object" && argument !== null && "folder" in argument && argument.folder;
  return typeof named === "string" ? vscode.Uri.parse(named) : undefined;
}

async function tell(run: IngestResult): Promise<void> {
  const ask = vscode.l10n.t("Ask a Question…");
  const lacking = lacks(run);
  const show = lacking === "" ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  if ((await show([summary(run), lacking].filter(Boolean).join(" "), ask)) === ask) {
    await vscode.commands.executeCommand(COMMANDS.askQuestion);
  }
}

async function tellStopped(): Promise<void> {
  const resume = vscode.l10n.t("Update Index");
  const message = vscode.l10n.t(
    "The update was stopped. Its results so far are kept, and Update Index continues from there.",
  );
  if ((await vscode.window.showInformationMessage(message, resume)) === resume) {
    await vscode.commands.executeCommand(COMMANDS.ingest);
  }
}

/** One sentence for each thing that the run failed to read or to index; empty where the index is complete. */
function lacks({ missing, failed_files: failed }: IngestResult): string {
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
  return sentences.join(" ");
}

function summary({ status, seconds, notices }: IngestResult): string {
  const noticed = notices.length > 0 ? ` ${vscode.l10n.t("The log has {0} remarks.", notices.length)}` : "";
  return status === "unchanged"
    ? vscode.l10n.t("The index is up to date.") + noticed
    : vscode.l10n.t("The index is ready after {0} seconds.", Math.round(seconds)) + noticed;
}

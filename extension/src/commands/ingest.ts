import * as vscode from "vscode";
import { ingestSettings } from "../config";
import type { Evidence } from "../evidence/client";
import { shortCommit } from "../evidence/commit";
import { onIngestProgress } from "../evidence/ingestProgress";
import { folderInUse, scopeInUse } from "../evidence/scope";
import { COMMANDS } from "../ids";
import { Problem } from "../problem";
import type { IngestParams, IngestResult } from "../protocol/generated";
import { messageLine } from "../text/untrusted";

type Mode = NonNullable<IngestParams["mode"]>;

/**
 * Ingest Corpora: asks which, shows the progress with a way to cancel, and then the outcome.
 *
 * @param argument `{ folder }`, the URI of a document or folder: does not ask, but indexes the version of google-adk
 * that the project there uses.
 */
export async function ingestCorpora(
  argument: unknown,
  evidence: Evidence,
  log: vscode.LogOutputChannel,
): Promise<void> {
  const folder = folderOf(argument);
  const params = folder === undefined ? await pickParams() : paramsOf(folder);
  if (params === undefined) {
    return;
  }
  const scope = folder ?? scopeInUse();
  let run: IngestResult;
  try {
    const title = vscode.l10n.t("Ingesting the ADK corpora");
    run = await withIngestProgress(title, (token) => evidence.ingest(params, token, scope));
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

/** The docs are those of the settings; the code is the version's release. */
function paramsOf(folder: vscode.Uri): IngestParams {
  const { docs = null } = ingestSettings(vscode.workspace.getWorkspaceFolder(folder));
  return { folder: folder.toString(), docs };
}

async function pickParams(): Promise<IngestParams | undefined> {
  const mode = await pickMode();
  return mode && { mode, ...ingestSettings(folderInUse()) };
}

async function pickMode(): Promise<Mode | undefined> {
  const items: (vscode.QuickPickItem & { mode: Mode })[] = [
    {
      mode: "all",
      label: vscode.l10n.t("Docs and source"),
      detail: vscode.l10n.t("The documentation of the ADK and the source of its Python package"),
    },
    { mode: "docs", label: vscode.l10n.t("Docs"), detail: vscode.l10n.t("The documentation alone") },
    { mode: "code", label: vscode.l10n.t("Source"), detail: vscode.l10n.t("The source of the Python package alone") },
  ];
  const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Ingest Corpora") });
  return picked?.mode;
}

/** Shows the progress of an ingestion, with a way to cancel it. */
export function withIngestProgress<Result>(
  title: string,
  work: (token: vscode.CancellationToken) => Promise<Result>,
): Thenable<Result> {
  return vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      cancellable: true,
      title,
    },
    async (progress, token) => {
      let reached = 0;
      const following = onIngestProgress((message, percentage) => {
        // The editor expects the difference to the last report, and its bar cannot go back.
        const increment = percentage === null ? 0 : Math.max(0, percentage - reached);
        reached += increment;
        progress.report({ message: messageLine(message), increment });
      });
      try {
        return await work(token);
      } finally {
        following.dispose();
      }
    },
  );
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
  const resume = vscode.l10n.t("Ingest Corpora");
  const message = vscode.l10n.t(
    "The ingestion was stopped. Its results so far are kept, and Ingest Corpora continues from there.",
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
          "The guides (google/adk-docs) could not be read: {0} The index has no guides, or those of the last ingestion that read them.",
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

function summary({ status, corpora, seconds, notices }: IngestResult): string {
  const parts = Object.values(corpora).map(({ repo, commit, chunks }) =>
    vscode.l10n.t("{0} at {1} ({2} passages)", messageLine(repo), shortCommit(commit), chunks),
  );
  const indexed = new Intl.ListFormat(vscode.env.language).format(parts);
  const noticed = notices.length > 0 ? ` ${vscode.l10n.t("The log has {0} remarks.", notices.length)}` : "";
  if (status === "unchanged") {
    return vscode.l10n.t("The index is up to date: {0}.", indexed) + noticed;
  }
  return vscode.l10n.t("The index is ready after {0} seconds: {1}.", Math.round(seconds), indexed) + noticed;
}

import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { following } from "../evidence/ingestProgress";
import { folderInUse } from "../evidence/scope";
import { COMMANDS } from "../ids";
import { Problem } from "../problem";
import type { IndexResult } from "../protocol/generated";
import type { GetStarted } from "../server/getStarted";
import { messageLine } from "../text/untrusted";

/** Index Project Code: indexes the folder in use, so that questions from the folder search its code, too. */
export async function indexProject(
  evidence: Evidence,
  log: vscode.LogOutputChannel,
  job: GetStarted,
  shown: () => void,
): Promise<void> {
  const folder = folderInUse();
  if (folder === undefined) {
    throw new Problem(vscode.l10n.t("No folder is open whose code could be indexed."), "no_folder");
  }
  const { services } = await evidence.status(undefined, folder.uri);
  if (services.length > 0 && !(await agreesToSend(services, folder.name))) {
    return;
  }
  let report: IndexResult;
  try {
    shown();
    const title = vscode.l10n.t("Indexing the code of {0}", messageLine(folder.name));
    report = await job.runTask(title, (token, onProgress) =>
      following(onProgress, () => evidence.index(folder.uri, token)),
    );
  } catch (error) {
    if (error instanceof Problem && error.code === "cancelled") {
      return;
    }
    throw error;
  }
  for (const warning of report.warnings) {
    log.warn(messageLine(warning));
  }
  // The message may stand for long; the command is done.
  void tell(report);
}

/** Private code goes to services only after a yes. A profile does not say which: other settings may change its parts. */
async function agreesToSend(services: readonly string[], folder: string): Promise<boolean> {
  const index = vscode.l10n.t("Index");
  const message = vscode.l10n.t(
    "The code of {0} goes to services, as these settings say: {1}.",
    messageLine(folder),
    services.map(messageLine).join(", "),
  );
  const detail = vscode.l10n.t(
    "Files with credentials are left out. Where no setting names a service, the index and the search stay on this machine.",
  );
  return (await vscode.window.showWarningMessage(message, { modal: true, detail }, index)) === index;
}

async function tell({ name, files, skipped, status, warnings }: IndexResult): Promise<void> {
  const ask = vscode.l10n.t("Ask a Question\u2026");
  const indexed = vscode.l10n.t(
    "The index {0} holds {1} files. Questions from this folder search it, too.",
    messageLine(name),
    files,
  );
  const lacking = skipped > 0 ? vscode.l10n.t("{0} files were left out.", skipped) : "";
  const noticed = warnings.length > 0 ? vscode.l10n.t("The log has {0} remarks.", warnings.length) : "";
  const show = status === "partial" ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  if ((await show([indexed, lacking, noticed].filter(Boolean).join(" "), ask)) === ask) {
    await vscode.commands.executeCommand(COMMANDS.askQuestion);
  }
}

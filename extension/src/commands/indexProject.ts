import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { following } from "../evidence/ingestProgress";
import { folderInUse } from "../evidence/scope";
import { Problem } from "../problem";
import type { IndexResult } from "../protocol/generated";
import type { GetStarted, Outcome } from "../server/getStarted";
import { FIXES } from "../server/problems";
import { messageLine } from "../text/untrusted";

/** How many of the files that were left out are named in the panel. */
const NAMED = 5;

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
  shown();
  await job.runTask(
    vscode.l10n.t("Indexing the code of {0}", messageLine(folder.name)),
    (token, onProgress) => following(onProgress, () => evidence.index(folder.uri, token)),
    (report) => indexed(report, log),
  );
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

/** What the index holds and lacks; the log gets all that it lacks, and all remarks. */
function indexed({ files, skipped, warnings }: IndexResult, log: vscode.LogOutputChannel): Outcome {
  for (const line of [...warnings, ...skipped.map((file) => vscode.l10n.t("Left out: {0}", file))]) {
    log.warn(messageLine(line));
  }
  const holds = vscode.l10n.t("Your code is indexed: {0} files. Questions from this folder search it, too.", files);
  const named = skipped.slice(0, NAMED).map(messageLine).join(", ");
  const lacking =
    skipped.length > NAMED
      ? vscode.l10n.t("{0} files were left out: {1}… The log names them all.", skipped.length, named)
      : named && vscode.l10n.t("Left out: {0}", named);
  const isSaid = (line: string) => skipped.some((file) => line.includes(file.slice(0, file.lastIndexOf(" ("))));
  const noticed = warnings.every(isSaid) ? "" : vscode.l10n.t("The log says more.");
  return { lines: [holds, lacking, noticed].filter(Boolean), actions: [FIXES.ask()] };
}

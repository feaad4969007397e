/** Save Answer… and Open Saved Answer…. */

import os from "node:os";
import path from "node:path";
import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { fileNameOf, indexDate, packAsJson, readSavedPack, withStates } from "../evidence/savedPack";
import { Problem } from "../problem";
import { isTaskMode } from "../protocol/check";
import type { CheckResult, EvidenceResult } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { PackPanel } from "../webview/panel";
import { requireShown } from "./copy";

/** The states of a citation whose text, or at least whose code, still stands. */
const HOLDS: ReadonlySet<string> = new Set(["exact", "moved", "same_tree"]);

export async function savePack(panel: PackPanel, evidence: Evidence): Promise<void> {
  const shown = requireShown(panel.pack);
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t("Save Answer"),
    defaultUri: defaultFile(fileNameOf(shown)),
    filters: { [vscode.l10n.t("ADK Evidence answer")]: ["json"], Markdown: ["md"] },
  });
  if (file === undefined) {
    return;
  }
  const text = /\.(?:md|markdown)$/i.test(file.path)
    ? await evidence.render({ pack: shown, format: "markdown" })
    : packAsJson(shown);
  const name = path.posix.basename(file.path);
  try {
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
  } catch (reason) {
    if (reason instanceof vscode.FileSystemError) {
      throw new Problem(vscode.l10n.t("{0} cannot be written. Choose another folder.", name), "not_saved");
    }
    throw reason;
  }
  const open = vscode.l10n.t("Open");
  const chosen = await vscode.window.showInformationMessage(vscode.l10n.t("The answer is saved in {0}.", name), open);
  if (chosen === open) {
    await vscode.window.showTextDocument(file);
  }
}

/** Shows a saved pack in the panel, with its citations checked again. */
export async function openSavedPack(panel: PackPanel, evidence: Evidence): Promise<void> {
  const pack = await chooseSavedPack();
  if (pack === null) {
    return;
  }
  let notice = "";
  await panel.show({
    question: { query: pack.query, ...(isTaskMode(pack.task_mode) ? { taskMode: pack.task_mode } : {}) },
    run: async (token) => {
      const checked = await check(pack, evidence, token);
      const shown = checked instanceof Problem ? { ...pack } : withStates(pack, checked);
      notice = noticeOf(pack, checked);
      evidence.takeUpHere(shown);
      return shown;
    },
    notice: () => notice,
  });
}

async function chooseSavedPack(): Promise<EvidenceResult | null> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t("Choose a Saved Answer"),
      openLabel: vscode.l10n.t("Open"),
      filters: { [vscode.l10n.t("ADK Evidence answer")]: ["json"] },
    })) ?? [];
  return file === undefined ? null : readSavedPack(file);
}

/** What the server finds; the problem where it cannot look. */
async function check(
  pack: EvidenceResult,
  evidence: Evidence,
  token: vscode.CancellationToken,
): Promise<CheckResult | Problem> {
  try {
    return await evidence.check(pack, token);
  } catch (reason) {
    if (reason instanceof Problem && reason.code !== "cancelled") {
      return reason;
    }
    throw reason;
  }
}

function noticeOf(pack: EvidenceResult, checked: CheckResult | Problem): string {
  const date = indexDate(pack);
  const from =
    date === null
      ? vscode.l10n.t("This is a saved answer.")
      : vscode.l10n.t("This is a saved answer, from an index that was built on {0}.", date);
  return `${from} ${checkedSentence(checked)}`;
}

function checkedSentence(checked: CheckResult | Problem): string {
  if (checked instanceof Problem) {
    return vscode.l10n.t("The citations could not be checked again: {0}", messageLine(checked.message));
  }
  const hold = checked.candidates.filter(({ verification: { state } }) => HOLDS.has(state));
  const counts = [hold.length, checked.candidates.length] as const;
  return checked.intact
    ? vscode.l10n.t("Checked again just now: {0} of {1} citations hold.", ...counts)
    : vscode.l10n.t(
        "The file was edited after the answer was saved: do not rely on its texts. Checked again just now: {0} of {1} citations hold.",
        ...counts,
      );
}

function defaultFile(name: string): vscode.Uri {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return folder ? vscode.Uri.joinPath(folder.uri, name) : vscode.Uri.file(path.join(os.homedir(), name));
}

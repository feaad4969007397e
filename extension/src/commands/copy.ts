import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { packAsJson } from "../evidence/savedPack";
import { COMMANDS } from "../ids";
import { Problem } from "../problem";
import type { Candidate, EvidenceResult } from "../protocol/generated";
import type { CopyFormat } from "../webview/actions";

/** Puts a pack, or one of its candidates, on the clipboard. */
export async function copyEvidence(
  format: CopyFormat,
  pack: EvidenceResult,
  candidate: Candidate | null,
  evidence: Evidence,
): Promise<void> {
  await vscode.env.clipboard.writeText(await textOf(format, pack, candidate, evidence));
}

/**
 * Copy Evidence…: asks for the form, and copies the pack that was shown last.
 *
 * @throws Problem if there is none.
 */
export async function copyShown(pack: EvidenceResult | null, evidence: Evidence): Promise<void> {
  const shown = requireShown(pack);
  const forms: (vscode.QuickPickItem & { format: CopyFormat })[] = [
    { format: "markdown", label: vscode.l10n.t("Markdown"), detail: vscode.l10n.t("For notes and issues") },
    {
      format: "prompt",
      label: vscode.l10n.t("Prompt"),
      detail: vscode.l10n.t("In a form that language models read well"),
    },
    { format: "json", label: vscode.l10n.t("JSON"), detail: vscode.l10n.t("The whole pack, for programs") },
  ];
  const chosen = await vscode.window.showQuickPick(forms, { title: vscode.l10n.t("Copy Evidence") });
  if (chosen !== undefined) {
    await copyEvidence(chosen.format, shown, null, evidence);
    vscode.window.setStatusBarMessage(vscode.l10n.t("Evidence copied."), 5000);
  }
}

/** @throws Problem if nothing is shown. */
export function requireShown(pack: EvidenceResult | null): EvidenceResult {
  if (pack === null) {
    throw new Problem(
      vscode.l10n.t("There is no evidence yet. Select code and find evidence, or ask a question."),
      "no_pack",
      [{ title: vscode.l10n.t("Ask a Question…"), command: COMMANDS.askQuestion }],
    );
  }
  return pack;
}

async function textOf(
  format: CopyFormat,
  pack: EvidenceResult,
  candidate: Candidate | null,
  evidence: Evidence,
): Promise<string> {
  switch (format) {
    case "citation":
      return candidate?.citation ?? pack.candidates.map(({ citation }) => citation).join("\n");
    case "json":
      return candidate ? `${JSON.stringify(candidate, null, 2)}\n` : packAsJson(pack);
    case "markdown":
    case "prompt":
      return evidence.render({ pack, format, candidateIds: candidate && [candidate.candidate_id] });
  }
}

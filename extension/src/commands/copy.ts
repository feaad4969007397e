import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
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
 * Copies the pack that was shown last.
 *
 * @throws Problem if there is none.
 */
export async function copyShown(
  format: Exclude<CopyFormat, "citation">,
  pack: EvidenceResult | null,
  evidence: Evidence,
): Promise<void> {
  if (pack === null) {
    throw new Problem(
      vscode.l10n.t("There is no evidence to copy yet. Select code and find evidence, or ask a question."),
      "no_pack",
      [{ title: vscode.l10n.t("Ask a Question…"), command: COMMANDS.askQuestion }],
    );
  }
  await copyEvidence(format, pack, null, evidence);
  vscode.window.setStatusBarMessage(vscode.l10n.t("Evidence copied."), 5000);
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
      return `${JSON.stringify(candidate ?? packAlone(pack), null, 2)}\n`;
    case "markdown":
    case "prompt":
      return evidence.render({ pack, format, candidateIds: candidate && [candidate.candidate_id] });
  }
}

/** The pack in the same form as on every other surface. */
function packAlone({ queryUsed: _, ...pack }: EvidenceResult): Omit<EvidenceResult, "queryUsed"> {
  return pack;
}

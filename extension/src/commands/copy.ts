import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { codeOf } from "../evidence/exampleCode";
import { permalink } from "../evidence/page";
import { packAsJson } from "../evidence/savedPack";
import { COMMANDS, SOURCE_SCHEME } from "../ids";
import { Problem } from "../problem";
import type { Candidate, EvidenceResult } from "../protocol/generated";
import type { Copied } from "../webview/actions";

/** Copies something of a candidate, or writes its code into a file; returns a sentence on what was done. */
export async function copyFrom(
  what: Copied,
  pack: EvidenceResult,
  candidate: Candidate,
  evidence: Evidence,
): Promise<string> {
  const { clipboard } = vscode.env;
  switch (what) {
    case "citation":
      await clipboard.writeText(candidate.citation);
      return vscode.l10n.t("Citation copied.");
    case "link":
      await clipboard.writeText(permalink(candidate) ?? candidate.citation);
      return vscode.l10n.t("Link copied.");
    case "code":
      await clipboard.writeText(await codeWithImports(pack, candidate, evidence));
      return vscode.l10n.t("Code copied.");
    case "insert":
      return vscode.l10n.t("Code inserted into {0}.", await insertCode(pack, candidate, evidence));
  }
}

/**
 * Writes the code of a candidate below the cursor's line of the editor that was used last, and goes there.
 *
 * @returns The name of the file.
 * @throws Problem if no file is open that can be edited.
 */
async function insertCode(pack: EvidenceResult, candidate: Candidate, evidence: Evidence): Promise<string> {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  const editors = [...(activeTextEditor ? [activeTextEditor] : []), ...visibleTextEditors];
  const editor = editors.find((one) => one.viewColumn !== undefined && one.document.uri.scheme !== SOURCE_SCHEME);
  if (editor === undefined) {
    throw new Problem(vscode.l10n.t("Open the file that the code is for, and try again."), "no_editor");
  }
  const { document, selection } = editor;
  const code = await codeWithImports(pack, candidate, evidence, document.getText());
  // What is selected may be what the question was about: it stays.
  const { range, isEmptyOrWhitespace } = document.lineAt(selection.active.line);
  const at = isEmptyOrWhitespace ? range.start : range.end;
  const shown = await vscode.window.showTextDocument(document, editor.viewColumn);
  await shown.edit((edit) => edit.insert(at, isEmptyOrWhitespace ? code : `\n${code}`));
  return vscode.workspace.asRelativePath(document.uri);
}

/**
 * Copy Evidence…: asks for the form, and copies the pack that was shown last.
 *
 * @throws Problem if there is none.
 */
export async function copyShown(pack: EvidenceResult | null, evidence: Evidence): Promise<void> {
  const shown = requireShown(pack);
  const forms: (vscode.QuickPickItem & { format: "markdown" | "prompt" | "json" })[] = [
    { format: "markdown", label: vscode.l10n.t("Markdown"), detail: vscode.l10n.t("For notes and issues") },
    {
      format: "prompt",
      label: vscode.l10n.t("Prompt"),
      detail: vscode.l10n.t("In a form that language models read well"),
    },
    { format: "json", label: vscode.l10n.t("JSON"), detail: vscode.l10n.t("The whole answer, for programs") },
  ];
  const chosen = await vscode.window.showQuickPick(forms, { title: vscode.l10n.t("Copy Evidence") });
  if (chosen !== undefined) {
    const { format } = chosen;
    const text = format === "json" ? packAsJson(shown) : await evidence.render({ pack: shown, format });
    await vscode.env.clipboard.writeText(text);
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

async function codeWithImports(
  pack: EvidenceResult,
  candidate: Candidate,
  evidence: Evidence,
  there = "",
): Promise<string> {
  const { candidate_id: candidateId } = candidate;
  // Without its file, an example lacks imports at most.
  const file = await evidence.source({ candidateId }, undefined, evidence.scopeOf(pack)).catch(() => null);
  return `${codeOf(candidate, file?.text ?? "", there)}\n`;
}

/** Replaces terminal commands in the server's sentences: the private environment is not on a terminal's PATH. */

import { l10n } from "vscode";

// As the palette shows it; the category is not translated.
const CATEGORY = "ADK Evidence";

/** A sentence of the server that names the command of the palette instead of the terminal's, where there is one. */
export function forEditor(sentence: string): string {
  return sentence
    .replace(/`adk-ingest (?:all|docs|code|targets)\b[^`]*`/g, `"${CATEGORY}: ${l10n.t("Update Index")}"`)
    .replace(/`adk-evidence doctor\b[^`]*`/g, `"${CATEGORY}: ${l10n.t("Status")}"`);
}

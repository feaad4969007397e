/** Names in the server's sentences what the user can do in the editor: a private environment is on no terminal's path. */

import { l10n } from "vscode";

// As the palette shows it; the category is not translated.
const CATEGORY = "ADK Evidence";

/** A sentence of the server whose terminal commands are those of the palette, where the palette has one. */
export function forEditor(sentence: string): string {
  return sentence
    .replace(/`adk-ingest (?:all|docs|code|targets)\b[^`]*`/g, `"${CATEGORY}: ${l10n.t("Ingest Corpora")}"`)
    .replace(/`adk-evidence doctor\b[^`]*`/g, `"${CATEGORY}: ${l10n.t("Run Doctor")}"`);
}

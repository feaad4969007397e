import * as vscode from "vscode";
import { looksLikeKey, type VoyageKey } from "../server/key";

/** "Set Voyage API Key": keeps the key as a secret, or removes it; servers restart when it changes. */
export async function setVoyageApiKey(key: VoyageKey): Promise<void> {
  if (await key.isSet()) {
    const replace = vscode.l10n.t("Replace the key");
    const remove = vscode.l10n.t("Delete the key");
    const title = vscode.l10n.t("A Voyage API key is set");
    const chosen = await vscode.window.showQuickPick([replace, remove], { title });
    if (chosen === remove) {
      await key.remove();
      void vscode.window.showInformationMessage(vscode.l10n.t("The Voyage API key was deleted."));
    }
    if (chosen !== replace) {
      return;
    }
  }
  const entered = await vscode.window.showInputBox({
    title: vscode.l10n.t("Voyage API Key"),
    prompt: vscode.l10n.t("It is kept in this machine's secret storage and given to the server alone."),
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) =>
      looksLikeKey(text)
        ? undefined
        : vscode.l10n.t("A key is one word of at least 20 letters, digits, hyphens and underscores."),
  });
  if (entered === undefined) {
    return;
  }
  await key.set(entered.trim());
  void vscode.window.showInformationMessage(vscode.l10n.t("The Voyage API key is set."));
}

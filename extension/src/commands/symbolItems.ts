import * as vscode from "vscode";
import type { RankedTarget, TargetAnswer } from "../protocol/generated";
import { forEditor } from "../server/palette";
import { messageLine } from "../text/untrusted";

/** A line of the list. */
export interface SymbolItem extends vscode.QuickPickItem {
  /** Null where the line is only a remark. */
  target: RankedTarget | null;
  /** What to show in full when the line is chosen, which may be too short for it. */
  warning: string | null;
}

const ICONS: Readonly<Record<RankedTarget["type"], string>> = {
  class: "$(symbol-class)",
  function: "$(symbol-function)",
  method: "$(symbol-method)",
  property: "$(symbol-property)",
  attribute: "$(symbol-field)",
  variable: "$(symbol-variable)",
};

/** The lines of an answer, in the server's order: it also ranks what is like the text in meaning alone. */
export function symbolItems(answer: TargetAnswer, buttons: readonly vscode.QuickInputButton[]): SymbolItem[] {
  const found = answer.results.map((target) => ({
    label: `${ICONS[target.type] ?? "$(symbol-misc)"} ${messageLine(target.symbol)}`,
    description: [messageLine(target.import_path), ...marksOf(target, answer)].join(" · "),
    detail: messageLine(target.summary),
    alwaysShow: true,
    buttons,
    target,
    warning: null,
  }));
  const nothing = vscode.l10n.t("No symbol of the ADK has such a name or does this.");
  return [
    ...(found.length > 0 ? found : [remark("$(info)", nothing, null)]),
    ...answer.warnings
      .map((warning) => messageLine(forEditor(warning)))
      .map((warning) => remark("$(warning)", warning, warning)),
  ];
}

function marksOf({ available, deprecated, standing }: RankedTarget, { installed }: TargetAnswer): string[] {
  const marks: string[] = [];
  if (standing === "private") {
    marks.push(vscode.l10n.t("private"));
  } else if (standing === "internal") {
    marks.push(vscode.l10n.t("internal"));
  }
  if (available === "false") {
    marks.push(`$(warning) ${vscode.l10n.t("not in your google-adk {0}", messageLine(installed ?? "")).trim()}`);
  }
  if (deprecated) {
    marks.push(vscode.l10n.t("deprecated"));
  }
  return marks;
}

function remark(icon: string, text: string, warning: string | null): SymbolItem {
  return { label: `${icon} ${text}`, alwaysShow: true, target: null, warning };
}

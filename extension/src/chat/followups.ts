import { type ChatFollowup, l10n } from "vscode";
import { isAnswerFacts } from "../protocol/check";
import type { AnswerFacts, TaskMode } from "../protocol/generated";

/** The same question for other tasks; none where nothing was found. */
export function followupsOf(facts: AnswerFacts): ChatFollowup[] {
  const { outcome, query, taskMode } = facts;
  if (outcome === "nothing" || query.trim() === "") {
    return [];
  }
  const labels: [TaskMode, string][] = [
    ["explain", l10n.t("Explain how it works")],
    ["build", l10n.t("Show how to build it")],
    ["debug", l10n.t("Find out what can go wrong")],
  ];
  return labels.filter(([mode]) => mode !== taskMode).map(([command, label]) => ({ prompt: query, label, command }));
}

/** The facts in an answer's metadata, which the editor has kept; null if there are none. */
export function factsOf(metadata: unknown): AnswerFacts | null {
  return isAnswerFacts(metadata) ? metadata : null;
}

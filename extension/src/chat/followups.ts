import { type ChatFollowup, l10n } from "vscode";
import type { TaskMode } from "../webview/messages";
import { finite, oneOf, shapeOf, text } from "../webview/shape";
import { isTaskMode } from "./taskMode";

/** What is remembered of an answer, with the chat. */
export interface AnswerFacts {
  outcome: "answered" | "listed" | "nothing";
  packId: string;
  /** Number of pieces of evidence that the answer cites, or that are listed. */
  citations: number;
  /** The question that it is about. */
  query: string;
  taskMode: TaskMode;
}

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

const isFacts = shapeOf<AnswerFacts>({
  outcome: oneOf("answered", "listed", "nothing"),
  packId: text,
  citations: finite,
  query: text,
  taskMode: isTaskMode,
});

/** The facts in an answer's metadata, which the editor has kept; null if there are none. */
export function factsOf(metadata: unknown): AnswerFacts | null {
  return isFacts(metadata) ? metadata : null;
}

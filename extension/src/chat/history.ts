import { type ChatContext, ChatRequestTurn, ChatResponseAnchorPart, ChatResponseMarkdownPart } from "vscode";
import { factsOf } from "./followups";
import type { Message } from "./prompt";

type Turns = ChatContext["history"];

/** What was said to and by a participant, oldest first. Links of an answer are their titles: marks are of one answer. */
export function messagesOf(history: Turns, participant: string): Message[] {
  return history
    .filter((turn) => turn.participant === participant)
    .map((turn): Message => {
      if (turn instanceof ChatRequestTurn) {
        return { role: "user", text: turn.prompt };
      }
      const texts = turn.response.map((part) => {
        if (part instanceof ChatResponseMarkdownPart) {
          return part.value.value;
        }
        return part instanceof ChatResponseAnchorPart ? (part.title ?? "") : "";
      });
      return { role: "assistant", text: texts.join("") };
    })
    .filter(({ text }) => text.trim() !== "");
}

/** The question that the last answer of a participant was about; null if there is none. */
export function lastQuestion(history: Turns, participant: string): string | null {
  const answers = history.filter((turn) => turn.participant === participant && !(turn instanceof ChatRequestTurn));
  const last = answers.at(-1);
  const facts = last === undefined || last instanceof ChatRequestTurn ? null : factsOf(last.result.metadata);
  return facts === null || facts.query === "" ? null : facts.query;
}

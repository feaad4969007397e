import {
  type ChatContext,
  ChatRequestTurn,
  ChatResponseAnchorPart,
  ChatResponseMarkdownPart,
  type ChatResponseTurn,
} from "vscode";
import type { AnswerFacts } from "../protocol/generated";
import { factsOf } from "./followups";
import type { Message } from "./prompt";
import { alsoSearched } from "./wordings";

type Turns = ChatContext["history"];

/** A request that was answered. */
interface Exchange {
  request: ChatRequestTurn;
  response: ChatResponseTurn;
  facts: AnswerFacts;
}

/** What was said to and by a participant, oldest first; without requests for which nothing was found. */
export function messagesOf(history: Turns, participant: string): Message[] {
  return exchanges(history, participant).flatMap(({ request, response }): Message[] => [
    { role: "user", text: request.prompt.trim() || "What is attached is the question." },
    { role: "assistant", text: textOf(response) },
  ]);
}

/** The question that the last answer of a participant was about; null if there is none. */
export function lastQuestion(history: Turns, participant: string): string | null {
  return exchanges(history, participant).at(-1)?.facts.query ?? null;
}

function exchanges(history: Turns, participant: string): Exchange[] {
  const found: Exchange[] = [];
  let request: ChatRequestTurn | null = null;
  for (const turn of history.filter((one) => one.participant === participant)) {
    if (turn instanceof ChatRequestTurn) {
      request = turn;
      continue;
    }
    const facts = factsOf(turn.result.metadata);
    if (request !== null && facts !== null && facts.outcome !== "nothing") {
      found.push({ request, response: turn, facts });
    }
    request = null;
  }
  return found;
}

/**
 * An answer's text, without the line that says what else was searched for. A link becomes its title, because its mark has
 * a meaning in that answer alone.
 */
function textOf({ response }: ChatResponseTurn): string {
  const texts = response.map((part) => {
    if (part instanceof ChatResponseMarkdownPart) {
      return part.value.value;
    }
    return part instanceof ChatResponseAnchorPart ? (part.title ?? "") : "";
  });
  const text = texts.join("");
  return text.startsWith(alsoSearched([])) ? text.slice(text.indexOf("\n")).trimStart() : text;
}

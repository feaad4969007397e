/** What is searched for: what the user wrote, what is attached, and what a follow-up is about. */

import { questionOfText } from "../evidence/question";
import { clipQuestion } from "../text/traceback";

const FEW_WORDS = 5;
// A dot, an underscore or a capital inside of a word.
const NAME = /\w[._]\w|[a-z][A-Z]/;

/**
 * @param prompt What the user wrote.
 * @param selected Texts that are attached as a part of what is asked about.
 */
export function searchText(prompt: string, selected: readonly string[]): string {
  const texts = [prompt.trim(), ...selected.map(questionOfText)].filter((text) => text !== "");
  return clipQuestion(texts.join("\n"));
}

/** The search for a prompt that goes on with a question. */
export function continued(previous: string, search: string): string {
  return clipQuestion(`${previous}\n${search}`);
}

/** Whether a prompt says too little to search for without the previous question; one without words says nothing. */
export function isFollowUp(prompt: string): boolean {
  const words = prompt.match(/\S+/g) ?? [];
  return words.length > 0 && words.length < FEW_WORDS && !NAME.test(prompt);
}

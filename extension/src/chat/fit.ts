/** Keeps a prompt within a model's limit, as the model counts tokens; the server only estimates. */

import { Problem } from "../problem";

/** More than this helps no answer. */
const MOST_EVIDENCE_TOKENS = 8000;
const TRIES = 3;

/**
 * A text of the server that keeps to a budget.
 *
 * @param render The text of at most so many tokens, as the server estimates them.
 * @param count Tokens of a text, as the model counts them.
 * @throws Problem `no_room`, or what `render` throws.
 */
export async function fitted(
  render: (maxTokens: number) => Promise<string>,
  count: (text: string) => PromiseLike<number>,
  budget: number,
): Promise<string> {
  let allowed = Math.floor(Math.min(MOST_EVIDENCE_TOKENS, budget));
  for (let tried = 0; tried < TRIES && allowed > 0; tried++) {
    const text = await render(allowed);
    const counted = await count(text);
    if (counted <= budget) {
      return text;
    }
    allowed = Math.floor((allowed * budget * 0.95) / counted);
  }
  throw new Problem(`The evidence does not fit into ${Math.floor(budget)} tokens.`, "no_room");
}

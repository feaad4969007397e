import type { Question } from "./messages";

/** Only the question of an object that holds more. */
export function questionOf({ query, taskMode, sources, path }: Question): Question {
  return { query, taskMode, sources, path };
}

/** Whether two questions ask the same. */
export function sameQuestion(one: Question, other: Question): boolean {
  return (
    one.query === other.query &&
    one.taskMode === other.taskMode &&
    one.sources === other.sources &&
    one.path === other.path
  );
}

/** What the page knows and how events change it. */

import type { Question, SavedState, ToPage, ViewJob, ViewState } from "../messages";
import { sameQuestion } from "../question";
import { keepable } from "../savedState";

export interface Model {
  /** What the extension says is to be shown; null until it has spoken. */
  view: ViewState | null;
  draft: Question;
  /** The question that `draft` was typed over. */
  asked: Question | null;
  /** The candidate that the keyboard is on. */
  active: string | null;
  expanded: ReadonlySet<string>;
  explained: ReadonlySet<string>;
  /** What the extension had to say last; the number tells two of the same text apart. */
  said: { text: string; number: number } | null;
  /** What is missing before questions can be answered, or how far setting that up is. */
  job: ViewJob | null;
}

export type Event =
  | { type: "message"; message: ToPage }
  | { type: "draft"; draft: Question }
  | { type: "activate"; id: string }
  | { type: "expand"; id: string }
  | { type: "explain"; id: string }
  | { type: "silence" };

export const NO_QUESTION: Question = { query: "", taskMode: "build", sources: "both", path: "" };

/** The model that a page starts with; `saved` is what it was before the editor dropped it. */
export function initial(saved: SavedState | null): Model {
  return {
    view: null,
    draft: saved?.draft ?? NO_QUESTION,
    asked: saved?.view.question ?? null,
    active: saved?.active ?? null,
    expanded: new Set(),
    explained: new Set(),
    said: null,
    job: null,
  };
}

/** The model after an event. */
export function reduce(model: Model, event: Event): Model {
  switch (event.type) {
    case "message":
      return hear(model, event.message);
    case "draft":
      return { ...model, draft: event.draft };
    case "activate":
      return model.active === event.id ? model : { ...model, active: event.id };
    case "expand":
      return { ...model, expanded: toggled(model.expanded, event.id) };
    case "explain":
      return { ...model, explained: toggled(model.explained, event.id) };
    case "silence":
      return { ...model, said: null };
  }
}

function hear(model: Model, message: ToPage): Model {
  switch (message.type) {
    case "say":
      return { ...model, said: { text: message.text, number: (model.said?.number ?? 0) + 1 } };
    case "job":
      return { ...model, job: message.job };
    case "state":
      return show(model, message.state);
  }
}

/** A question of the page as it is asked: other words than those of the question before make a new question. */
export function toAsk(question: Question, before: Question): Question {
  const query = question.query.trim();
  const taskMode = query === before.query.trim() ? before.taskMode : NO_QUESTION.taskMode;
  return { ...question, query, taskMode };
}

/** What to keep with the editor; null before there is anything. */
export function saved(model: Model): SavedState | null {
  if (model.view === null) {
    return null;
  }
  return keepable({ version: 1, view: model.view, draft: model.draft, active: model.active });
}

function show(model: Model, view: ViewState): Model {
  const ids = view.pack?.candidates.map((candidate) => candidate.candidate_id) ?? [];
  const samePack = model.view === null || model.view.current === view.current;
  return {
    ...model,
    view,
    asked: view.question,
    // What is being typed stays, unless another question has been asked.
    draft: model.asked !== null && sameQuestion(model.asked, view.question) ? model.draft : view.question,
    active: samePack && model.active !== null && ids.includes(model.active) ? model.active : (ids[0] ?? null),
    expanded: samePack ? model.expanded : new Set(),
    explained: samePack ? model.explained : new Set(),
  };
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) {
    next.add(id);
  }
  return next;
}

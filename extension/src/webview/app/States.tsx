/** What the page shows where there is no pack. */

import { t } from "@vscode/l10n";
import type { Question, ViewError } from "../messages";
import { Icon } from "./Icon";
import { SafeText, Sentence } from "./SafeText";
import { keysHelp } from "./Summary";

interface EmptyProps {
  onAsk(query: string): void;
}

/** Before the first question. */
export function Empty({ onAsk }: EmptyProps) {
  return (
    <section class="empty" aria-labelledby="empty-title">
      <h2 id="empty-title">{t("Evidence from the ADK\u2019s docs and source")}</h2>
      <p>
        {t(
          "Ask a question, or select code or an error in an editor and run Find ADK Evidence. Every result carries a citation that was checked against its source.",
        )}
      </p>
      <h3>{t("Try one of these")}</h3>
      <ul class="examples">
        {examples().map((query) => (
          <li key={query}>
            <button type="button" class="example" onClick={() => onAsk(query)}>
              <Icon name="search" />
              {query}
            </button>
          </li>
        ))}
      </ul>
      <p class="hint">{keysHelp()}</p>
    </section>
  );
}

/** A question that nothing answers. */
export function Nothing({ question }: { question: Question }) {
  const narrowed = question.sources !== "both" || question.path.trim() !== "";
  return (
    <p class="hint">
      {narrowed
        ? t("Search both sources without a path, or say it in other words.")
        : t("Say it in other words, or name a class or function of the ADK.")}
    </p>
  );
}

/** While a request runs. `query` is empty while the server still makes one of the selection. */
export function Loading({ query }: { query: string }) {
  return (
    <section class="loading" aria-label={t("Loading")}>
      <p class="loading-text">
        {query === "" ? (
          t("Making a question of the selection\u2026")
        ) : (
          <>
            {t("Searching for")} <SafeText text={query} longest={300} />
          </>
        )}
      </p>
      {[0, 1, 2].map((card) => (
        <div key={card} class="skeleton" aria-hidden="true">
          <span class="bone title" />
          <span class="bone place" />
          <span class="bone text" />
        </div>
      ))}
    </section>
  );
}

/** What went wrong, and what can be done about it. */
export function Failure({ error, onAction }: { error: ViewError; onAction(id: string): void }) {
  return (
    <section class="failure" role="alert">
      <Icon name="error" />
      <div>
        <h2>{t("No evidence this time")}</h2>
        <p>
          <Sentence text={error.message} longest={2000} />
        </p>
        <div class="failure-actions">
          {error.actions.map((action, index) => (
            <button
              key={action.id}
              type="button"
              class={index === 0 ? "primary" : "secondary"}
              onClick={() => onAction(action.id)}
            >
              {action.title}
            </button>
          ))}
        </div>
      </div>
    </section>
  );
}

function examples(): string[] {
  return [
    t("How do I retry a failing tool?"),
    t("Does the tool still run when before_tool_callback returns a dict?"),
    t("How do I keep a value for all sessions of a user?"),
    t("How does an agent transfer to another agent?"),
  ];
}

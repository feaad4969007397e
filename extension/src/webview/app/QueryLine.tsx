import { t } from "@vscode/l10n";
import { useLayoutEffect, useRef } from "preact/hooks";
import { MAX_PATH, MAX_QUERY } from "../../protocol/check";
import type { Question } from "../messages";
import { Icon } from "./Icon";
import { sourceChoices, taskModes } from "./labels";

interface Props {
  draft: Question;
  loading: boolean;
  onDraft(draft: Question): void;
  onAsk(question: Question): void;
  /** A choice that was made, as against a text that is being typed. */
  onChoose(question: Question): void;
  onCancel(): void;
}

export const QUERY_ID = "query";

/** The question and what narrows it. */
export function QueryLine({ draft, loading, onDraft, onAsk, onChoose, onCancel }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = field.current;
    if (element !== null) {
      element.style.blockSize = "auto";
      element.style.blockSize = `${element.scrollHeight}px`;
    }
  }, [draft.query]);
  const ask = (event: Event) => {
    event.preventDefault();
    onAsk(draft);
  };
  return (
    <search aria-label={t("Question")}>
      <form class="query" onSubmit={ask}>
        <div class="query-line">
          <Icon name="search" />
          <textarea
            ref={field}
            id={QUERY_ID}
            rows={1}
            maxLength={MAX_QUERY}
            spellcheck={false}
            aria-label={t("Question about the ADK")}
            aria-keyshortcuts="/"
            placeholder={t("Ask about the ADK, or paste an error or a symbol")}
            value={draft.query}
            onInput={(event) => onDraft({ ...draft, query: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
                ask(event);
              }
            }}
          />
          {loading ? (
            <button type="button" class="secondary" onClick={onCancel} aria-keyshortcuts="Escape">
              {t("Cancel")}
            </button>
          ) : (
            <button type="submit" class="primary" disabled={draft.query.trim() === ""}>
              {t("Ask")}
            </button>
          )}
        </div>
        <div class="controls">
          <label class="field">
            <span class="field-label">{t("Task")}</span>
            <select
              value={draft.taskMode}
              onChange={(event) => {
                const mode = taskModes().find(({ value }) => value === event.currentTarget.value);
                if (mode !== undefined) {
                  onChoose({ ...draft, taskMode: mode.value });
                }
              }}
            >
              {taskModes().map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <fieldset class="field segments">
            <legend class="field-label">{t("Sources")}</legend>
            <div class="segment-row">
              {sourceChoices().map(({ value, label }) => (
                <label key={value} class="segment">
                  <input
                    class="segment-choice"
                    type="radio"
                    name="sources"
                    checked={draft.sources === value}
                    onChange={() => onChoose({ ...draft, sources: value })}
                  />
                  <span>{label}</span>
                </label>
              ))}
            </div>
          </fieldset>
          <label class="field grow">
            <span class="field-label">{t("Path")}</span>
            <input
              type="text"
              value={draft.path}
              maxLength={MAX_PATH}
              spellcheck={false}
              placeholder={t("All, or globs such as docs/tools/**")}
              onInput={(event) => onDraft({ ...draft, path: event.currentTarget.value })}
            />
          </label>
        </div>
      </form>
    </search>
  );
}

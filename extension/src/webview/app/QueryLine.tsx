import { t } from "@vscode/l10n";
import { useLayoutEffect, useRef } from "preact/hooks";
import { MAX_QUERY } from "../../protocol/check";
import type { Question } from "../messages";
import { Icon } from "./Icon";

interface Props {
  draft: Question;
  loading: boolean;
  onDraft(draft: Question): void;
  onAsk(question: Question): void;
  onCancel(): void;
}

export const QUERY_ID = "query";

/** The question. */
export function QueryLine({ draft, loading, onDraft, onAsk, onCancel }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) {
      return;
    }
    const fit = () => {
      element.style.blockSize = "auto";
      element.style.blockSize = `${element.scrollHeight}px`;
    };
    fit();
    // A view in a side bar is made wider and narrower.
    window.addEventListener("resize", fit);
    return () => window.removeEventListener("resize", fit);
  }, [draft.query]);
  const ask = (event: Event) => {
    event.preventDefault();
    onAsk(draft);
  };
  return (
    <search aria-label={t("Question")}>
      <form class="query-line" onSubmit={ask}>
        <textarea
          ref={field}
          id={QUERY_ID}
          rows={1}
          maxLength={MAX_QUERY}
          spellcheck={false}
          aria-label={t("Question about the ADK")}
          aria-keyshortcuts="/ Control+F"
          title={t("Enter asks, Escape goes to the results")}
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
          <button
            type="button"
            class="quiet tool"
            title={t("Cancel")}
            aria-label={t("Cancel")}
            aria-keyshortcuts="Escape"
            onClick={onCancel}
          >
            <Icon name="stop" />
          </button>
        ) : (
          <button
            type="submit"
            class="quiet tool"
            title={t("Ask")}
            aria-label={t("Ask")}
            disabled={draft.query.trim() === ""}
          >
            <Icon name="ask" />
          </button>
        )}
      </form>
    </search>
  );
}

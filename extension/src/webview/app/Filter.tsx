import { t } from "@vscode/l10n";
import { MAX_PATH } from "../../protocol/check";
import { clip, namedLine } from "../../text/untrusted";
import type { Question } from "../messages";
import { Icon } from "./Icon";
import { sourceChoices } from "./labels";

const FILTER_ID = "filter";

interface ButtonProps {
  question: Question;
  open: boolean;
  onToggle(): void;
}

/** Opens what narrows a question, and says what does. */
export function FilterButton({ question, open, onToggle }: ButtonProps) {
  const narrowed = narrowedBy(question);
  return (
    <button
      type="button"
      class={narrowed === "" ? "quiet filter" : "quiet filter narrowed"}
      title={t("Filter: sources and path")}
      aria-label={narrowed === "" ? t("Filter") : t("Filter: {0}", namedLine(clip(narrowed, 40)))}
      aria-expanded={open}
      aria-controls={open ? FILTER_ID : undefined}
      onClick={onToggle}
    >
      <Icon name="filter" />
      {narrowed === "" ? <span class="filter-label">{t("Filter")}</span> : <bdi>{namedLine(clip(narrowed, 40))}</bdi>}
    </button>
  );
}

interface Props {
  draft: Question;
  onDraft(draft: Question): void;
  onAsk(question: Question): void;
  /** A choice that was made, as against a text that is being typed. */
  onChoose(question: Question): void;
}

export function Filter({ draft, onDraft, onAsk, onChoose }: Props) {
  return (
    <form
      id={FILTER_ID}
      class="controls"
      aria-label={t("Filter")}
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(draft);
      }}
    >
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
    </form>
  );
}

/** What leaves something out of a question's results; empty if nothing does. */
function narrowedBy({ sources, path }: Question): string {
  const source = sources === "both" ? [] : [sourceChoices().find(({ value }) => value === sources)?.label ?? sources];
  return [...source, ...(path.trim() === "" ? [] : [path.trim()])].join(", ");
}

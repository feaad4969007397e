import { t } from "@vscode/l10n";
import { useState } from "preact/hooks";
import { clip } from "../../text/untrusted";
import type { HistoryItem } from "../messages";
import { Icon } from "./Icon";
import { sourceChoices, taskModes } from "./labels";
import { SafeText } from "./SafeText";
import { countOf } from "./Summary";

interface Props {
  items: HistoryItem[];
  current: string | null;
  onRecall(id: string): void;
  onClear(): void;
}

/** The session's questions: a column where there is room, else a list that folds out. */
export function History({ items, current, onRecall, onClear }: Props) {
  const [open, setOpen] = useState(false);
  if (items.length === 0) {
    return null;
  }
  return (
    <nav class={open ? "history open" : "history"} aria-labelledby="history-title">
      <div class="history-head">
        <h2 id="history-title">
          <button
            type="button"
            class="quiet history-toggle"
            aria-expanded={open}
            aria-controls="history-list"
            onClick={() => setOpen(!open)}
          >
            <Icon name="history" />
            {t("History")} <span class="count">{items.length}</span>
            <Icon name="chevron" />
          </button>
        </h2>
        <button type="button" class="quiet history-clear" onClick={onClear}>
          {t("Clear")}
        </button>
      </div>
      <ol id="history-list">
        {items.map((item) => (
          <li key={item.id}>
            <button
              type="button"
              class="history-item"
              aria-current={item.id === current ? "true" : undefined}
              onClick={() => onRecall(item.id)}
            >
              <span class="history-query">
                <SafeText text={clip(item.query, 160)} />
              </span>
              <span class="history-meta">{details(item)}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function details(item: HistoryItem): string {
  const mode = taskModes().find(({ value }) => value === item.taskMode)?.label ?? item.taskMode;
  const sources = item.sources === "both" ? [] : [sourceChoices().find(({ value }) => value === item.sources)?.label];
  return [mode, ...sources, countOf(item.results)].join(" \u00b7 ");
}

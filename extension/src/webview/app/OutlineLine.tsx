import { t } from "@vscode/l10n";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { citationOf } from "../../evidence/outlines";
import type { Outline, OutlinePart } from "../../protocol/generated";
import { namedLine } from "../../text/untrusted";
import { partsInLine } from "./excerpt";
import { SafeText } from "./SafeText";

export const LONGEST_TITLE = 120;

interface Props {
  outline: Outline;
  /** What the line says before the names. */
  label: string;
  /** The element's own id. */
  id: string;
  tab: number;
  open(citation: string): void;
}

/** What else the page, class or file of a candidate holds: a line of names, each of which opens its lines. */
export function OutlineLine({ outline, label, id, tab, open }: Props) {
  const [whole, setWhole] = useState(false);
  const { parts, more } = outline;
  const fitting = useMemo(() => partsInLine(outline), [outline]);
  const foldable = fitting < parts.length;
  return (
    <div class="outline">
      <bdi id={id}>{label}</bdi>{" "}
      <ul aria-labelledby={id}>
        {parts.slice(0, whole ? undefined : fitting).map((part, index) => (
          <Item key={index}>
            <Part part={part} tab={tab} open={() => open(citationOf(outline, part))} />
          </Item>
        ))}
        {more > 0 && (whole || !foldable) && (
          <Item>
            <button
              type="button"
              class="inline-link"
              tabIndex={tab}
              aria-label={t("{0} more in this file: open {1}", more, namedLine(outline.path, LONGEST_TITLE))}
              onClick={() => open(outline.citation)}
            >
              {t("{0} more in this file", more)}
            </button>
          </Item>
        )}
        {foldable && (
          <Item>
            <button
              type="button"
              class="inline-link outline-fold"
              tabIndex={tab}
              aria-expanded={whole}
              onClick={() => setWhole(!whole)}
            >
              {whole ? t("Show less") : t("{0} more", parts.length - fitting + more)}
            </button>
          </Item>
        )}
      </ul>
    </div>
  );
}

/** An item of a line, which may be broken after the item. */
function Item({ children }: { children: ComponentChildren }) {
  return (
    <>
      <li>{children}</li>{" "}
    </>
  );
}

function Part({ part: { name, lines }, tab, open }: { part: OutlinePart; tab: number; open(): void }) {
  return (
    <button
      type="button"
      class="inline-link"
      tabIndex={tab}
      aria-label={t("Open {0} (lines {1}\u2013{2})", namedLine(name, 300), lines.start, lines.end)}
      onClick={open}
    >
      <SafeText text={name} longest={300} />{" "}
      <span class="part-lines">{t("(lines {0}\u2013{1})", lines.start, lines.end)}</span>
    </button>
  );
}

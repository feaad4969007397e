import { t } from "@vscode/l10n";
import { useMemo } from "preact/hooks";
import type { Candidate } from "../../protocol/generated";
import { CodeText } from "./CodeText";
import { type Block, parseDocs } from "./docsText";
import { wordsApart } from "./docstrings";
import {
  type CodePiece,
  codeExcerpt,
  countLines,
  docsExcerpt,
  type Included,
  includedExcerpt,
  longest,
} from "./excerpt";
import { Markdown } from "./Markdown";
import { SafeText } from "./SafeText";
import { NO_TERMS, type Terms } from "./terms";

/** Beyond this a page stays as it is written: rendering takes time, and nobody reads that much in a card. */
const LONGEST_RENDERED = 30_000;
const MARKDOWN: ReadonlySet<string> = new Set(["md", "markdown", "mdx"]);
const LONGEST_AROUND = 4000;

/** A candidate's text, whole and as its excerpt. */
export interface Shown {
  /** Null for code. */
  blocks: { whole: Block[]; excerpt: Block[] } | null;
  code: { whole: CodePiece[]; excerpt: CodePiece[] };
  /** Lines of a file that the page includes, for the excerpt. */
  included: Included | null;
  /** Lines of the whole text. */
  lines: number;
  /** The whole text has more than the excerpt. */
  more: boolean;
  /** The whole text is not all of it. */
  cut: boolean;
}

/** Prepares a candidate's text for the page. */
export function textShown(candidate: Candidate, columns: number): Shown {
  const { text, cut } = longest(candidate.text);
  const { left_out, context, attached, import_statement, same_as, taken_by } = candidate;
  const told = import_statement !== null || taken_by.length > 0;
  const around = context !== "" || attached !== "" || told || same_as !== null;
  const whole = { text, skip: 0 };
  const included = includedExcerpt(candidate.attached_shown, columns);
  const common = { included, lines: countLines(text), cut };
  if (MARKDOWN.has(candidate.language.toLowerCase()) && text.length <= LONGEST_RENDERED) {
    const page = parseDocs(text, candidate.path_or_url, left_out, candidate.lines?.start);
    if (page.length > 0) {
      const { blocks, all } = docsExcerpt(page, candidate, columns);
      const code = { whole: [whole], excerpt: [whole] };
      return { ...common, code, blocks: { whole: page, excerpt: blocks }, more: !all || around };
    }
  }
  const excerpt = codeExcerpt(text, candidate, columns);
  const pieces = (piece: CodePiece) =>
    candidate.language === "py" ? wordsApart(text, piece, candidate.inside_string) : [piece];
  return {
    ...common,
    blocks: null,
    code: { whole: pieces(whole), excerpt: pieces(excerpt ?? whole) },
    more: excerpt !== null || around,
  };
}

interface Props {
  candidate: Candidate;
  shown: Shown;
  expanded: boolean;
  terms: Terms;
  tab: number;
}

export function Text({ candidate, shown, expanded, terms, tab }: Props) {
  const { blocks, code, included, cut, more } = shown;
  const pieces = expanded ? code.whole : code.excerpt;
  if (candidate.same_as !== null && !expanded) {
    return <p class="cut">{t("The same text as result {0}.", candidate.same_as)}</p>;
  }
  return (
    <div class={expanded || !more ? "text" : "text excerpt"}>
      {expanded && (
        <>
          <NotCited text={candidate.import_statement} language="python" label={t("Import, not cited")} />
          <NotCited text={candidate.taken_by.join("\n")} language="python" label={t("Passed to, not cited")} />
          <NotCited text={candidate.context} language={candidate.language} label={t("Context, not cited")} />
        </>
      )}
      {blocks === null ? (
        pieces.map((piece, at) => <CodeText key={at} {...piece} language={candidate.language} terms={terms} />)
      ) : (
        <Markdown blocks={expanded ? blocks.whole : blocks.excerpt} terms={terms} tab={tab} />
      )}
      {!expanded && included !== null && (
        <div class="not-cited">
          <p class="not-cited-label">
            {t("Included, not cited:")} <SafeText text={included.path} longest={300} />
          </p>
          <CodeText
            {...included.piece}
            language={included.path.slice(included.path.lastIndexOf(".") + 1)}
            terms={terms}
          />
        </div>
      )}
      {(expanded || !more) && cut && (
        <p class="cut">{t("This text is too long to show whole. Open its source for the rest.")}</p>
      )}
      {expanded && <NotCited text={candidate.attached} language="python" label={t("Included files, not cited")} />}
    </div>
  );
}

/** Lines around the cited ones. */
function NotCited({ text, language, label }: { text: string | null; language: string; label: string }) {
  const shown = useMemo(() => longest((text ?? "").slice(0, LONGEST_AROUND)), [text]);
  if (!text) {
    return null;
  }
  return (
    <div class="not-cited">
      <p class="not-cited-label">{label}</p>
      <CodeText text={shown.text} language={language} terms={NO_TERMS} />
      {(shown.cut || text.length > LONGEST_AROUND) && <p class="cut">{t("Open the source for the rest.")}</p>}
    </div>
  );
}

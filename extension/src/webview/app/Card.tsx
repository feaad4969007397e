import { t } from "@vscode/l10n";
import { useMemo } from "preact/hooks";
import { trailOf } from "../../evidence/trail";
import type { Candidate, Outline } from "../../protocol/generated";
import { namedLine } from "../../text/untrusted";
import type { OpenTarget } from "../actions";
import { CodeText } from "./CodeText";
import { body, excerpt, type Part, partsOf } from "./excerpt";
import { percent } from "./format";
import { Icon } from "./Icon";
import { driftLabels, languageLabel, locationOf, nameOf, sourceBadge, verificationLabel } from "./labels";
import { OutlineLine } from "./OutlineLine";
import { SafeText } from "./SafeText";
import { ScoreBar } from "./ScoreBar";
import { type Scores, supportOf } from "./score";
import { termPattern } from "./terms";
import { Why } from "./Why";

interface Props {
  candidate: Candidate;
  /** Of the candidate's page or class, if this card is to show it. */
  outline: Outline | null;
  scores: Scores;
  /** The page's own number: an element's id is never made of a candidate's id. */
  index: number;
  active: boolean;
  expanded: boolean;
  explained: boolean;
  actions: CardActions;
}

/** What can be done with a candidate. */
export interface CardActions {
  activate(id: string): void;
  expand(id: string): void;
  explain(id: string): void;
  open(id: string, where: OpenTarget): void;
  /** Opens lines that an outline of the pack cites. */
  openCitation(citation: string): void;
  copyCitation(id: string): void;
}

/** The element that the keyboard goes to for the candidate at `index`. */
export function cardElementId(index: number): string {
  return `card-${index}`;
}

/** One piece of evidence; rendered again only if its own data change, because there may be a hundred. */
export function Card({ candidate, outline, scores, index, active, expanded, explained, actions }: Props) {
  return useMemo(
    () => <CardContent {...{ candidate, outline, scores, index, active, expanded, explained, actions }} />,
    [candidate, outline, scores, index, active, expanded, explained, actions],
  );
}

/** Only the active card's controls are in the tab order. */
function CardContent(props: Props) {
  const { candidate, outline, scores, index, active, explained, actions } = props;
  const { candidate_id: key } = candidate;
  const tab = active ? 0 : -1;
  const id = cardElementId(index);
  const badge = sourceBadge(candidate);
  const { state, reason } = candidate.verification;
  const support = supportOf(candidate);
  return (
    <li class="result">
      <article
        class={active ? "card active" : "card"}
        id={id}
        tabIndex={tab}
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-place`}
        onFocusIn={() => actions.activate(key)}
      >
        <header class="card-head">
          <span class="rank" aria-hidden="true">
            {candidate.rank}
          </span>
          <h3 class="card-title" id={`${id}-label`}>
            <span class="hidden">{t("Result {0}, {1}:", candidate.rank, badge.label)} </span>
            <button type="button" class="title-link" tabIndex={tab} onClick={() => actions.open(key, "default")}>
              <Trail candidate={candidate} />
            </button>
          </h3>
          <span class={`verification state-${state}`}>
            <Icon name={state} />
            {verificationLabel(candidate.verification)}
          </span>
        </header>
        <div class="card-place" id={`${id}-place`}>
          <span class={`badge badge-${badge.kind}`}>
            <Icon name={badge.icon} />
            {badge.label}
          </span>
          <span class="path">
            <SafeText text={locationOf(candidate)} longest={500} />
          </span>
          {support !== null && (
            <span class="relevance" title={t("How far this text alone supports the question, on a fixed scale")}>
              <span class="hidden">{t("Support for the question")}</span>
              <ScoreBar part={support} />
              {percent(support)}
            </span>
          )}
        </div>
        {reason !== "" && (
          <p class={`reason state-${state}`}>
            <SafeText text={reason} longest={1000} />
          </p>
        )}
        {driftLabels(candidate).map((label) => (
          <p key={label} class="reason drift">
            <SafeText text={label} longest={1000} />
          </p>
        ))}
        <Text {...props} tab={tab} />
        <div class="citation">
          <code class="citation-text" title={namedLine(candidate.citation, 1000)}>
            <SafeText text={candidate.citation} />
          </code>
          <button
            type="button"
            class="quiet"
            tabIndex={tab}
            aria-label={t("Copy citation: {0}", nameOf(candidate))}
            onClick={() => actions.copyCitation(key)}
          >
            <Icon name="copy" />
            {t("Copy citation")}
          </button>
        </div>
        {outline !== null && (
          <OutlineLine outline={outline} id={`${id}-outline`} tab={tab} open={actions.openCitation} />
        )}
        <footer class="card-actions">
          {candidate.source_type === "docs" ? (
            <>
              <Action
                label={t("Open page")}
                name={nameOf(candidate)}
                icon="open"
                tab={tab}
                run={() => actions.open(key, "browser")}
              />
              <Action
                label={t("Open source")}
                name={nameOf(candidate)}
                icon="file"
                tab={tab}
                run={() => actions.open(key, "source")}
              />
            </>
          ) : (
            <Action
              label={t("Open")}
              name={nameOf(candidate)}
              icon="file"
              tab={tab}
              run={() => actions.open(key, "source")}
            />
          )}
          <button
            type="button"
            class="quiet disclosure"
            tabIndex={tab}
            aria-expanded={explained}
            aria-controls={`${id}-why`}
            onClick={() => actions.explain(key)}
          >
            <Icon name="chevron" />
            {t("Why this result")}
          </button>
        </footer>
        {explained && <Why candidate={candidate} scores={scores} id={`${id}-why`} />}
      </article>
    </li>
  );
}

function Text({ candidate, expanded, actions, tab }: Props & { tab: number }) {
  const text = useMemo(() => body(candidate.text), [candidate]);
  const terms = useMemo(() => termPattern(candidate.why.matched_terms), [candidate]);
  // Older servers do not choose passages.
  const passages = useMemo(() => (candidate.passages ?? []).map((passage) => passage.text), [candidate]);
  const shown = useMemo(() => excerpt(text, expanded, passages, terms), [text, expanded, passages, terms]);
  const whole = useMemo(() => partsOf(shown.text, candidate), [shown, candidate]);
  const more = shown.lines === 1 ? t("Show the whole line") : t("Show all {0} lines", shown.lines);
  return (
    <div class={shown.folded ? "text folded" : "text"}>
      {shown.folded ? (
        <CodeText text={shown.text} language={candidate.language} terms={terms} />
      ) : (
        <>
          <NotCited text={candidate.context} language={candidate.language} label={t("Context, not cited")} />
          {whole.map((part) => (
            <Lines key={part.start} part={part} language={candidate.language} terms={terms} tab={tab} />
          ))}
        </>
      )}
      {shown.cut && <p class="cut">{t("This text is too long to show whole. Open its source for the rest.")}</p>}
      {shown.foldable && (
        <button
          type="button"
          class="fold"
          tabIndex={tab}
          aria-expanded={expanded}
          onClick={() => actions.expand(candidate.candidate_id)}
        >
          {expanded ? t("Show less") : more}
        </button>
      )}
      {!shown.folded && (
        <NotCited text={candidate.attached} language={candidate.language} label={t("Included files, not cited")} />
      )}
    </div>
  );
}

/** Lines of the text; those for readers of another language are closed until they are asked for. */
function Lines({ part, language, terms, tab }: { part: Part; language: string; terms: RegExp | null; tab: number }) {
  if (part.language === null) {
    return <CodeText text={part.text} language={language} terms={terms} />;
  }
  return (
    <details class="other-language">
      <summary tabIndex={tab}>
        {t("Lines {0}\u2013{1}: {2}", part.start, part.end, languageLabel(part.language))}
      </summary>
      <CodeText text={part.text} language={language} terms={terms} />
    </details>
  );
}

/** Lines around the cited ones; older servers do not send them separately. */
function NotCited({ text, language, label }: { text: string | undefined; language: string; label: string }) {
  const shown = useMemo(() => excerpt(text ?? "", false), [text]);
  if (!text) {
    return null;
  }
  return (
    <div class="not-cited">
      <p class="not-cited-label">{label}</p>
      <CodeText text={shown.text} language={language} terms={null} />
      {(shown.folded || shown.cut) && <p class="cut">{t("Open the source for the rest.")}</p>}
    </div>
  );
}

function Trail({ candidate }: { candidate: Candidate }) {
  const trail = trailOf(candidate);
  return trail.map((part, index) => (
    <span
      key={index}
      class={`${index === trail.length - 1 ? "trail-last" : "trail"} ${candidate.source_type === "code" ? "symbol" : ""}`}
    >
      {index > 0 && <span class="trail-mark"> › </span>}
      <SafeText text={part} longest={300} />
    </span>
  ));
}

interface ActionProps {
  label: string;
  /** The object of the action, for users who do not see where the button stands. */
  name: string;
  icon: "open" | "file";
  tab: number;
  run(): void;
}

function Action({ label, name, icon, tab, run }: ActionProps) {
  return (
    <button type="button" class="quiet" tabIndex={tab} aria-label={`${label}: ${name}`} onClick={run}>
      <Icon name={icon} />
      {label}
    </button>
  );
}

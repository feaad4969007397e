import { t } from "@vscode/l10n";
import { useMemo } from "preact/hooks";
import { hasCode, hasExample } from "../../evidence/exampleCode";
import { permalink } from "../../evidence/page";
import { trailOf } from "../../evidence/trail";
import type { Candidate, Outline, RetrievalPlan } from "../../protocol/generated";
import { namedLine } from "../../text/untrusted";
import type { Copied, OpenTarget } from "../actions";
import { Icon, type IconName } from "./Icon";
import {
  availabilityLabels,
  driftLabels,
  errorLabel,
  locationOf,
  nameOf,
  shortLocation,
  sourceBadge,
  verificationHelp,
  verificationLabel,
} from "./labels";
import { Menu, type MenuItem } from "./Menu";
import { LONGEST_TITLE, OutlineLine } from "./OutlineLine";
import { SafeText, Sentence } from "./SafeText";
import { Text, textShown } from "./Text";
import type { Terms } from "./terms";
import { Why } from "./Why";

interface Props {
  candidate: Candidate;
  /** Of the candidate's page or class, if this card is to show it. */
  outline: Outline | null;
  /** Where else the candidate's file matches, if this card is to say so. */
  places: Outline | null;
  /** The question's terms. */
  terms: Terms;
  plan: RetrievalPlan | null;
  /** Characters in a line. */
  columns: number;
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
  copy(id: string, what: Copied): void;
}

/** The element that the keyboard goes to for the candidate at `index`. */
export function cardElementId(index: number): string {
  return `card-${index}`;
}

/** One piece of evidence; rendered again only if its own data change, because there may be a hundred. */
export function Card(props: Props) {
  const { candidate, outline, places, terms, plan, columns, index, active, expanded, explained, actions } = props;
  return useMemo(
    () => (
      <CardContent
        {...{ candidate, outline, places, terms, plan, columns, index, active, expanded, explained, actions }}
      />
    ),
    [candidate, outline, places, terms, plan, columns, index, active, expanded, explained, actions],
  );
}

/** Only the active card's controls are in the tab order. */
function CardContent(props: Props) {
  const { candidate, outline, places, terms, plan, columns, index, active, expanded, explained, actions } = props;
  const { candidate_id: key } = candidate;
  const tab = active ? 0 : -1;
  const id = cardElementId(index);
  const badge = sourceBadge(candidate);
  const [folder, file] = shortLocation(candidate);
  const shown = useMemo(() => textShown(candidate, columns), [candidate, columns]);
  return (
    <li class="result">
      <article
        class={active ? "card active" : "card"}
        id={id}
        tabIndex={tab}
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-place`}
        aria-keyshortcuts="Enter c e w j k"
        onFocusIn={() => actions.activate(key)}
      >
        <header class="card-head">
          <h3 class="card-title" id={`${id}-label`}>
            <span class="hidden">{heard(candidate, badge.label)} </span>
            <button type="button" class="title-link" tabIndex={tab} onClick={() => actions.open(key, "default")}>
              <Trail candidate={candidate} />
            </button>
          </h3>
          {candidate.verification.state === "exact" && (
            <span class="verification state-exact" title={verificationHelp("exact")}>
              <Icon name="exact" />
              <span class="hidden">{verificationLabel(candidate.verification)}</span>
            </span>
          )}
          <Tools {...props} tab={tab} />
        </header>
        <div class="card-place" id={`${id}-place`}>
          <span class={`badge badge-${badge.kind}`}>
            <Icon name={badge.icon} />
            <span class="badge-label">{badge.label}</span>
          </span>
          {(shown.more || outline !== null) && (
            <button
              type="button"
              class="quiet fold"
              tabIndex={tab}
              aria-expanded={expanded}
              aria-label={expanded ? t("Show less") : foldLabel(shown.lines)}
              title={expanded ? t("Show less (e)") : t("Show the whole text (e)")}
              onClick={() => actions.expand(key)}
            >
              <span class="fold-label">{expanded ? t("Show less") : lineCount(shown.lines)}</span>
              <Icon name="chevron" />
            </button>
          )}
          {candidate.index != null && (
            <span class="of-index" title={t("The index that holds this result")}>
              <SafeText text={candidate.index} longest={64} />
            </span>
          )}
          <span class="path" title={namedLine(locationOf(candidate), 1000)}>
            <span class="folder" style={{ "--file": file.length }}>
              <SafeText text={folder} longest={500} />
            </span>
            <SafeText text={file} longest={500} />
          </span>
          {errorLabel(candidate) !== null && <span class="error-role">{errorLabel(candidate)}</span>}
        </div>
        <Remarks candidate={candidate} />
        <Text candidate={candidate} shown={shown} expanded={expanded} terms={terms} tab={tab} />
        {places !== null && (
          <OutlineLine
            outline={places}
            label={placesLabel(places)}
            id={`${id}-places`}
            tab={tab}
            open={actions.openCitation}
          />
        )}
        {expanded && outline !== null && (
          <OutlineLine
            outline={outline}
            label={t("Also in {0}:", namedLine(outline.title, LONGEST_TITLE))}
            id={`${id}-outline`}
            tab={tab}
            open={actions.openCitation}
          />
        )}
        {explained && <Why candidate={candidate} plan={plan} id={`${id}-why`} tab={tab} />}
      </article>
    </li>
  );
}

/** What comes before the title of a card for those who hear it. */
function heard({ rank, index }: Candidate, badge: string): string {
  return index != null
    ? t("Result {0}, {1} of {2}:", rank, badge, namedLine(index, 64))
    : t("Result {0}, {1}:", rank, badge);
}

/** What keeps a reader from relying on the citation as it stands; nothing for one that holds. */
function Remarks({ candidate }: { candidate: Candidate }) {
  const { verification } = candidate;
  const { state, reason } = verification;
  return (
    <>
      {state !== "exact" && (
        <p class={`remark state-${state}`} title={verificationHelp(state)}>
          <Icon name={state} />
          <span>
            <strong class="verification">{verificationLabel(verification)}</strong>
            {reason !== "" && (
              <span class="reason">
                {" "}
                <Sentence text={reason} />
              </span>
            )}
          </span>
        </p>
      )}
      {[...availabilityLabels(candidate), ...driftLabels(candidate)].map((label) => (
        <p key={label} class="remark drift">
          <Icon name="warning" />
          <Sentence text={label} />
        </p>
      ))}
    </>
  );
}

/** Buttons that show while the card is pointed at or has the focus, and a menu of all that can be done. */
function Tools({ candidate, index, expanded, explained, actions, tab }: Props & { tab: number }) {
  const { candidate_id: key } = candidate;
  const name = nameOf(candidate);
  const isDocs = candidate.source_type === "docs";
  const openSource = () => actions.open(key, "source");
  const openPage = () => actions.open(key, "browser");
  const items: MenuItem[] = [
    { label: t("Copy citation"), keys: "c", run: () => actions.copy(key, "citation") },
    ...(permalink(candidate) !== null ? [{ label: t("Copy link"), run: () => actions.copy(key, "link") }] : []),
    ...(hasCode(candidate) ? [{ label: t("Copy code"), run: () => actions.copy(key, "code") }] : []),
    ...(hasExample(candidate) ? [{ label: t("Insert code"), run: () => actions.copy(key, "insert") }] : []),
    ...(isDocs ? [{ label: t("Open page"), run: openPage }] : []),
    { label: t("Open source"), run: openSource },
    { label: expanded ? t("Show less") : t("Show the whole text"), keys: "e", run: () => actions.expand(key) },
    { label: t("Why this result"), keys: "w", run: () => actions.explain(key) },
  ];
  return (
    <div class="tools">
      <Tool label={t("Copy citation")} name={name} icon="copy" tab={tab} run={() => actions.copy(key, "citation")} />
      {isDocs && <Tool label={t("Open page")} name={name} icon="open" tab={tab} run={openPage} />}
      <Tool label={t("Open source")} name={name} icon="file" tab={tab} run={openSource} />
      <button
        type="button"
        class="quiet tool disclosure"
        tabIndex={tab}
        title={t("Why this result (w)")}
        aria-label={`${t("Why this result")}: ${name}`}
        aria-expanded={explained}
        aria-controls={explained ? `${cardElementId(index)}-why` : undefined}
        onClick={() => actions.explain(key)}
      >
        <Icon name="why" />
      </button>
      <Menu label={t("More actions")} icon="more" tab={tab} items={items} />
    </div>
  );
}

interface ToolProps {
  label: string;
  /** The object of the action, for users who do not see where the button stands. */
  name: string;
  icon: IconName;
  tab: number;
  run(): void;
}

function Tool({ label, name, icon, tab, run }: ToolProps) {
  return (
    <button
      type="button"
      class={`quiet tool tool-${icon}`}
      tabIndex={tab}
      title={label}
      aria-label={`${label}: ${name}`}
      onClick={run}
    >
      <Icon name={icon} />
    </button>
  );
}

function Trail({ candidate }: { candidate: Candidate }) {
  const trail = trailOf(candidate);
  const isName = trail.length === 1 && trail[0] === candidate.symbol;
  return trail.map((part, index) => (
    <span key={index} class={`${index === trail.length - 1 ? "trail-last" : "trail"} ${isName ? "symbol" : ""}`}>
      {index > 0 && <span class="trail-mark"> › </span>}
      <SafeText text={part} longest={300} />
    </span>
  ));
}

function placesLabel({ parts, more }: Outline): string {
  const count = parts.length + more;
  return count === 1 ? t("1 more place in this file:") : t("{0} more places in this file:", count);
}

function foldLabel(lines: number): string {
  return lines === 1 ? t("Show the whole line") : t("Show all {0} lines", lines);
}

function lineCount(lines: number): string {
  return lines === 1 ? t("1 line") : t("{0} lines", lines);
}

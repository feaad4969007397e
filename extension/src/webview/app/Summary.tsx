import { t } from "@vscode/l10n";
import { ageOf } from "../../age";
import type { EvidenceResult } from "../../protocol/generated";
import type { CopyFormat } from "../actions";
import { retrievalTime, shortCommit } from "./format";
import { Icon, type IconName } from "./Icon";
import { qualityLabel } from "./labels";
import { Menu } from "./Menu";
import { SafeText } from "./SafeText";

/** How the warning begins that the project's version is not indexed. */
const NOT_INDEXED = "version_not_indexed: ";

const QUALITY_ICONS: Record<EvidenceResult["quality"]["level"], IconName> = {
  none: "gone",
  keyword_only: "unverified",
  mixed: "changed",
  high: "exact",
};

interface SummaryProps {
  pack: EvidenceResult;
  /** Where a pack that is no fresh answer comes from. */
  notice: string | null;
  onCopy(what: CopyFormat): void;
  onIndexVersion(): void;
}

/** A pack as a whole: how much, how good, of which version and from which index. */
export function Summary({ pack, notice, onCopy, onIndexVersion }: SummaryProps) {
  const { docs_in_top_k: docs, code_in_top_k: code } = pack.coverage;
  const origin = originOf(pack);
  // The line of the version says this in other words.
  const warnings = pack.warnings.filter((warning) => !(isOfOther(pack) && warning.startsWith(NOT_INDEXED)));
  return (
    <section class="summary" aria-label={t("Summary")}>
      <div class="summary-head">
        <h2>{countOf(pack.candidates.length)}</h2>
        <span class={`quality quality-${pack.quality.level}`}>
          <Icon name={QUALITY_ICONS[pack.quality.level] ?? "unverified"} />
          {qualityLabel(pack.quality.level)}
        </span>
        {pack.candidates.length > 0 && (
          <Menu
            label={t("Copy")}
            icon="copy"
            items={[
              { label: t("As Markdown"), run: () => onCopy("markdown") },
              { label: t("As JSON"), run: () => onCopy("json") },
              { label: t("As prompt"), run: () => onCopy("prompt") },
            ]}
          />
        )}
      </div>
      <ProjectVersion pack={pack} notice={notice} onIndexVersion={onIndexVersion} />
      {origin !== null && (
        <p class="question">
          <span class="question-origin">{origin}</span> <SafeText text={pack.queryUsed.text} longest={600} />
        </p>
      )}
      <p class="note">
        <SafeText text={pack.quality.note} longest={1000} />
      </p>
      {notice !== null && (
        <p class="note">
          <SafeText text={notice} longest={1000} />
        </p>
      )}
      {warnings.length > 0 && (
        <ul class="warnings" aria-label={t("Warnings")}>
          {warnings.map((warning, index) => (
            <li key={index}>
              <Icon name="warning" />
              <span>
                <SafeText text={sentenceOf(warning)} longest={1000} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <ul class="meta">
        {pack.candidates.length > 0 && <li>{t("{0} docs, {1} code", docs, code)}</li>}
        <IndexFacts pack={pack} />
        <RetrievalTime pack={pack} />
      </ul>
    </section>
  );
}

/** The google-adk that the project uses, and what to do where the evidence is of another version. */
function ProjectVersion({ pack, notice, onIndexVersion }: Omit<SummaryProps, "onCopy">) {
  const { adk } = pack;
  if (adk == null) {
    return null;
  }
  if (!isOfOther(pack)) {
    return (
      <p class="project">
        <SafeText text={t("google-adk {0}, from {1}", adk.wanted, adk.taken_from)} longest={300} />
      </p>
    );
  }
  const indexed = adk.indexed ?? t("another version");
  const facts = [adk.wanted, adk.taken_from, indexed];
  // The project that is open now may be another one than that of a saved pack, or use another version by now.
  const told =
    notice !== null
      ? t("When this pack was made, the project used google-adk {0} (from {1}). This evidence is of {2}.", ...facts)
      : t(
          "The project uses google-adk {0} (from {1}). That version is not indexed. This evidence is of {2}.",
          ...facts,
        );
  return (
    <p class="project">
      <Icon name="warning" /> <SafeText text={told} longest={400} />{" "}
      {notice === null && (
        <button type="button" class="secondary" onClick={onIndexVersion}>
          <SafeText text={t("Index google-adk {0}", adk.wanted)} longest={100} />
        </button>
      )}
    </p>
  );
}

/** Whether the evidence is of another version than the project's, because that is not indexed. */
function isOfOther({ adk, warnings }: EvidenceResult): boolean {
  return adk != null && adk.indexed !== adk.wanted && warnings.some((warning) => warning.startsWith(NOT_INDEXED));
}

function IndexFacts({ pack }: { pack: EvidenceResult }) {
  if (pack.index === null) {
    return <li>{t("No index")}</li>;
  }
  const commits = new Map(
    Object.values(pack.index.corpora).map((corpus) => [`${corpus.repo}@${corpus.commit}`, corpus]),
  );
  const built = ageOf(pack.index.created_at, Date.now(), document.documentElement.lang || "en");
  return (
    <>
      {[...commits].map(([key, corpus]) => (
        <li key={key} title={t("Commit")}>
          <SafeText text={corpus.repo.split("/").at(-1) ?? corpus.repo} longest={100} />{" "}
          <code>
            <SafeText text={shortCommit(corpus.commit)} longest={60} />
          </code>
        </li>
      ))}
      {built !== null && <li>{t("indexed {0}", built)}</li>}
      {pack.index.dense === "pending" && <li>{t("vectors are still being made")}</li>}
    </>
  );
}

function RetrievalTime({ pack }: { pack: EvidenceResult }) {
  const time = retrievalTime(pack.debug);
  return time === null ? null : <li>{t("found in {0}", time)}</li>;
}

/** "12 results", for the heading and for the announcement. */
export function countOf(results: number): string {
  if (results === 0) {
    return t("Nothing found");
  }
  return results === 1 ? t("1 result") : t("{0} results", results);
}

/** What the server made the question of; null if it was asked as it stands. */
function originOf(pack: EvidenceResult): string | null {
  return (
    {
      given: null,
      selection: t("Question made of the selection:"),
      name: t("Question made of the name at the cursor:"),
      line: t("Question made of the line at the cursor:"),
    }[pack.queryUsed.origin] ?? null
  );
}

/** A warning without the code that programs read. */
function sentenceOf(warning: string): string {
  return warning.replace(/^[a-z_]{1,40}: /, "");
}

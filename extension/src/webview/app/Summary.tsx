import { t } from "@vscode/l10n";
import { ageOf } from "../../age";
import type { EvidenceResult } from "../../protocol/generated";
import type { CopyFormat } from "../actions";
import { retrievalTime, shortCommit } from "./format";
import { Icon, type IconName } from "./Icon";
import { qualityLabel } from "./labels";
import { Menu } from "./Menu";
import { SafeText } from "./SafeText";

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
}

/** A pack as a whole: how much, how good, from which index. */
export function Summary({ pack, notice, onCopy }: SummaryProps) {
  const { docs_in_top_k: docs, code_in_top_k: code } = pack.coverage;
  const origin = originOf(pack);
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
      {pack.warnings.length > 0 && (
        <ul class="warnings" aria-label={t("Warnings")}>
          {pack.warnings.map((warning, index) => (
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

import { t } from "@vscode/l10n";
import { ageOf } from "../../age";
import { isOfOther, versionOf } from "../../evidence/version";
import type { EvidenceResult } from "../../protocol/generated";
import { namedLine } from "../../text/untrusted";
import { retrievalTime, shortCommit } from "./format";
import { Icon, type IconName } from "./Icon";
import { qualityLabel } from "./labels";
import { SafeText, Sentence } from "./SafeText";

/**
 * A pack in a line: how much there is, of which version, and how good where it is not good.
 *
 * `settingUp`: the card on setting up is shown.
 */
export function Summary({ pack, settingUp }: { pack: EvidenceResult; settingUp: boolean }) {
  const { level, note } = pack.quality;
  // The card on setting up says that keywords alone answer.
  const quality = settingUp && level === "keyword_only" ? null : qualityLabel(level);
  const version = versionOf(pack);
  const from = isOfOther(pack) ? undefined : pack.adk?.taken_from;
  const origin = originOf(pack);
  return (
    <section class="summary" aria-label={t("Summary")} title={keysHelp()}>
      <h2>{countOf(pack.candidates.length)}</h2>
      {version !== null && (
        <span class="version" title={from && t("Your project\u2019s version, from {0}", namedLine(from))}>
          <SafeText text={t("google-adk {0}", version)} longest={100} />
        </span>
      )}
      {quality !== null && (
        <span class="quality" title={namedLine(note, 1000)}>
          <Icon name="warning" />
          {quality}
        </span>
      )}
      {origin !== null && <span class="origin">{origin}</span>}
    </section>
  );
}

interface BannersProps {
  pack: EvidenceResult;
  /** Where a pack that is no fresh answer comes from. */
  notice: string | null;
  /** Null while a job runs, maybe the one that indexes that version. */
  onIndexVersion: (() => void) | null;
}

/** What a reader must know before the results. */
export function Banners({ pack, notice, onIndexVersion }: BannersProps) {
  // Other parts of the page say the same in other words, and as it is now: vectors may be there since.
  const told = [isOfOther(pack) ? "version_not_indexed" : "", "dense_pending"];
  const warnings = pack.warnings.filter(({ code }) => !told.includes(code));
  const { level, note } = pack.quality;
  return (
    <ul class="banners" aria-label={t("Notices")}>
      {notice !== null && <Banner icon="info" text={notice} />}
      {(level === "none" || pack.candidates.length === 0) && note !== "" && <Banner icon="gone" text={note} />}
      <OtherVersion pack={pack} notice={notice} onIndexVersion={onIndexVersion} />
      {warnings.map(({ text }, index) => (
        <Banner key={index} icon="warning" text={text} />
      ))}
    </ul>
  );
}

function Banner({ icon, text }: { icon: IconName; text: string }) {
  return (
    <li class={icon === "info" ? "banner" : "banner warning"}>
      <Icon name={icon} />
      <Sentence text={text} />
    </li>
  );
}

/** What to do where the evidence is of another google-adk than the project's. */
function OtherVersion({ pack, notice, onIndexVersion }: BannersProps) {
  const { adk } = pack;
  if (adk == null || !isOfOther(pack)) {
    return null;
  }
  const facts = [adk.wanted, adk.taken_from, adk.indexed ?? t("another version")];
  // The project that is open now may be another one than that of a saved pack, or use another version by now.
  const told =
    notice !== null
      ? t("When this answer was saved, the project used google-adk {0} (from {1}). This evidence is of {2}.", ...facts)
      : t(
          "The project uses google-adk {0} (from {1}). That version is not indexed. This evidence is of {2}.",
          ...facts,
        );
  return (
    <li class="banner warning project">
      <Icon name="warning" />
      <span>
        <SafeText text={told} longest={400} />{" "}
        {notice === null && onIndexVersion !== null && (
          <button type="button" class="inline-link" onClick={onIndexVersion}>
            <SafeText text={t("Index google-adk {0}", adk.wanted)} longest={100} />
          </button>
        )}
      </span>
    </li>
  );
}

/** Which index the results are from, at their end. */
export function Facts({ pack }: { pack: EvidenceResult }) {
  const { docs_in_top_k: docs, code_in_top_k: code } = pack.coverage;
  const time = retrievalTime(pack.debug);
  return (
    <ul class="meta" aria-label={t("Index")}>
      {pack.candidates.length > 0 && <li>{t("{0} docs, {1} code", docs, code)}</li>}
      <IndexFacts pack={pack} />
      {time !== null && <li>{t("found in {0}", time)}</li>}
    </ul>
  );
}

function IndexFacts({ pack }: { pack: EvidenceResult }) {
  if (pack.index === null) {
    return <li>{t("No index")}</li>;
  }
  const corpora = [pack.index, pack.beside?.index].flatMap((index) => Object.values(index?.corpora ?? {}));
  const commits = new Map(corpora.map((corpus) => [`${corpus.repo}@${corpus.commit}`, corpus]));
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
    </>
  );
}

/** "12 results", for the heading and for the announcement. */
export function countOf(results: number): string {
  if (results === 0) {
    return t("Nothing found");
  }
  return results === 1 ? t("1 result") : t("{0} results", results);
}

/** The keys of the page, for its tooltips and for those who hear it. */
export function keysHelp(): string {
  return t("Keys: j and k walk the results, Enter opens, c copies the citation, e shows all, w tells why, / asks.");
}

/** What the server made the question of; null if it was asked as it stands. */
function originOf(pack: EvidenceResult): string | null {
  return (
    {
      given: null,
      selection: t("from the selection"),
      name: t("from the name at the cursor"),
      line: t("from the line at the cursor"),
    }[pack.queryUsed.origin] ?? null
  );
}

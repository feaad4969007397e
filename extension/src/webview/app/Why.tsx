import { t } from "@vscode/l10n";
import type { Candidate } from "../../protocol/generated";
import { percent, scoreText } from "./format";
import { branchLabel } from "./labels";
import { SafeText } from "./SafeText";
import { ScoreBar } from "./ScoreBar";
import { type Scores, supportOf } from "./score";

/** Why a candidate stands where it stands. */
export function Why({ candidate, scores, id }: { candidate: Candidate; scores: Scores; id: string }) {
  const { why } = candidate;
  const support = supportOf(candidate);
  const features = Object.entries(why.features);
  return (
    <div class="why" id={id}>
      <p class="why-path">{journey(candidate)}</p>
      <table class="scores">
        <caption class="hidden">{t("Scores")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("Step")}</th>
            <th scope="col" class="number">
              {t("Rank")}
            </th>
            <th scope="col" class="wide">
              {t("Relative to the best of these results")}
            </th>
            <th scope="col" class="number">
              {t("Score")}
            </th>
          </tr>
        </thead>
        <tbody>
          {scores.branches.map((branch, index) => (
            <ScoreRow key={index} name={branchLabel(branch.branch)} rank={branch.rank} bar={branch} />
          ))}
          {scores.fused !== null && <ScoreRow name={t("Fused")} rank={why.fused_rank} bar={scores.fused} />}
          {scores.rerank !== null && <ScoreRow name={t("Reranked")} rank={candidate.rank} bar={scores.rerank} />}
        </tbody>
      </table>
      <dl class="facts">
        {why.named && (
          <>
            <dt>{t("Named by the question")}</dt>
            <dd>
              <SafeText text={why.named} longest={300} />
            </dd>
          </>
        )}
        {why.matched_terms.length > 0 && (
          <>
            <dt>{t("Matched terms")}</dt>
            <dd class="terms">
              {why.matched_terms.map((term, index) => (
                <span key={index} class="term">
                  <SafeText text={term} longest={80} />
                </span>
              ))}
            </dd>
          </>
        )}
        {features.length > 0 && (
          <>
            <dt>{t("Reranker\u2019s features")}</dt>
            <dd>
              <table class="features">
                <tbody>
                  {features.map(([name, value]) => (
                    <tr key={name}>
                      <th scope="row">
                        <SafeText text={name} longest={80} />
                      </th>
                      <td class="number">{scoreText(value)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </dd>
          </>
        )}
        {support !== null && (
          <>
            <dt>{t("Support for the question")}</dt>
            <dd>{percent(support)}</dd>
          </>
        )}
        <dt>{t("Citation\u2019s confidence")}</dt>
        <dd>
          {{ high: t("High"), medium: t("Medium"), low: t("Low") }[candidate.citation_confidence] ?? t("Unknown")}
        </dd>
        <dt>{t("Length")}</dt>
        <dd>{t("{0} tokens", candidate.text_tokens)}</dd>
      </dl>
    </div>
  );
}

function ScoreRow({ name, rank, bar }: { name: string; rank: number | null; bar: { part: number; value: number } }) {
  return (
    <tr>
      <th scope="row">
        <SafeText text={name} longest={80} />
      </th>
      <td class="number">{rank ?? "\u2013"}</td>
      <td class="wide">
        <ScoreBar part={bar.part} />
      </td>
      <td class="number">{scoreText(bar.value)}</td>
    </tr>
  );
}

/** How it came to its rank, as a sentence. */
function journey({ rank, why }: Candidate): string {
  if (why.pool_rank === null) {
    return t("Ranked {0}.", rank);
  }
  const moved = why.rerank_moved ?? 0;
  if (moved === 0) {
    return t("Entered the pool at {0}; the reranker left it there.", why.pool_rank);
  }
  const places = Math.abs(moved) === 1 ? t("1 place") : t("{0} places", Math.abs(moved));
  return moved > 0
    ? t("Entered the pool at {0}; the reranker moved it up {1}.", why.pool_rank, places)
    : t("Entered the pool at {0}; the reranker moved it down {1}.", why.pool_rank, places);
}

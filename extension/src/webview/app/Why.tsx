import { t } from "@vscode/l10n";
import type { Candidate, RetrievalPlan } from "../../protocol/generated";
import { percent } from "./format";
import { branchLabel, supportOf, verificationHelp } from "./labels";
import { SafeText } from "./SafeText";

interface Props {
  candidate: Candidate;
  plan: RetrievalPlan | null;
  id: string;
}

/** Why a candidate stands where it stands, what it is cited by and how far it can be relied on. */
export function Why({ candidate, plan, id }: Props) {
  const { why } = candidate;
  const support = supportOf(candidate);
  const moved = movedUp(why.moved_up ?? null);
  return (
    <dl class="why" id={id}>
      {why.branches.map(({ branch, rank }, index) => (
        <Fact key={index} name={branchLabel(branch)} text={placeOf(rank, limitOf(plan, branch))} />
      ))}
      {reranked(candidate) !== null && <Fact name={t("After reranking")} text={reranked(candidate) ?? ""} />}
      {why.named && <Fact name={t("Named by the question")} text={why.named} />}
      {why.task && <Fact name={t("Part of a task")} text={t("{0} for: {1}", why.task_role ?? "", why.task)} />}
      {moved !== null && <Fact name={t("Moved up")} text={moved} />}
      {why.matched_terms.length > 0 && (
        <>
          <dt>{t("Words of the question")}</dt>
          <dd class="terms">
            {why.matched_terms.map((term, index) => (
              <span key={index} class="term">
                <SafeText text={term} longest={80} />
              </span>
            ))}
          </dd>
        </>
      )}
      {support !== null && (
        <Fact name={t("Support")} text={t("{0}, by this text alone, on a fixed scale", percent(support))} />
      )}
      <dt>{t("Citation")}</dt>
      <dd>
        <code class="citation-text">
          <SafeText text={candidate.citation} />
        </code>
      </dd>
      <Fact name={t("Checked")} text={verificationHelp(candidate.verification.state)} />
      <Fact name={t("Length")} text={t("{0} tokens", candidate.text_tokens)} />
    </dl>
  );
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <>
      <dt>
        <SafeText text={name} longest={80} />
      </dt>
      <dd>
        <SafeText text={text} longest={300} />
      </dd>
    </>
  );
}

/** The most results that a branch of retrieval gives; null where a plan does not say. */
function limitOf(plan: RetrievalPlan | null, branch: string): number | null {
  const limits = new Map(Object.entries(plan?.prefetch_limits ?? {}));
  return limits.get(branch) ?? limits.get(branch.split("#", 1)[0] ?? branch) ?? null;
}

function placeOf(rank: number, limit: number | null): string {
  return limit === null ? t("place {0}", rank) : t("place {0} of {1}", rank, limit);
}

/** The place that the reranker gave it, and the one that it had before; null where no reranker saw it. */
function reranked({ rank, rerank_score, why }: Candidate): string | null {
  if (why.pool_rank === null || rerank_score === null) {
    return null;
  }
  const place = why.ranking_place ?? rank;
  return place === why.pool_rank
    ? t("place {0}, as before", place)
    : t("place {0}, before it {1}", place, why.pool_rank);
}

/** Why a result is here though others rank better; null where there is no reason, or one that only newer servers know. */
function movedUp(reason: string | null): string | null {
  switch (reason) {
    case "example":
      return t("as an example of the code");
    case "kind":
      return t("so that docs and code are both there");
    case "neighbour":
      return t("as another part of what is shown already");
    default:
      return null;
  }
}

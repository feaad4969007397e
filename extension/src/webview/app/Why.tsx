import { t } from "@vscode/l10n";
import type { ComponentChildren } from "preact";
import type { Candidate, RetrievalPlan } from "../../protocol/generated";
import { percent } from "./format";
import { branchLabel, fitLabel, verificationHelp } from "./labels";
import { SafeText } from "./SafeText";

interface Props {
  candidate: Candidate;
  plan: RetrievalPlan | null;
  id: string;
  tab: number;
}

/** Why a candidate is here, how well it fits and what it is cited by: a line each; the numbers when they are asked for. */
export function Why({ candidate, plan, id, tab }: Props) {
  const { why, support, citation, verification } = candidate;
  return (
    <div class="why" id={id}>
      <dl>
        <Fact name={t("Found")}>
          <SafeText text={foundBy(candidate)} longest={500} />
        </Fact>
        {support !== null && <Fact name={t("Fits the question")}>{fitLabel(support)}</Fact>}
        <Fact name={t("Citation")}>
          <code class="citation-text">
            <SafeText text={citation} />
          </code>{" "}
          {verificationHelp(verification.state)}
        </Fact>
      </dl>
      <details>
        <summary tabIndex={tab}>{t("Numbers")}</summary>
        <dl>
          {why.branches.map(({ branch, rank }, index) => (
            <Fact key={index} name={branchLabel(branch)}>
              {placeOf(rank, limitOf(plan, branch))}
            </Fact>
          ))}
          {why.pool_rank !== null && <Fact name={t("All together")}>{t("place {0}", why.pool_rank)}</Fact>}
          {candidate.rerank_score !== null && (
            <Fact name={t("After a closer look")}>{t("place {0}", why.ranking_place ?? candidate.rank)}</Fact>
          )}
          {support !== null && <Fact name={t("Fits the question")}>{percent(Math.min(1, Math.max(0, support)))}</Fact>}
        </dl>
      </details>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>
        <SafeText text={name} longest={80} />
      </dt>
      <dd>{children}</dd>
    </>
  );
}

/** How the search came to a candidate, in a sentence. */
function foundBy({ why }: Candidate): string {
  const { branches, matched_terms: terms, named, task, moved_up } = why;
  const ways = new Set(branches.map(({ branch }) => branchLabel(branch.split("#", 1)[0] ?? branch)));
  const parts = [
    [...ways].join(", "),
    terms.length > 0 ? t("words of the question: {0}", terms.join(", ")) : "",
    named ?? "",
    task ? t("part of a task: {0}", task) : "",
    movedUp(moved_up ?? null),
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** The most results that a branch of retrieval gives; null where a plan does not say. */
function limitOf(plan: RetrievalPlan | null, branch: string): number | null {
  const limits = new Map(Object.entries(plan?.prefetch_limits ?? {}));
  return limits.get(branch) ?? limits.get(branch.split("#", 1)[0] ?? branch) ?? null;
}

function placeOf(rank: number, limit: number | null): string {
  return limit === null ? t("place {0}", rank) : t("place {0} of {1}", rank, limit);
}

/** Why a result is here though others rank better; empty where there is no reason, or one that only newer servers know. */
function movedUp(reason: string | null): string {
  switch (reason) {
    case "example":
      return t("shown as an example of the code");
    case "kind":
      return t("shown so that docs and code are both there");
    case "neighbour":
      return t("shown as another part of what is here already");
    default:
      return "";
  }
}

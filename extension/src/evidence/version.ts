import type { EvidenceResult } from "../protocol/generated";

/** Of a release; a checkout has a commit. */
const RELEASE = /^v?(\d[\w.]*)$/;

/** Whether the evidence is of another version than the project's, because that is not indexed. */
export function isOfOther({ adk, warnings }: Pick<EvidenceResult, "adk" | "warnings">): boolean {
  return adk != null && adk.indexed !== adk.wanted && warnings.some(({ code }) => code === "version_not_indexed");
}

/** The version of google-adk that the evidence is of; null where that is not a release. */
export function versionOf({ adk, index }: EvidenceResult): string | null {
  const corpus = Object.values(index?.corpora ?? {}).find(({ repo }) => repo === "google/adk-python");
  return adk?.indexed ?? RELEASE.exec(corpus?.commit ?? "")?.[1] ?? null;
}

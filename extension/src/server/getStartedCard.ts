/** The panel's card on setting up: consent, progress, or what is missing. */

import { l10n } from "vscode";
import { beside, type Fix } from "../problem";
import { messageLine } from "../text/untrusted";
import type { JobState } from "./getStarted";
import { leftText, runningLine } from "./getStartedText";
import { FIXES } from "./problems";
import { type Situation, statusKind } from "./statusText";

/** A card for the panel. Its texts are plain. */
export interface JobView {
  readonly title: string;
  readonly lines: string[];
  /** How much is done, from 0 to 1; null while nothing runs. */
  readonly fraction: number | null;
  /** The time that is left, or empty. */
  readonly left: string;
  readonly actions: readonly Fix[];
}

/**
 * The card for a state; null where nothing is missing.
 *
 * @param begun The user has consented before, and the job has not ended since.
 * @param consent What the user consents to, a sentence a line.
 */
export function jobView(job: JobState, situation: Situation, begun: boolean, consent: string[]): JobView | null {
  if (job.phase === "running") {
    return {
      title: job.title || l10n.t("Setting up ADK Evidence"),
      lines: [runningLine(job, situation.index)],
      fraction: job.fraction,
      left: leftText(job),
      actions: [FIXES.stop()],
    };
  }
  const missing = missingText(situation);
  if (isStopped(job, situation, begun)) {
    return stopped(job, missing);
  }
  if (job.withoutGuides !== null) {
    return still(
      l10n.t("The guides are missing"),
      [l10n.t("The guides (google/adk-docs) could not be fetched: {0}", messageLine(job.withoutGuides))],
      [FIXES.fetchGuides(), FIXES.dismiss()],
    );
  }
  switch (statusKind(situation)) {
    case "notSetUp":
    case "restricted":
    case "noIndex":
      return still(l10n.t("Get started with ADK Evidence"), consent, [FIXES.consent()]);
    case "partial":
      return still(l10n.t("The index is not complete"), missing === null ? [] : [missing], [FIXES.resume()]);
    default:
      return null;
  }
}

/** Whether the card for a state says what the user consents to. */
export function asksForConsent(job: JobState, situation: Situation, begun: boolean): boolean {
  const first = ["notSetUp", "restricted", "noIndex"].includes(statusKind(situation));
  return first && job.withoutGuides === null && !isStopped(job, situation, begun);
}

function isStopped({ phase }: JobState, situation: Situation, begun: boolean): boolean {
  if (phase !== "stopped") {
    // That it was begun may have been in another window, and long ago.
    return begun && missingText(situation) !== null;
  }
  // Another command may have completed the index meanwhile.
  return !(statusKind(situation) === "ready" && situation.index !== undefined);
}

/** What keeps answers from being found, or from being found by meaning; null where nothing does. */
export function missingText(situation: Situation): string | null {
  switch (statusKind(situation)) {
    case "notSetUp":
    case "restricted":
      return l10n.t("The packages are not installed, and nothing is indexed.");
    case "noIndex":
      return l10n.t("Nothing is indexed yet.");
    case "partial":
      return situation.index?.dense === "pending"
        ? l10n.t(
            "Answers are found by keywords alone: the meaning of the texts is not read to the end. What is read already is kept.",
          )
        : l10n.t("Questions are answered, but the list of symbols is not complete.");
    default:
      return null;
  }
}

function stopped({ problem }: JobState, missing: string | null): JobView {
  const lines = [problem === null ? "" : messageLine(problem.message), missing ?? ""];
  const resume = FIXES.resume();
  const fixes = [resume, ...beside(resume, problem?.fixes ?? [])];
  return still(l10n.t("Setting up is not complete"), lines.filter(Boolean), fixes);
}

function still(title: string, lines: string[], actions: readonly Fix[]): JobView {
  return { title, lines, fraction: null, left: "", actions };
}

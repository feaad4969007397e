/** The panel's card on setting up: consent, progress, or what is missing. */

import { l10n } from "vscode";
import { beside, type Fix } from "../problem";
import { messageLine } from "../text/untrusted";
import type { JobState, Outcome } from "./getStarted";
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
      // The title of a task says all, and is there where the room is short, too.
      lines: job.title ? [] : [runningLine(job, situation.index)],
      fraction: job.fraction,
      left: leftText(job),
      actions: [FIXES.stop()],
    };
  }
  const end = ended(job);
  if (end !== null) {
    return still(job.title || l10n.t("Setting up ADK Evidence"), end.lines, [...end.actions, FIXES.dismiss()]);
  }
  const missing = missingText(situation);
  if (isStopped(job, situation, begun)) {
    return stopped(job, missing);
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
  return first && ended(job) === null && !isStopped(job, situation, begun);
}

/** What the last job came to; null where that was dismissed, or setting up has stopped. */
function ended({ phase, outcome, problem }: JobState): Outcome | null {
  if (problem === null || phase === "stopped") {
    return outcome;
  }
  return problem.code === "cancelled"
    ? { lines: [l10n.t("You stopped it. What is done is kept: the next time, it goes on from there.")], actions: [] }
    : { lines: [messageLine(problem.message)], actions: problem.fixes };
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

/** What is said of the job that sets everything up. */

import { l10n } from "vscode";
import type { IndexInfo } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { JobState, JobStep } from "./getStarted";

const STEPS: Record<JobStep, () => string> = {
  packages: () => l10n.t("Installing packages"),
  server: () => l10n.t("Starting the server"),
  reading: () => l10n.t("Reading the docs and the code"),
  keywords: () => l10n.t("Building the keyword index"),
  vectors: () => l10n.t("Reading the meaning of passages"),
  writing: () => l10n.t("Writing the index"),
  symbols: () => l10n.t("Listing the symbols"),
};

/** What the job does at present: "Installing packages: numpy". */
export function stepText({ step, detail }: JobState): string {
  return detail === "" ? STEPS[step]() : `${STEPS[step]()}: ${messageLine(detail)}`;
}

/** "about 4 minutes left"; empty while that is not known. */
export function leftText({ secondsLeft }: JobState): string {
  if (secondsLeft === null) {
    return "";
  }
  const minutes = Math.round(secondsLeft / 60);
  if (minutes < 1) {
    return l10n.t("less than a minute left");
  }
  return minutes === 1 ? l10n.t("about a minute left") : l10n.t("about {0} minutes left", minutes);
}

export function percent({ fraction }: JobState): number {
  return Math.floor(100 * fraction);
}

/**
 * The line that the status item and the panel show while the job runs: the step, until questions are answered.
 *
 * @param index The index that answers at present. An earlier job may have built a part of this index.
 */
export function runningLine(job: JobState, index: IndexInfo | null | undefined): string {
  const keywords = job.answers === "keywords" || (job.answers === "nothing" && index?.dense === "pending");
  return keywords ? l10n.t("Answers are found by keywords until this is done.") : stepText(job);
}

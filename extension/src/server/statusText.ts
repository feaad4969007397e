/** What the status item says of a server and its index. */

import { l10n } from "vscode";
import { ageOf } from "../age";
import type { IndexInfo, ProjectStatus } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { JobState } from "./getStarted";
import { leftText, percent, runningLine } from "./getStartedText";
import type { ServerState } from "./managedServer";
import { otherVersion, projectLine } from "./project";
import { NOT_SET_UP } from "./setUpCodes";

export type StatusKind =
  | "settingUp"
  | "idle"
  | "starting"
  | "ready"
  | "partial"
  | "noIndex"
  | "notSetUp"
  | "restricted"
  | "down";

/** What is known of a folder. `index` is undefined until the server has told; `project` uses google-adk. */
export interface Situation {
  readonly state: ServerState;
  readonly index: IndexInfo | null | undefined;
  /** False where the list of the index's symbols is not complete. */
  readonly symbols?: boolean | undefined;
  readonly trusted: boolean;
  readonly project?: ProjectStatus | null;
  /** The job that sets everything up. */
  readonly job?: JobState;
}

export interface StatusText {
  readonly kind: StatusKind;
  /** With the editor's icons. */
  readonly text: string;
  /** Plain text: it quotes the index. */
  readonly tooltip: string;
}

export function statusKind({ state, index, symbols, trusted, job }: Situation): StatusKind {
  if (job?.phase === "running") {
    return "settingUp";
  }
  switch (state.kind) {
    case "idle":
    case "starting":
      return state.kind;
    case "ready":
      if (index === null) {
        return "noIndex";
      }
      return index?.dense === "pending" || symbols === false ? "partial" : "ready";
    case "down":
      if (!NOT_SET_UP.includes(state.problem.code)) {
        return "down";
      }
      return trusted ? "notSetUp" : "restricted";
  }
}

/**
 * @param now For the index's age.
 * @param locale The language of the editor.
 */
export function statusText(situation: Situation, now: Date, locale: string): StatusText {
  const kind = statusKind(situation);
  const { job } = situation;
  if (job !== undefined && kind === "settingUp") {
    const title = `${job.title || LABELS.settingUp()}: ${percent(job)} %`;
    const lines = [title, runningLine(job, situation.index), leftText(job)];
    const text = `${ICONS.settingUp} ADK ${percent(job)} %`;
    return { kind, text, tooltip: lines.filter(Boolean).join("\n") };
  }
  // Before the server has told, nobody knows whether there is an index.
  const known = kind === "ready" && situation.index === undefined ? "starting" : kind;
  const lines = [incomplete(situation) ?? LABELS[known]()];
  if (situation.state.kind === "down") {
    lines.push(situation.state.problem.message);
  }
  const project = situation.state.kind === "ready" ? situation.project : null;
  const other = project ? otherVersion(project, Boolean(situation.index)) : null;
  if (project) {
    lines.push(projectLine(project), other ?? "");
  }
  const icon = other !== null ? "$(warning)" : ICONS[known];
  if (situation.state.kind === "ready" && situation.index) {
    lines.push(...indexLines(situation.index, now, locale));
  }
  if (!situation.trusted) {
    lines.push(l10n.t("Restricted Mode: this folder's own interpreter and index are not used."));
  }
  const name = project ? `ADK ${messageLine(project.version)}` : "ADK";
  return { kind, text: `${icon} ${name}`, tooltip: lines.filter(Boolean).join("\n") };
}

const ICONS: Record<StatusKind, string> = {
  settingUp: "$(loading~spin)",
  idle: "$(circle-outline)",
  starting: "$(loading~spin)",
  ready: "$(verified)",
  partial: "$(warning)",
  noIndex: "$(database)",
  notSetUp: "$(tools)",
  restricted: "$(shield)",
  down: "$(error)",
};

const LABELS: Record<StatusKind, () => string> = {
  settingUp: () => l10n.t("ADK Evidence is being set up"),
  idle: () => l10n.t("ADK Evidence is installed, and starts with a Python file or a question"),
  starting: () => l10n.t("ADK Evidence is starting"),
  ready: () => l10n.t("ADK Evidence is ready"),
  partial: () => l10n.t("The index is not complete"),
  noIndex: () => l10n.t("ADK Evidence: nothing is indexed yet"),
  notSetUp: () => l10n.t("ADK Evidence is not set up"),
  restricted: () => l10n.t("ADK Evidence is not set up, and this folder is not trusted"),
  down: () => l10n.t("ADK Evidence does not run"),
};

/** What an index that answers lacks, and how to go on; null where it lacks nothing. */
export function incomplete({ index, symbols }: Pick<Situation, "index" | "symbols">): string | null {
  if (index?.dense === "pending") {
    return l10n.t(
      "ADK Evidence answers by keywords alone: the meaning of the texts is not read yet. Unless another window reads it, Resume goes on where the last set-up stopped.",
    );
  }
  return symbols === false
    ? l10n.t(
        "ADK Evidence answers, but its list of symbols is not complete. Unless another window completes it, Resume goes on where the last set-up stopped.",
      )
    : null;
}

/** What an index holds, and how old it is. */
export function indexLines(index: IndexInfo, now: Date, locale: string): string[] {
  const corpora = Object.values(index.corpora).map(({ repo, commit, ref }) =>
    messageLine(`${repo}@${ref ?? commit.slice(0, 12)}`),
  );
  const made = l10n.t(
    "Index made {0}",
    messageLine(ageOf(index.created_at, now.getTime(), locale) ?? index.created_at),
  );
  const guides = "adk_docs" in index.corpora ? [] : [l10n.t("The guides (google/adk-docs) are not indexed.")];
  // What is made of a corpus has the corpus's commit.
  return [made, ...new Set(corpora), ...guides];
}

/** The doctor's report as Markdown. */

import { env, l10n } from "vscode";
import { withoutCredentials } from "../log";
import type { Problem } from "../problem";
import type { ServerStatus } from "../protocol/generated";
import { forEditor } from "../server/palette";
import { otherVersion, projectLine, projectName } from "../server/project";
import type { Origin, Resolution } from "../server/resolve";
import { incomplete, indexLines } from "../server/statusText";
import { codeSpan, markdownLine } from "../text/untrusted";

export interface Examination {
  readonly extension: string;
  readonly editor: string;
  readonly trusted: boolean;
  readonly resolution: Resolution;
  /** What the server says; the problem where it does not. */
  readonly outcome: { readonly status: ServerStatus } | { readonly problem: Problem };
}

const MARKS = { ok: "✓", note: "!", broken: "✗" } as const;

export function doctorReport(found: Examination): string {
  const lines = [`# ${l10n.t("What Is Set Up")}`, "", summary(found), ""];
  if ("status" in found.outcome) {
    lines.push(...statusLines(found.outcome.status), ...indexSections(found.outcome.status));
  }
  lines.push(`## ${l10n.t("How the server was chosen")}`, "");
  for (const step of found.resolution.trail) {
    lines.push(`- ${originName(step.origin)}: ${markdownLine(step.found)}`);
  }
  if ("launch" in found.resolution) {
    const { command, args } = found.resolution.launch;
    lines.push("", `${l10n.t("It is started as")} ${codeSpan(withoutCredentials([command, ...args].join(" ")))}.`);
  }
  lines.push("", `## ${l10n.t("Editor")}`, "");
  lines.push(
    `- ${l10n.t("Extension")}: ${markdownLine(found.extension)}`,
    `- ${l10n.t("Editor")}: ${markdownLine(found.editor)}`,
  );
  lines.push(
    found.trusted
      ? `- ${l10n.t("The workspace is trusted.")}`
      : `- ${l10n.t("Restricted Mode: this folder's own interpreter and index are not used.")}`,
  );
  return `${lines.join("\n")}\n`;
}

function summary({ outcome }: Examination): string {
  if ("problem" in outcome) {
    return `**${l10n.t("The server does not run.")}** ${markdownLine(outcome.problem.message)}`;
  }
  const { status } = outcome;
  const broken = status.findings.filter(({ state }) => state === "broken").length;
  if (broken > 0 || status.settings_problem) {
    return `**${l10n.t("Something is missing or broken.")}**`;
  }
  return incomplete(status) === null
    ? `**${l10n.t("Everything that is needed is there.")}**`
    : `**${l10n.t("The index is not complete")}.**`;
}

function statusLines(status: ServerStatus): string[] {
  const lines = [`## ${l10n.t("Findings")}`, ""];
  if (status.settings_problem) {
    lines.push(`- ${MARKS.broken} ${markdownLine(status.settings_problem)}`);
  }
  for (const { what, state, found, mend } of status.findings) {
    lines.push(`- ${MARKS[state] ?? "?"} **${markdownLine(what)}**: ${sentence(found)}`);
    if (mend) {
      lines.push(`  - ${markdownLine(forEditor(mend))}`);
    }
  }
  for (const project of status.projects) {
    const other = otherVersion(project, status.index !== null);
    const mark = other === null ? MARKS.ok : MARKS.note;
    const line = [projectLine(project), other].filter((part) => part !== null).join(". ");
    lines.push(`- ${mark} **${markdownLine(projectName(project))}**: ${markdownLine(line)}`);
  }
  return [...lines, ""];
}

/** What is indexed; the findings name the models. */
function indexSections(status: ServerStatus): string[] {
  const { index, ingesting } = status;
  const lines: string[] = [];
  if (index !== null) {
    const lacking = ingesting ? null : incomplete(status);
    const held = [...indexLines(index, new Date(), env.language), ...(lacking === null ? [] : [lacking])];
    lines.push(`## ${l10n.t("Index")}`, "", ...held.map((line) => `- ${markdownLine(line)}`), "");
  }
  if (ingesting) {
    lines.push(l10n.t("The index is being updated."), "");
  }
  return lines;
}

/** A sentence of the server in Markdown, in which nothing is markup but names in backticks. */
function sentence(text: string): string {
  return markdownLine(text).replace(/\\`(.+?)\\`/g, (_, code: string) => codeSpan(code.replace(/\\(.)/g, "$1")));
}

function originName(origin: Origin): string {
  switch (origin) {
    case "command":
      return l10n.t("Command");
    case "interpreter":
      return l10n.t("Interpreter");
    case "checkout":
      return l10n.t("Checkout");
    case "pythonExtension":
      return l10n.t("Python extension");
    case "privateEnvironment":
      return l10n.t("Private environment");
  }
}

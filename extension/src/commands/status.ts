import * as vscode from "vscode";
import { ageOf } from "../age";
import type { Evidence } from "../evidence/client";
import { type Fix, Problem } from "../problem";
import type { FindingInfo, IndexInfo, ProjectStatus, ServerStatus } from "../protocol/generated";
import { FIXES } from "../server/problems";
import { otherVersion, projectLine, projectName } from "../server/project";
import { showProblem } from "../server/showProblem";
import { messageLine } from "../text/untrusted";

interface StatusItem extends vscode.QuickPickItem {
  run?: () => PromiseLike<unknown>;
}

/** Show Status: what is indexed, with which models, what is wrong and how to fix it; each line can be chosen. */
export async function showStatus(evidence: Evidence): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const status = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t("ADK Evidence: looking at its status") },
    () => evidence.status(undefined, scope),
  );
  const picked = await vscode.window.showQuickPick(statusItems(status, Date.now()), {
    title: vscode.l10n.t("ADK Evidence {0}", messageLine(status.version)),
    placeHolder: vscode.l10n.t("Choose an action, or a finding to fix it"),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  await picked?.run?.();
}

/** The lines of the status. */
export function statusItems(status: ServerStatus, now: number): StatusItem[] {
  const amiss = status.findings.filter(({ state }) => state !== "ok");
  const fine = status.findings.filter(({ state }) => state === "ok");
  return [
    ...section(vscode.l10n.t("To do"), [...problemItems(status), ...amiss.map(findingItem)]),
    ...section(vscode.l10n.t("Index"), status.index ? indexItems(status, status.index, now) : [noIndexItem(status)]),
    ...section(vscode.l10n.t("Projects"), (status.projects ?? []).map(projectItem)),
    ...section(vscode.l10n.t("Models"), modelItems(status)),
    ...section(vscode.l10n.t("In order"), fine.map(findingItem)),
    ...section(
      vscode.l10n.t("Actions"),
      [
        FIXES.ingest(),
        FIXES.doctor(),
        FIXES.restart(),
        FIXES.logs(),
        FIXES.settings(),
        FIXES.key(),
        FIXES.setUpAnew(),
      ].map(actionItem),
    ),
  ];
}

function section(title: string, items: StatusItem[]): StatusItem[] {
  return items.length === 0 ? [] : [{ label: title, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function problemItems({ settings_problem: problem, ingesting }: ServerStatus): StatusItem[] {
  const items: StatusItem[] = [];
  if (problem !== null) {
    const wrong = new Problem(messageLine(problem), "invalid_settings", [FIXES.settings()]);
    items.push({
      label: "$(error) ".concat(vscode.l10n.t("Settings")),
      detail: wrong.message,
      run: () => showProblem(wrong),
    });
  }
  if (ingesting) {
    items.push({ label: "$(sync) ".concat(vscode.l10n.t("The corpora are being ingested.")) });
  }
  return items;
}

function indexItems({ ingesting }: ServerStatus, index: IndexInfo, now: number): StatusItem[] {
  const { corpora, created_at, dense, generation } = index;
  const held = Object.values(corpora).map(({ repo, commit, ref, source, chunks }) => ({
    label: `$(repo) ${messageLine(repo)}`,
    description: vscode.l10n.t("{0} passages from {1}", chunks, messageLine(source)),
    detail: ref !== null && ref !== commit ? `${messageLine(ref)} · ${messageLine(commit)}` : messageLine(commit),
  }));
  const built: StatusItem = {
    label: "$(database) ".concat(
      vscode.l10n.t("Built {0}", ageOf(created_at, now, vscode.env.language) ?? messageLine(created_at)),
    ),
    description: messageLine(generation),
  };
  if (dense === "pending") {
    built.detail = ingesting
      ? vscode.l10n.t("It answers by keywords alone until the ingestion has ended.")
      : vscode.l10n.t("It answers by keywords alone, because the ingestion was stopped. Choose this to resume.");
    if (!ingesting) {
      built.run = () => runFix(FIXES.resume());
    }
  }
  return [built, ...held];
}

function projectItem(project: ProjectStatus): StatusItem {
  const other = otherVersion(project);
  const item: StatusItem = {
    label: `${other === null ? "$(check)" : "$(warning)"} ${projectName(project)}`,
    description: [projectLine(project), messageLine(project.asked)].filter(Boolean).join(" · "),
  };
  if (other !== null) {
    item.detail = vscode.l10n.t("{0} Choose this to index that version.", other);
    item.run = () => runFix(FIXES.ingestVersion(project.version, project.folder));
  }
  return item;
}

function noIndexItem({ home }: ServerStatus): StatusItem {
  return {
    label: "$(warning) ".concat(vscode.l10n.t("Nothing is indexed yet")),
    detail: messageLine(home),
    run: () => runFix(FIXES.getStarted()),
  };
}

function modelItems({ models, profile }: ServerStatus): StatusItem[] {
  const described = Object.entries(models).map(([name, value]) => ({
    label: `$(symbol-parameter) ${messageLine(name.replaceAll("_", " "))}`,
    description: messageLine(String(value)),
  }));
  return [{ label: "$(settings) ".concat(vscode.l10n.t("Profile")), description: messageLine(profile) }, ...described];
}

function findingItem({ what, state, found, mend }: FindingInfo): StatusItem {
  const icon = { ok: "$(check)", note: "$(info)", broken: "$(error)" }[state] ?? "$(question)";
  const item: StatusItem = { label: `${icon} ${messageLine(what)}`, description: messageLine(found) };
  if (mend !== "") {
    const problem = new Problem(messageLine(`${found} ${mend}`), "finding", [FIXES.ingest(), FIXES.doctor()]);
    item.detail = messageLine(mend);
    item.run = () => showProblem(problem);
  }
  return item;
}

function actionItem(fix: Fix): StatusItem {
  return { label: `$(play) ${fix.title}`, run: () => runFix(fix) };
}

function runFix({ command, arguments: rest = [] }: Fix): Thenable<unknown> {
  return vscode.commands.executeCommand(command, ...rest);
}

/** Offers to index the version of google-adk that a project uses: once for each folder and version. */

import * as vscode from "vscode";
import { DECLINED_VERSIONS } from "../ids";
import type { ProjectStatus } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { Answered } from "./pool";
import { FIXES } from "./problems";
import { otherVersion, projectIn, projectName } from "./project";

const KEPT = 100;

export class VersionOffer {
  private readonly offered = new Set<string>();

  /** @param memento Keeps what the user has declined. */
  constructor(private readonly memento: vscode.Memento) {}

  /** Makes the offer where an answer says that another version answers. */
  async consider(answered: Answered): Promise<void> {
    const project = projectIn(answered);
    if (!project || otherVersion(project) === null) {
      return;
    }
    const key = `${project.version} ${project.folder}`;
    if (this.offered.has(key) || this.declined.includes(key)) {
      return;
    }
    this.offered.add(key);
    const index = FIXES.ingestVersion(project.version, project.folder);
    const later = vscode.l10n.t("Not Now");
    const chosen = await vscode.window.showInformationMessage(offerOf(project), index.title, later);
    if (chosen === index.title) {
      await vscode.commands.executeCommand(index.command, ...(index.arguments ?? []));
    } else if (chosen === later) {
      await this.memento.update(DECLINED_VERSIONS, [key, ...this.declined].slice(0, KEPT));
    }
  }

  private get declined(): readonly string[] {
    const kept = this.memento.get<unknown>(DECLINED_VERSIONS);
    return Array.isArray(kept) ? kept.filter((item): item is string => typeof item === "string") : [];
  }
}

function offerOf(project: ProjectStatus): string {
  const { version, taken_from, indexed } = project;
  return vscode.l10n.t(
    "{0} uses google-adk {1} (from {2}). That version is not indexed. Answers are of {3} and may not hold for {1}.",
    projectName(project),
    messageLine(version),
    messageLine(taken_from),
    messageLine(indexed ?? ""),
  );
}

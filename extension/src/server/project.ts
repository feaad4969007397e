/** Which google-adk the project of a folder uses, as the server says. */

import { l10n, Uri } from "vscode";
import type { ProjectStatus, ServerStatus } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { Answered } from "./pool";

/** What an answer says of its folder's project: null where there is none, undefined where the answer does not say. */
export function projectIn({ folder, method, result }: Answered): ProjectStatus | null | undefined {
  if (method !== "adk/status" || typeof result !== "object" || result === null) {
    return undefined;
  }
  const { projects } = result as ServerStatus;
  return projects.find((project) => project.folder === folder.id) ?? null;
}

/** What the project's folder is called. */
export function projectName({ folder }: ProjectStatus): string {
  const { path } = Uri.parse(folder);
  return messageLine(path.split("/").at(-1) || path);
}

/** "google-adk 1.18.0, from .venv". */
export function projectLine({ version, taken_from }: ProjectStatus): string {
  return l10n.t("google-adk {0}, from {1}", messageLine(version), messageLine(taken_from));
}

/** What is amiss where another version answers, or one that nobody knows; null where nothing is, or nothing answers. */
export function otherVersion({ version, indexed, exact }: ProjectStatus, answers: boolean): string | null {
  if (exact || (indexed === null && !answers)) {
    return null;
  }
  const other = indexed === null ? l10n.t("another version") : messageLine(indexed);
  return l10n.t("google-adk {0} is not indexed: answers are of {1}.", messageLine(version), other);
}

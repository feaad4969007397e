/** "Get Started": one consent, and then everything that questions need. */

import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { following } from "../evidence/ingestProgress";
import { folderInUse, scopeInUse } from "../evidence/scope";
import { Problem } from "../problem";
import type { IngestParams, ProjectStatus, ServerStatus } from "../protocol/generated";
import { pinIn } from "../server/adkFiles";
import type { GetStarted, JobParts, JobRequest } from "../server/getStarted";
import type { ServerState } from "../server/managedServer";
import { FIXES, PROBLEMS } from "../server/problems";
import type { Resolution } from "../server/resolve";
import { WITHOUT_PACKAGES } from "../server/setUpCodes";
import { incomplete } from "../server/statusText";
import { messageLine } from "../text/untrusted";
import { asProblem } from "./command";
import { install, isSet, MEGABYTES, type SetUpParts } from "./environment";
import { ingested } from "./ingest";

/** What the language model and an index of the ADK take on the disk. */
const MODEL_MEGABYTES = 110;
const INDEX_MEGABYTES = 160;

/** The google-adk that the server's own settings name. */
export const USUAL_VERSION = "2.13.0";

/** Asks for consent, unless the argument says `consented` or the user has consented before, and runs the job. */
export async function getStarted(
  argument: unknown,
  job: GetStarted,
  consent: () => Promise<readonly string[]>,
  shown: () => void,
): Promise<void> {
  const running = job.state.phase === "running";
  if (!running && !isSet(argument, "consented") && !job.begun && !(await agrees(await consent()))) {
    return;
  }
  shown();
  if (!running) {
    await runJob({}, job);
  }
}

/** Runs the job; its state says how it ended. @throws Problem */
export async function runJob(request: JobRequest, job: GetStarted): Promise<void> {
  const { problem } = await job.run(request);
  if (problem !== null) {
    throw problem;
  }
}

async function agrees(lines: readonly string[]): Promise<boolean> {
  const begin = vscode.l10n.t("Get Started");
  const options = { modal: true, detail: lines.join("\n\n") };
  return (
    (await vscode.window.showInformationMessage(vscode.l10n.t("Get started with ADK Evidence?"), options, begin)) ===
    begin
  );
}

/**
 * Whether packages must be installed before a server can start, as far as that is known.
 *
 * @param explain Says how a program is chosen. Only where nobody has asked for a server is it called: it may probe
 *   interpreters.
 */
export async function lacksPackages(state: ServerState, explain: () => Promise<Resolution>): Promise<boolean> {
  const known = state.kind === "idle" ? await explain() : state;
  return "problem" in known && WITHOUT_PACKAGES.includes(known.problem.code);
}

/**
 * What the user consents to, a sentence a line.
 *
 * @param project What the server has said of the folder's project; null where no server has run.
 */
export async function consentLines(packages: boolean, project: ProjectStatus | null): Promise<string[]> {
  const which = await versionLine(project);
  const model = vscode.l10n.t(
    "A language model of about {0} MB reads the meaning of the texts; it runs on this machine. The index takes about {1} MB.",
    MODEL_MEGABYTES,
    INDEX_MEGABYTES,
  );
  const time = packages
    ? vscode.l10n.t("It takes about three minutes, and longer for an old version of google-adk.")
    : vscode.l10n.t("It takes about two minutes, and longer for an old version of google-adk.");
  const installed = vscode.l10n.t(
    "About {0} MB of Python packages are installed into an environment of their own, in the extension's storage. They come from the package index that uv or pip is configured to use; your Pythons stay as they are.",
    MEGABYTES,
  );
  return [...(packages ? [installed] : []), which, model, time];
}

async function versionLine(project: ProjectStatus | null): Promise<string> {
  const folder = folderInUse();
  const pin = project === null && folder ? await pinIn(folder.uri, vscode.workspace.fs) : undefined;
  if (pin) {
    return vscode.l10n.t(
      "The docs and the source of google-adk {0}, which {1} names, are then read and indexed on this machine; or those of the version that is installed in this project, if that is another one.",
      pin.version,
      messageLine(pin.file),
    );
  }
  return project === null
    ? vscode.l10n.t(
        "The docs and the source of google-adk are then read and indexed on this machine: of the version that this project names, or else of {0}.",
        USUAL_VERSION,
      )
    : vscode.l10n.t(
        "The docs and the source of google-adk {0}, which this project uses (from {1}), are then read and indexed on this machine.",
        messageLine(project.version),
        messageLine(project.taken_from),
      );
}

/** The parts of the job in this editor. */
export function jobParts(setUp: SetUpParts, evidence: Evidence): JobParts {
  const { environment, pool, log } = setUp;
  return {
    lacksPackages: async () => {
      try {
        await pool.ensure(scopeInUse());
        return false;
      } catch (error) {
        if (error instanceof Problem && WITHOUT_PACKAGES.includes(error.code)) {
          return true;
        }
        throw error;
      }
    },
    install: async (request, token, onLine, onDetail) => {
      if (!(await environment.canBeSetUp())) {
        throw PROBLEMS.setUp("no_payload");
      }
      const onWait = () => onDetail(vscode.l10n.t("another window installs them"));
      await install(setUp, request, token, onLine, onWait);
    },
    startServer: () => pool.ensure(scopeInUse()),
    ingest: async (token, onProgress, onDetail) => {
      const scope = folderInUse()?.uri ?? scopeInUse();
      const status = await evidence.status(token, scope);
      const params = missingIn(status);
      const project = projectUsed(status);
      onDetail(project ? `google-adk ${project.version}` : "");
      return params && following(onProgress, () => evidence.ingest(params, token, scope));
    },
    outcomeOf: (run) => {
      const { lines, actions } = run ? ingested(run, log) : { lines: [], actions: [FIXES.ask()] };
      return { lines: [vscode.l10n.t("ADK Evidence is ready."), ...lines.slice(1)], actions };
    },
    problemOf: (reason) => asProblem(reason, log),
  };
}

/** What has to be ingested for the folder in use; null where its index is complete. */
export function missingIn(status: Pick<ServerStatus, "index" | "symbols" | "projects">): IngestParams | null {
  const { index } = status;
  const project = projectUsed(status);
  const complete = index !== null && incomplete(status) === null && "adk_docs" in index.corpora;
  return complete && (project === undefined || project.exact) ? null : wholeOf(status);
}

/** The whole index of the folder in use: of the version that its project uses, else of the usual one. */
export function wholeOf(status: Pick<ServerStatus, "projects">): IngestParams {
  const project = projectUsed(status);
  return project === undefined ? { mode: "all" } : { folder: project.folder };
}

/** What the project of a folder uses, by default of the folder in use. */
export function projectUsed(status: Pick<ServerStatus, "projects">, of = folderInUse()?.uri) {
  return status.projects.find(({ folder }) => folder === of?.toString());
}

import * as vscode from "vscode";
import { writeLine } from "../log";
import type { PrivateEnvironment, SetUpStep } from "../server/environment";
import type { ServerPool } from "../server/pool";
import { FIXES, PROBLEMS } from "../server/problems";
import { isNewEnough, OLDEST_PYTHON, type Prober, pythonsOnPath } from "../server/python";
import { knownPythons } from "../server/pythonExtension";
import { SetUpError } from "../server/setUpFailures";

/** What the environment takes on the disk, rounded up. */
const MEGABYTES = 480;

export interface SetUpParts {
  readonly environment: PrivateEnvironment;
  readonly prober: Prober;
  readonly pool: ServerPool;
  readonly log: vscode.LogOutputChannel;
}

/** "Set Up Python Environment". Its argument: `choose` asks for the Python, `consented` does not ask for consent. */
export async function setUpEnvironment(argument: unknown, parts: SetUpParts): Promise<void> {
  if (!(await parts.environment.canBeSetUp())) {
    throw PROBLEMS.setUp("no_payload");
  }
  const choose = isSet(argument, "choose");
  const consent = isSet(argument, "consented") ? "search" : await askForConsent(parts, choose);
  if (!consent) {
    return;
  }
  const base = consent === "choose" ? await chooseBase(parts) : await findBase(parts);
  if (base === undefined) {
    return;
  }
  await install(parts, base, vscode.l10n.t("Setting up the Python environment of ADK Evidence"));
  await sayReady(parts);
}

/**
 * Brings the private environment to the version that the extension brings along, where one is in use: the consent to
 * have one was given when it was set up.
 */
export async function upgrade(parts: SetUpParts): Promise<void> {
  const state = await parts.environment.state();
  if (state.kind !== "ready" || state.current) {
    return;
  }
  await install(parts, await findBase(parts), vscode.l10n.t("Updating the Python environment of ADK Evidence"));
}

async function askForConsent(parts: SetUpParts, choose: boolean): Promise<"search" | "choose" | undefined> {
  const state = await parts.environment.state();
  const question =
    state.kind === "none"
      ? vscode.l10n.t("Set up a Python environment for ADK Evidence?")
      : vscode.l10n.t("Set up the Python environment of ADK Evidence anew?");
  const detail = vscode.l10n.t(
    "The server that this extension brings along and the packages that it needs are installed into an environment of their own, in the extension's storage; your Pythons stay as they are. It takes about {0} MB. Packages come from the package index that pip is configured to use. The environment is updated with the extension.",
    MEGABYTES,
  );
  const search: Choice = { title: vscode.l10n.t("Set Up"), way: "search" };
  const pick: Choice = { title: vscode.l10n.t("Choose Python…"), way: "choose" };
  const choices = choose ? [pick] : [search, pick];
  const chosen = await vscode.window.showInformationMessage(question, { modal: true, detail }, ...choices);
  return chosen?.way;
}

interface Choice extends vscode.MessageItem {
  way: "search" | "choose";
}

/**
 * A Python that can make the environment. The Python of the last set-up comes first, as the user may have chosen it;
 * then those on PATH, then those that the Python extension knows.
 */
export async function findBase({
  environment,
  prober,
  log,
}: Pick<SetUpParts, "environment" | "prober" | "log">): Promise<string> {
  let withoutVenv = false;
  const known = vscode.workspace.isTrusted ? await knownPythons() : [];
  const state = await environment.state();
  const before = state.kind === "none" || state.base === undefined ? [] : [state.base];
  for (const path of [...before, ...(await pythonsOnPath(process.env)), ...known]) {
    const probed = await prober.probe(path);
    if ("failure" in probed) {
      log.info(`${path}: ${probed.failure}`);
      continue;
    }
    const { version, makesEnvironments } = probed.python;
    log.info(`${path}: Python ${version}${makesEnvironments ? "" : ", without venv or ensurepip"}`);
    if (!isNewEnough(version)) {
      continue;
    }
    if (makesEnvironments) {
      return path;
    }
    withoutVenv = true;
  }
  throw PROBLEMS.setUp(withoutVenv ? "no_venv" : "no_python");
}

/** The Python that the user names; undefined where none is. */
async function chooseBase({ prober }: SetUpParts): Promise<string | undefined> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t("Choose a Python {0} or newer", OLDEST_PYTHON),
      openLabel: vscode.l10n.t("Use This Python"),
      ...(process.platform === "win32" ? { filters: { Python: ["exe"] } } : {}),
    })) ?? [];
  if (!chosen) {
    return undefined;
  }
  const probed = await prober.probe(chosen.fsPath);
  if ("failure" in probed) {
    throw PROBLEMS.interpreter(chosen.fsPath, probed.failure);
  }
  if (!isNewEnough(probed.python.version)) {
    throw PROBLEMS.interpreter(chosen.fsPath, "too_old");
  }
  if (!probed.python.makesEnvironments) {
    throw PROBLEMS.setUp("no_venv");
  }
  return chosen.fsPath;
}

async function install({ environment, prober, pool, log }: SetUpParts, base: string, title: string): Promise<void> {
  log.info(`Setting up the environment with ${base}`);
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    const abort = new AbortController();
    const listener = token.onCancellationRequested(() => abort.abort());
    try {
      await environment.setUp({
        base,
        signal: abort.signal,
        onStep: (step, detail) => progress.report({ message: stepText(step, detail) }),
        onLine: (line) => writeLine(log, "info", line),
      });
    } catch (error) {
      throw error instanceof SetUpError ? asProblem(error) : error;
    } finally {
      listener.dispose();
    }
    prober.forget();
    progress.report({ message: vscode.l10n.t("starting the server") });
    await pool.reconcile();
  });
}

function asProblem(error: SetUpError): Error {
  return error.failure === "cancelled" ? PROBLEMS.cancelled() : PROBLEMS.setUp(error.failure);
}

function stepText(step: SetUpStep, detail: string | undefined): string {
  switch (step) {
    case "waiting":
      return vscode.l10n.t("another window is setting it up");
    case "creating":
      return vscode.l10n.t("making the environment");
    case "installing":
      return packageOf(detail) ?? vscode.l10n.t("installing packages");
    case "checking":
      return vscode.l10n.t("checking the installation");
  }
}

/** The package that a line of pip's output names as in progress. */
function packageOf(line: string | undefined): string | undefined {
  const name = /^(?:Collecting|Downloading|Using cached) ([A-Za-z0-9._-]+)/.exec(line?.trim() ?? "")?.[1];
  return name && vscode.l10n.t("installing packages: {0}", name);
}

async function sayReady({ pool }: SetUpParts): Promise<void> {
  await pool.ensure(undefined);
  const { index } = await pool.request("adk/status", {});
  if (index !== null) {
    void vscode.window.showInformationMessage(vscode.l10n.t("ADK Evidence is ready."));
    return;
  }
  const ingest = FIXES.ingest();
  const text = vscode.l10n.t("The server is ready. Ingest the ADK's docs and source to have something to ask.");
  void vscode.window.showInformationMessage(text, ingest.title).then((chosen) => {
    if (chosen) {
      void vscode.commands.executeCommand(ingest.command);
    }
  });
}

function isSet(argument: unknown, name: "choose" | "consented"): boolean {
  return typeof argument === "object" && argument !== null && (argument as Record<string, unknown>)[name] === true;
}

/** Decides which program is started for a folder; starts nothing. */

import { l10n } from "vscode";
import type { Problem } from "../problem";
import type { EnvironmentState } from "./environment";
import { PROBLEMS } from "./problems";
import { areCompatible, type Probe, type Python, serverArguments } from "./python";

export type Origin = "command" | "interpreter" | "pythonExtension" | "privateEnvironment" | "checkout";

/** A program that is the language server. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether variables that point Python elsewhere are taken out of its environment. */
  readonly isolated: boolean;
  /** Equal for equal programs. */
  readonly key: string;
  readonly origin: Origin;
  /** Version of the package; null where nothing was asked. */
  readonly version: string | null;
}

/** One place that the search looked at, and a sentence about what is there. */
export interface Step {
  readonly origin: Origin;
  readonly found: string;
}

export type Resolution = { readonly trail: readonly Step[] } & (
  | { readonly launch: Launch }
  | { readonly problem: Problem }
);

/** What is known of a folder before any program is looked at. */
export interface LaunchRequest {
  readonly command: readonly string[];
  /** The setting as it was written, and the path that it stands for; undefined where there is no such path. */
  readonly interpreter: { readonly text: string; readonly path: string | undefined };
  readonly trusted: boolean;
  /** The extension's own version. */
  readonly version: string;
}

/** The interpreters that there are, and how they are examined. */
export interface Interpreters {
  readonly probe: Probe;
  /** The interpreter that the Python extension uses for the folder. */
  activePython(): Promise<string | undefined>;
  privateEnvironment(): Promise<EnvironmentState>;
  /** The interpreter of the checkout that the extension is developed in. */
  checkoutPython(): Promise<string | undefined>;
}

/** The program for a folder, or what is wrong and how to fix it. Settings win, and are never ignored silently. */
export async function resolve(request: LaunchRequest, interpreters: Interpreters): Promise<Resolution> {
  const trail: Step[] = [];
  const note = (origin: Origin, found: string) => trail.push({ origin, found });

  const [command, ...args] = request.command;
  if (command) {
    note("command", l10n.t("The setting adkEvidence.server.command names {0}.", command));
    return { trail, launch: launch(command, args, "command", null) };
  }
  note("command", l10n.t("The setting adkEvidence.server.command is empty."));

  if (request.interpreter.text) {
    return configured(request, interpreters, trail);
  }
  note("interpreter", l10n.t("The setting adkEvidence.server.interpreter is empty."));

  const development = await interpreters.checkoutPython();
  if (development) {
    note("checkout", l10n.t("The extension is being developed: {0} is used.", development));
    return { trail, launch: pythonLaunch(development, "checkout", null) };
  }

  // Looked at while the Python extension, which takes its time, is asked.
  const own = interpreters.privateEnvironment().then(async (environment) => {
    return { environment, flaw: await flawOf(environment, request, interpreters) };
  });
  own.catch(() => undefined);
  const active = await fromPythonExtension(request, interpreters, note);
  if (active) {
    return { trail, launch: pythonLaunch(active.path, "pythonExtension", active.package) };
  }

  const { environment, flaw } = await own;
  if (flaw) {
    note("privateEnvironment", flaw);
    return { trail, problem: PROBLEMS.environmentBroken(flaw) };
  }
  if (environment.kind === "ready" && areCompatible(environment.version, request.version)) {
    note("privateEnvironment", l10n.t("It has adk-evidence {0}.", environment.version));
    return { trail, launch: pythonLaunch(environment.python, "privateEnvironment", environment.version) };
  }
  if (environment.kind === "ready") {
    note(
      "privateEnvironment",
      l10n.t("It has adk-evidence {0}, which this extension cannot use.", environment.version),
    );
    return { trail, problem: PROBLEMS.environmentOutdated() };
  }
  note("privateEnvironment", l10n.t("It is not set up."));
  return { trail, problem: PROBLEMS.noEnvironment() };
}

async function configured(request: LaunchRequest, interpreters: Interpreters, trail: Step[]): Promise<Resolution> {
  const { text, path } = request.interpreter;
  const refuse = (problem: Problem): Resolution => {
    trail.push({ origin: "interpreter", found: problem.message });
    return { trail, problem };
  };
  if (path === undefined) {
    return refuse(PROBLEMS.interpreterNotOnDisk(text));
  }
  const probed = await interpreters.probe(path);
  if ("failure" in probed) {
    return refuse(PROBLEMS.interpreter(path, probed.failure));
  }
  const installed = probed.python.package;
  if (installed === null) {
    return refuse(PROBLEMS.packageMissing(path));
  }
  if (!areCompatible(installed, request.version)) {
    return refuse(PROBLEMS.packageIncompatible(path, installed, request.version));
  }
  trail.push({ origin: "interpreter", found: l10n.t("{0} has adk-evidence {1}.", path, installed) });
  return { trail, launch: pythonLaunch(path, "interpreter", installed) };
}

/** What is broken about the private environment, in a sentence. An environment of another version is not examined. */
async function flawOf(
  environment: EnvironmentState,
  request: LaunchRequest,
  interpreters: Interpreters,
): Promise<string | undefined> {
  if (environment.kind === "broken") {
    return l10n.t("Its interpreter is gone.");
  }
  if (environment.kind === "none" || !areCompatible(environment.version, request.version)) {
    return undefined;
  }
  const probed = await interpreters.probe(environment.python);
  if ("failure" in probed) {
    // One that is slow may be whole.
    return probed.failure === "timed_out" ? undefined : l10n.t("Its interpreter does not run.");
  }
  const { package: installed, missing } = probed.python;
  if (installed === null) {
    return l10n.t("It lacks packages: {0}.", "adk-evidence");
  }
  if (installed !== environment.version) {
    return l10n.t("It has adk-evidence {0} instead of {1}.", installed, environment.version);
  }
  return missing.length > 0 ? l10n.t("It lacks packages: {0}.", missing.join(", ")) : undefined;
}

async function fromPythonExtension(
  request: LaunchRequest,
  interpreters: Interpreters,
  note: (origin: Origin, found: string) => void,
): Promise<Python | undefined> {
  if (!request.trusted) {
    // It may be an interpreter inside the folder.
    note("pythonExtension", l10n.t("It is not asked in Restricted Mode."));
    return undefined;
  }
  const path = await interpreters.activePython();
  if (path === undefined) {
    note("pythonExtension", l10n.t("It names no interpreter."));
    return undefined;
  }
  const probed = await interpreters.probe(path);
  if ("failure" in probed) {
    note("pythonExtension", PROBLEMS.interpreter(path, probed.failure).message);
    return undefined;
  }
  const installed = probed.python.package;
  if (installed === null) {
    note("pythonExtension", l10n.t("{0} has no package adk-evidence.", path));
    return undefined;
  }
  note("pythonExtension", l10n.t("{0} has adk-evidence {1}.", path, installed));
  return areCompatible(installed, request.version) ? probed.python : undefined;
}

function pythonLaunch(python: string, origin: Origin, version: string | null): Launch {
  return launch(python, serverArguments(), origin, version);
}

function launch(command: string, args: readonly string[], origin: Origin, version: string | null): Launch {
  const isolated = origin !== "command";
  return { command, args, isolated, key: JSON.stringify([command, args]), origin, version };
}

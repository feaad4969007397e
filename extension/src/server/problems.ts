/** What can be wrong with the server, each in a sentence, and the commands that fix it. */

import { l10n } from "vscode";
import { BUTTON_COMMANDS, COMMANDS, SECTION } from "../ids";
import { type Fix, Problem } from "../problem";
import { messageLine } from "../text/untrusted";
import { OLDEST_PYTHON, type ProbeFailure } from "./python";
import { proxyPlace, type SetUpFailure } from "./setUpFailures";

/** Sets up what is missing without another question: the user has consented, or sees what this button does. */
function getStartedFix(title: string): Fix {
  return { title, command: COMMANDS.getStarted, arguments: [{ consented: true }] };
}

export const FIXES = {
  /** Asks for consent first. */
  getStarted: (): Fix => ({ title: l10n.t("Get Started"), command: COMMANDS.getStarted }),
  /** For a button beside the text that the user consents to. */
  consent: () => getStartedFix(l10n.t("Get Started")),
  /** Goes on with what the user has consented to. */
  resume: () => getStartedFix(l10n.t("Resume")),
  fetchGuides: () => getStartedFix(l10n.t("Fetch the Guides")),
  showProgress: (): Fix => ({ title: l10n.t("Show Progress"), command: COMMANDS.getStarted }),
  stop: (): Fix => ({ title: l10n.t("Stop"), command: BUTTON_COMMANDS.stopGettingStarted }),
  ask: (): Fix => ({ title: l10n.t("Ask a Question…"), command: COMMANDS.askQuestion }),
  /** Takes the outcome of the last job away. */
  dismiss: (): Fix => ({ title: l10n.t("Close"), command: BUTTON_COMMANDS.stopGettingStarted }),
  /** Makes the environment anew; the user consented when it was first made. */
  repair: (): Fix => ({ title: l10n.t("Repair"), command: BUTTON_COMMANDS.setUpEnvironment }),
  choosePython: (): Fix => ({
    title: l10n.t("Choose Interpreter"),
    command: BUTTON_COMMANDS.setUpEnvironment,
    arguments: [{ choose: true }],
  }),
  retrySetUp: () => getStartedFix(l10n.t("Try Again")),
  restart: (): Fix => ({ title: l10n.t("Restart Server"), command: BUTTON_COMMANDS.restartServer }),
  logs: (): Fix => ({ title: l10n.t("Show Logs"), command: BUTTON_COMMANDS.showLogs }),
  doctor: (): Fix => ({ title: l10n.t("What Is Set Up"), command: BUTTON_COMMANDS.runDoctor }),
  ingest: (): Fix => ({ title: l10n.t("Update Index"), command: COMMANDS.ingest }),
  /** @param folder The URI of the folder whose project uses the version. */
  ingestVersion: (version: string, folder: string): Fix => ({
    title: l10n.t("Index google-adk {0}", messageLine(version)),
    command: COMMANDS.ingest,
    arguments: [{ folder }],
  }),
  key: (): Fix => ({ title: l10n.t("Set Voyage API Key"), command: BUTTON_COMMANDS.setVoyageApiKey }),
  settings: (name = ""): Fix => ({
    title: l10n.t("Open Settings"),
    command: "workbench.action.openSettings",
    arguments: [name ? `${SECTION}.${name}` : SECTION],
  }),
  trust: (): Fix => ({ title: l10n.t("Manage Workspace Trust"), command: "workbench.trust.manage" }),
} as const;

export const PROBLEMS = {
  noEnvironment: () =>
    new Problem(l10n.t("ADK Evidence has no Python environment yet. Set it up once to use it."), "no_environment", [
      FIXES.getStarted(),
      FIXES.settings("server"),
    ]),

  environmentOutdated: () =>
    new Problem(
      l10n.t(
        "The Python environment of ADK Evidence is of another version of the extension. Repair installs a new one.",
      ),
      "environment_outdated",
      [FIXES.repair(), FIXES.settings("server")],
    ),

  environmentBroken: (flaw: string) =>
    new Problem(
      l10n.t("The Python environment of ADK Evidence is broken. {0} Repair installs a new one.", flaw),
      "environment_broken",
      [FIXES.repair(), FIXES.settings("server"), FIXES.logs()],
    ),

  interpreter: (path: string, failure: ProbeFailure) =>
    new Problem(interpreterSentence(path, failure), "bad_interpreter", [
      FIXES.settings("server.interpreter"),
      FIXES.logs(),
    ]),

  interpreterNotOnDisk: (text: string) =>
    new Problem(
      l10n.t(
        "The path of the interpreter, {0}, starts in a folder that is not on this machine or not trusted. Write the full path.",
        text,
      ),
      "bad_interpreter",
      [FIXES.settings("server.interpreter")],
    ),

  packageMissing: (path: string) =>
    new Problem(
      l10n.t(
        "The Python {0} has no package adk-evidence. Install it there, or clear the setting of the interpreter.",
        path,
      ),
      "package_missing",
      [FIXES.settings("server.interpreter"), FIXES.logs()],
    ),

  packageIncompatible: (path: string, found: string, wanted: string) =>
    new Problem(
      l10n.t(
        "The Python {0} has adk-evidence {1}, and this extension needs {2}. Install that version there, or clear the setting of the interpreter.",
        path,
        found,
        wanted,
      ),
      "package_incompatible",
      [FIXES.settings("server.interpreter"), FIXES.logs()],
    ),

  serverIncompatible: (found: string, wanted: string) =>
    new Problem(
      l10n.t(
        "The ADK Evidence server has version {0}, and this extension needs {1}. Correct the setting.",
        found,
        wanted,
      ),
      "package_incompatible",
      [FIXES.settings("server"), FIXES.logs()],
    ),

  /** @param repairable The program is in the private environment, which can be made anew. */
  startFailed: (program: string, repairable = false) =>
    new Problem(
      l10n.t("The ADK Evidence server could not be started with {0}. The log says why.", program),
      "start_failed",
      [FIXES.logs(), FIXES.restart(), repairable ? FIXES.repair() : FIXES.settings("server")],
    ),

  programMissing: (program: string) =>
    new Problem(
      l10n.t("There is no program {0} to start the ADK Evidence server with. Correct the setting.", program),
      "start_failed",
      [FIXES.settings("server"), FIXES.logs()],
    ),

  startTimedOut: (seconds: number) =>
    new Problem(
      l10n.t("The ADK Evidence server did not answer within {0} seconds. The log may say why.", seconds),
      "start_failed",
      [FIXES.restart(), FIXES.logs()],
    ),

  crashed: () =>
    new Problem(
      l10n.t("The ADK Evidence server ended unexpectedly several times and stays off. Restart it, or look at its log."),
      "server_crashed",
      [FIXES.restart(), FIXES.logs()],
    ),

  noAnswer: (seconds: number) =>
    new Problem(
      l10n.t("The ADK Evidence server has not answered within {0} seconds. Restart it, or look at its log.", seconds),
      "no_answer",
      [FIXES.restart(), FIXES.logs()],
    ),

  ended: () =>
    new Problem(l10n.t("The ADK Evidence server ended before it answered. Ask again."), "server_ended", [FIXES.logs()]),

  unreadableAnswer: () =>
    new Problem(
      l10n.t(
        "The server's answer has a form that this version of the extension cannot read. Update both to the same version.",
      ),
      "unreadable_answer",
      [FIXES.restart(), FIXES.doctor()],
    ),

  setUp: (failure: SetUpFailure) => new Problem(setUpSentence(failure), `set_up_${failure}`, setUpFixes(failure)),

  cancelled: () => new Problem(l10n.t("The request was cancelled."), "cancelled"),
} as const;

function interpreterSentence(path: string, failure: ProbeFailure): string {
  switch (failure) {
    case "missing":
      return l10n.t("There is no Python at {0}. Correct the setting of the interpreter.", path);
    case "too_old":
      return l10n.t("The Python {0} is too old: the server needs {1} or newer.", path, OLDEST_PYTHON);
    case "timed_out":
      return l10n.t("The Python {0} did not answer in time. Try again, or choose another.", path);
    case "failed":
      return l10n.t("The program {0} does not answer as a Python does. Correct the setting of the interpreter.", path);
  }
}

function setUpSentence(failure: SetUpFailure): string {
  switch (failure) {
    case "cancelled":
      return l10n.t("The set-up was cancelled.");
    case "no_payload":
      return l10n.t(
        "This build of the extension brings no server along. Name an interpreter that has adk-evidence in the settings.",
      );
    case "no_python":
      return l10n.t("No Python {0} or newer was found. Install one, or choose its program.", OLDEST_PYTHON);
    case "no_venv":
      return l10n.t(
        "This Python cannot make environments: its modules venv or ensurepip are missing. Install them (on Debian and Ubuntu the package python3-venv), or choose another Python.",
      );
    case "no_network":
      if (proxyPlace(process.env) !== "") {
        return l10n.t(
          "The package index could not be reached through the proxy {0}. Mend the proxy, which HTTPS_PROXY names, then try again.",
          proxyPlace(process.env),
        );
      }
      return l10n.t(
        "The package index could not be reached. Check the network and pip's configuration, then try again.",
      );
    case "no_package":
      return l10n.t(
        "The package index lacks a package that the server needs for this Python. Choose another Python, or see the log.",
      );
    case "disk_full":
      return l10n.t("The disk is full. Make room, then try again.");
    case "not_writable":
      return l10n.t("The extension's storage cannot be written to. The log says where it is.");
    case "not_installed":
      return l10n.t("The server was installed but does not answer. The log may say why.");
    case "failed":
      return l10n.t("The Python environment could not be set up. The log says why.");
  }
}

function setUpFixes(failure: SetUpFailure): Fix[] {
  switch (failure) {
    case "cancelled":
      return [];
    case "no_payload":
      return [FIXES.settings("server")];
    case "no_python":
    case "no_venv":
      return [FIXES.choosePython(), FIXES.logs()];
    case "no_package":
      return [FIXES.choosePython(), FIXES.retrySetUp(), FIXES.logs()];
    case "no_network":
    case "disk_full":
    case "not_writable":
    case "not_installed":
    case "failed":
      return [FIXES.retrySetUp(), FIXES.choosePython(), FIXES.logs()];
  }
}

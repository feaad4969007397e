import * as vscode from "vscode";
import { expandHere, launchSettings } from "../config";
import { writeLine } from "../log";
import type { PrivateEnvironment } from "../server/environment";
import type { GetStarted, JobRequest } from "../server/getStarted";
import { installShare } from "../server/installShare";
import type { Folder, ServerPool } from "../server/pool";
import { PROBLEMS } from "../server/problems";
import { run } from "../server/process";
import {
  findUv,
  isNewEnough,
  OLDEST_PYTHON,
  type Prober,
  pythonOfUv,
  pythonsOfLauncher,
  pythonsOnPath,
} from "../server/python";
import { activePython, knownPythons } from "../server/pythonExtension";
import { SetUpError } from "../server/setUpFailures";

/** About what the packages take on the disk, without Voyage's client; a journey measures that. */
export const MEGABYTES = 450;

export interface SetUpParts {
  readonly environment: PrivateEnvironment;
  readonly prober: Prober;
  readonly pool: ServerPool;
  readonly log: vscode.LogOutputChannel;
}

/**
 * Makes the environment anew, to which the user has consented, and then whatever else is missing. The argument `choose`
 * asks for the Python. While a job runs, that job is shown.
 */
export async function setUpEnvironment(
  argument: unknown,
  parts: SetUpParts,
  job: Pick<GetStarted, "state">,
  shown: () => void,
  runJob: (request: JobRequest) => Promise<void>,
): Promise<void> {
  if (job.state.phase === "running") {
    shown();
    return;
  }
  if (!(await parts.environment.canBeSetUp())) {
    throw PROBLEMS.setUp("no_payload");
  }
  const choose = isSet(argument, "choose");
  const base = choose ? await chooseBase(parts) : undefined;
  if (!choose || base !== undefined) {
    shown();
    await runJob({ anew: true, ...(base === undefined ? {} : { base }) });
  }
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
  await showUpdate(parts, vscode.l10n.t("Updating the Python environment of ADK Evidence"));
}

/**
 * A Python that can make the environment. The Python of the last set-up comes first, as the user may have chosen it;
 * then those on PATH, those of the `py` launcher and of uv, and those that the extensions for Python know.
 *
 * @param uv With this program, a Python needs no module to make environments.
 * @param named Where nothing is to be made, any Python that is new enough will do, and these come first.
 */
export async function findBase(
  { environment, prober, log }: Pick<SetUpParts, "environment" | "prober" | "log">,
  uv?: string,
  named?: () => Promise<readonly string[]>,
): Promise<string> {
  let withoutVenv = false;
  const state = await environment.state();
  const places = [
    ...(named ? [named] : []),
    async () => (state.kind === "none" || state.base === undefined ? [] : [state.base]),
    () => pythonsOnPath(process.env),
    () => pythonsOfLauncher(run, process.env),
    () => pythonOfUv(run, uv),
    // They may name an interpreter inside the folder.
    async () => (vscode.workspace.isTrusted ? knownPythons() : []),
  ];
  for await (const path of eachOf(places)) {
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
    if (makesEnvironments || uv !== undefined || named) {
      return path;
    }
    withoutVenv = true;
  }
  throw PROBLEMS.setUp(withoutVenv ? "no_venv" : "no_python");
}

/** A Python that checks the code of a folder. @throws Problem where there is none. */
export function pythonFor({ uri }: Folder, parts: SetUpParts): Promise<string> {
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri);
  const { interpreter } = launchSettings(folder);
  return findBase(parts, undefined, async () => {
    const named = [interpreter ? expandHere(interpreter, folder) : undefined, await activePython(uri)];
    return named.filter((file) => file !== undefined);
  });
}

/** The paths of all places. A later place is asked only when nothing before it would do. */
async function* eachOf(places: readonly (() => Promise<readonly string[]>)[]): AsyncGenerator<string> {
  for (const place of places) {
    yield* await place();
  }
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

/** Shows the update of the environment, which nobody has asked for, where it can be stopped. */
function showUpdate(parts: SetUpParts, title: string): Thenable<void> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    await install(parts, {}, token, (line) => {
      const { name } = installShare(line, 0);
      if (name !== undefined) {
        progress.report({ message: vscode.l10n.t("installing packages: {0}", name) });
      }
    });
  });
}

/**
 * Makes the environment. The servers that can start from it then start.
 *
 * @param onLine Gets what the programs print.
 * @param onWait Called while another window makes it.
 * @throws Problem
 */
export async function install(
  parts: Pick<SetUpParts, "environment" | "prober" | "pool" | "log">,
  request: JobRequest,
  token: vscode.CancellationToken,
  onLine: (line: string) => void,
  onWait: () => void = () => undefined,
): Promise<void> {
  const { environment, prober, pool, log } = parts;
  const uv = await findUv(process.env);
  const base = request.base ?? (await findBase(parts, uv));
  log.info(`Setting up the environment with ${base}${uv === undefined ? "" : ` and ${uv}`}`);
  const abort = new AbortController();
  if (token.isCancellationRequested) {
    abort.abort();
  }
  const listener = token.onCancellationRequested(() => abort.abort());
  try {
    await environment.setUp({
      base,
      uv,
      signal: abort.signal,
      onWait,
      onLine: (line) => {
        writeLine(log, "info", line);
        onLine(line);
      },
    });
  } catch (error) {
    throw error instanceof SetUpError ? asProblem(error) : error;
  } finally {
    listener.dispose();
  }
  prober.forget();
  await pool.reconcile();
}

function asProblem(error: SetUpError): Error {
  return error.failure === "cancelled" ? PROBLEMS.cancelled() : PROBLEMS.setUp(error.failure);
}

/** Whether a command's argument sets this. */
export function isSet(argument: unknown, name: "choose" | "consented"): boolean {
  return typeof argument === "object" && argument !== null && (argument as Record<string, unknown>)[name] === true;
}

import * as vscode from "vscode";
import { COMMANDS } from "../ids";
import { Problem } from "../problem";
import { forEditor } from "../server/palette";
import type { ServerPool } from "../server/pool";
import { FIXES } from "../server/problems";
import { showProblem } from "../server/showProblem";
import { registerCommand } from "./command";
import { doctorReport, type Examination } from "./doctorReport";

const SCHEME = "adk-evidence-doctor";
const REPORT = vscode.Uri.from({ scheme: SCHEME, path: "/ADK Evidence Doctor.md" });

/** "Run Doctor": shows what the server finds, or why there is none, and offers what mends it. */
export function registerDoctor(pool: ServerPool, version: string, log: vscode.LogOutputChannel): vscode.Disposable {
  let report = "";
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider = { onDidChange: changed.event, provideTextDocumentContent: () => report };
  const run = async () => {
    const title = vscode.l10n.t("The doctor looks at ADK Evidence");
    const found = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
      examine(pool, version),
    );
    report = doctorReport(found);
    changed.fire(REPORT);
    await show();
    const problem = problemOf(found);
    if (problem) {
      void showProblem(problem);
    }
  };
  return vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    registerCommand(COMMANDS.runDoctor, run, log),
  );
}

async function examine(pool: ServerPool, version: string): Promise<Examination> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const outcome = await pool.request("adk/status", {}, undefined, scope).then(
    (status) => ({ status }),
    (error: unknown) => {
      if (error instanceof Problem) {
        return { problem: error };
      }
      throw error;
    },
  );
  return {
    extension: version,
    editor: `${vscode.env.appName} ${vscode.version}`,
    trusted: vscode.workspace.isTrusted,
    resolution: await pool.explain(scope),
    outcome,
  };
}

async function show(): Promise<void> {
  try {
    await vscode.commands.executeCommand("markdown.showPreview", REPORT);
  } catch {
    // The editor's own Markdown extension may be off.
    await vscode.window.showTextDocument(REPORT, { preview: true });
  }
}

/** What is to be mended first. */
function problemOf({ outcome }: Examination): Problem | undefined {
  if ("problem" in outcome) {
    return outcome.problem;
  }
  const { index, settings_problem, findings } = outcome.status;
  if (settings_problem) {
    return new Problem(settings_problem, "invalid_settings", [FIXES.settings()]);
  }
  const broken = findings.find(({ state }) => state === "broken");
  if (!broken) {
    return undefined;
  }
  if (index === null) {
    return new Problem(
      vscode.l10n.t("Nothing that can be asked is indexed. Ingest the ADK's docs and source."),
      "no_index",
      [FIXES.ingest()],
    );
  }
  return new Problem(forEditor(`${broken.found} ${broken.mend}`.trim()), "broken", [FIXES.logs()]);
}

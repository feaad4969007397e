import * as vscode from "vscode";
import { projectOf } from "../evidence/scope";
import { Problem } from "../problem";
import { forEditor } from "../server/palette";
import type { ServerPool } from "../server/pool";
import { FIXES } from "../server/problems";
import { showProblem } from "../server/showProblem";
import { doctorReport, type Examination } from "./doctorReport";
import { ReportDocument } from "./reportDocument";

/** The report behind "Status": shows what the server finds, or why there is no server, and offers what fixes it. */
export class Doctor implements vscode.Disposable {
  private readonly report = new ReportDocument("adk-evidence-doctor", vscode.l10n.t("What Is Set Up"));

  constructor(
    private readonly pool: ServerPool,
    private readonly version: string,
  ) {}

  async run(): Promise<void> {
    const title = vscode.l10n.t("Looking at what is set up");
    const found = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
      examine(this.pool, this.version),
    );
    await this.report.show(doctorReport(found));
    const problem = problemOf(found);
    if (problem) {
      void showProblem(problem);
    }
  }

  dispose(): void {
    this.report.dispose();
  }
}

async function examine(pool: ServerPool, version: string): Promise<Examination> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const outcome = await pool.request("adk/status", projectOf(scope), undefined, scope).then(
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

/** What the user should fix first. */
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
      vscode.l10n.t("Nothing that can be asked is indexed. Index the ADK's docs and source."),
      "no_index",
      [FIXES.ingest()],
    );
  }
  return new Problem(forEditor(`${broken.found} ${broken.mend}`.trim()), "broken", [FIXES.logs()]);
}

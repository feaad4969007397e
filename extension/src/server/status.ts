/** The status item and the context keys, which show the state of the server of the folder in use. */

import * as vscode from "vscode";
import { projectOf } from "../evidence/scope";
import { COMMANDS, CONTEXT } from "../ids";
import { beside, type Fix } from "../problem";
import type { EvidenceResult, IndexInfo, ProjectStatus, ServerStatus } from "../protocol/generated";
import type { Method } from "../protocol/requests";
import type { AdkProjects } from "./adkProject";
import type { GetStarted } from "./getStarted";
import type { ServerState } from "./managedServer";
import type { Answered, ServerPool } from "./pool";
import { FIXES } from "./problems";
import { otherVersion, projectIn } from "./project";
import { type Situation, statusKind, statusText } from "./statusText";

interface Told {
  readonly ready: ServerState;
  index: IndexInfo | null | undefined;
  symbols?: boolean | undefined;
  project: ProjectStatus | null;
  /** The models that the server's settings choose. */
  profile?: string;
}

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("status", vscode.StatusBarAlignment.Right, 90);
  private readonly disposables: vscode.Disposable[];
  /** What each folder's server has said of its index and project, with the state in which it said so. */
  private readonly told = new Map<string, Told>();
  private readonly context = new Map<string, boolean>();
  private readonly changes = new vscode.EventEmitter<Situation>();

  /** Fires with what is known of the folder in use, whenever that may have changed. */
  readonly onDidChange = this.changes.event;

  constructor(
    private readonly pool: ServerPool,
    private readonly folderOf: (scope: vscode.Uri | undefined) => { readonly id: string },
    private readonly job: Pick<GetStarted, "state" | "begun" | "onDidChange">,
    private readonly projects: Pick<AdkProjects, "hasInUse" | "onDidFind">,
  ) {
    this.item.name = "ADK Evidence";
    this.item.command = COMMANDS.status;
    this.disposables = [
      this.item,
      pool.onDidChange(() => this.refresh()),
      projects.onDidFind(() => this.refresh()),
      pool.onDidAnswer((answered) => this.learn(answered)),
      vscode.window.onDidChangeActiveTextEditor(() => this.refresh()),
      // The index's age has changed, and another program may have made an index.
      vscode.window.onDidChangeWindowState(({ focused }) => focused && this.askAgain()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
      this.followJob(),
      this.changes,
    ];
    this.refresh();
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private get scope(): vscode.Uri | undefined {
    return vscode.window.activeTextEditor?.document.uri;
  }

  /** What is known of the folder in use. */
  situation(): Situation {
    const state = this.pool.state(this.scope);
    const known = this.told.get(this.folderOf(this.scope).id);
    const told = known?.ready === state ? known : undefined;
    const { index, symbols, project = null } = told ?? {};
    return { state, index, symbols, project, trusted: vscode.workspace.isTrusted, job: this.job.state };
  }

  /** The job tells when an index can be asked, before the ingestion has ended. */
  private followJob(): vscode.Disposable {
    let { answers } = this.job.state;
    return this.job.onDidChange((state) => {
      if (state.answers !== answers) {
        this.ask();
      }
      ({ answers } = state);
      this.refresh();
    });
  }

  private refresh(): void {
    const folder = this.folderOf(this.scope).id;
    const state = this.pool.state(this.scope);
    if (state.kind === "ready" && this.told.get(folder)?.ready !== state) {
      this.told.set(folder, { ready: state, index: undefined, project: null });
      this.ask();
    }
    const situation = this.situation();
    const { kind, text, tooltip } = statusText(situation, new Date(), vscode.env.language);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip.replaceAll(/\.?\n/g, ". "), role: "button" };
    this.item.backgroundColor = kind === "down" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    // Where nothing has to do with the ADK, a server runs only for somebody who has asked.
    if (kind !== "idle" || (this.projects.hasInUse(this.scope) && this.pool.look(this.scope))) {
      this.item.show();
    } else {
      this.item.hide();
    }
    this.setContext(CONTEXT.serverReady, situation.state.kind === "ready");
    this.setContext(CONTEXT.hasIndex, Boolean(situation.index));
    this.setContext(CONTEXT.settingUp, kind === "settingUp" && this.job.state.title === "");
    this.setContext(
      CONTEXT.setUpStopped,
      kind !== "settingUp" && (this.job.state.phase === "stopped" || this.job.begun),
    );
    this.changes.fire(situation);
  }

  private ask(scope = this.scope): void {
    // The answer comes to `learn`. Whoever asks something is shown the failure.
    const params = { ...projectOf(scope), examined: false };
    this.pool.request("adk/status", params, undefined, scope).catch(() => undefined);
  }

  private askAgain(): void {
    this.refresh();
    if (["noIndex", "partial"].includes(statusKind(this.situation()))) {
      this.ask();
    }
  }

  private learn(answered: Answered): void {
    const { folder, method, result, problem } = answered;
    const told = this.told.get(folder.id);
    // A stopped ingestion may have published an index that answers by keywords.
    if (method === "adk/ingest" && (!problem || problem.code === "cancelled")) {
      if (told && !problem) {
        told.symbols = undefined;
      }
      this.ask(folder.uri);
    }
    const index = problem?.code === "no_index" ? null : indexOf(method, result);
    if (!told || index === undefined) {
      return;
    }
    told.index = index;
    if (method === "adk/status") {
      told.symbols = (result as ServerStatus | undefined)?.symbols;
    }
    // Of `adk/status` and `adk/evidence`, as the index.
    told.profile = (result as Pick<EvidenceResult, "profile"> | undefined)?.profile ?? told.profile ?? "";
    const project = projectIn(answered);
    if (project !== undefined) {
      told.project = project;
    } else if (method === "adk/evidence" && tellsMore(result as EvidenceResult | undefined, told.project)) {
      // The project has changed its version, or another program has indexed that.
      this.ask(folder.uri);
    }
    this.refresh();
  }

  private setContext(key: string, value: boolean): void {
    if (this.context.get(key) === value) {
      return;
    }
    this.context.set(key, value);
    void vscode.commands.executeCommand("setContext", key, value);
  }

  /** Offers what can be done in this state. */
  async showMenu(): Promise<void> {
    const { tooltip } = statusText(this.situation(), new Date(), vscode.env.language);
    const keyed = this.told.get(this.folderOf(this.scope).id)?.profile === "voyage";
    const fixes = [...menu(this.situation(), this.job.begun), ...(keyed ? [FIXES.key()] : [])];
    const items = fixes.map((fix) => ({ label: fix.title, fix }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: "ADK Evidence",
      placeHolder: tooltip.replaceAll("\n", " · "),
    });
    if (chosen) {
      await vscode.commands.executeCommand(chosen.fix.command, ...(chosen.fix.arguments ?? []));
    }
  }
}

function menu(situation: Situation, begun: boolean): Fix[] {
  const ask = FIXES.ask();
  const last = [FIXES.doctor(), FIXES.restart(), FIXES.logs(), FIXES.settings()];
  const first = (() => {
    const { job, index } = situation;
    const begin = begun || job?.phase === "stopped" ? FIXES.resume() : FIXES.getStarted();
    switch (statusKind(situation)) {
      case "settingUp":
        return [FIXES.showProgress(), FIXES.stop(), ask];
      case "ready":
        return [...versionFixes(situation), ask, ...guides(index), FIXES.ingest()];
      case "partial":
        return [FIXES.resume(), ask];
      case "noIndex":
        return [begin];
      case "restricted":
        return [begin, ...beside(begin, fixesOf(situation)), FIXES.trust()];
      case "notSetUp":
        return [begin, ...beside(begin, fixesOf(situation))];
      case "down":
        return fixesOf(situation);
      case "idle":
      case "starting":
        return [...(begun ? [begin] : []), ask, FIXES.ingest()];
    }
  })();
  return [...first, ...last.filter(({ command }) => !first.some((fix) => fix.command === command))];
}

function guides(index: IndexInfo | null | undefined): Fix[] {
  return index && !("adk_docs" in index.corpora) ? [FIXES.fetchGuides()] : [];
}

function versionFixes({ project, index }: Situation): Fix[] {
  return project && otherVersion(project, Boolean(index)) !== null
    ? [FIXES.ingestVersion(project.version, project.folder)]
    : [];
}

/** Whether an answer tells what is not known of the project: its version, or that the version is indexed. */
function tellsMore(result: EvidenceResult | undefined, project: ProjectStatus | null): boolean {
  const adk = result?.adk;
  return adk != null && (adk.wanted !== project?.version || (adk.indexed === adk.wanted && !project.exact));
}

function fixesOf({ state }: Situation): readonly Fix[] {
  return state.kind === "down" ? state.problem.fixes : [];
}

/** The index that an answer describes; undefined where the answer says nothing of an index. */
function indexOf(method: Method, result: unknown): IndexInfo | null | undefined {
  const tells = method === "adk/status" || method === "adk/evidence";
  return tells && typeof result === "object" && result !== null && "index" in result
    ? (result.index as IndexInfo | null)
    : undefined;
}

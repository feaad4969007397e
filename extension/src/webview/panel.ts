/** The editor's side of the Evidence panel: where it is shown, its life, and the messages to and from its pages. */

import * as vscode from "vscode";
import { isOutlined } from "../evidence/outlines";
import { COMMANDS, CONTEXT, EVIDENCE_VIEW, PACK_VIEW } from "../ids";
import { type Fix, Problem } from "../problem";
import { isFromPage, isSavedState } from "../protocol/check";
import type { EvidenceResult } from "../protocol/generated";
import type { JobView } from "../server/getStartedCard";
import type { PanelActions, ShownRequest } from "./actions";
import type { PanelMemory, Place } from "./memory";
import {
  ACTIONS,
  type FromPage,
  type HistoryItem,
  JOB_ACTION,
  type Question,
  type SavedState,
  type TaskMode,
  type ToPage,
} from "./messages";
import { Page } from "./page";
import { PackSession } from "./session";

/**
 * The one Evidence panel, shown in a view, which the user may move, or in a tab among the editors, or in both: the same
 * session either way. Register it as the provider of `EVIDENCE_VIEW` and as the serializer of `PACK_VIEW`. Closing
 * either keeps the session's questions and the last pack; disposing of the panel does not.
 */
export class PackPanel implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly session: PackSession;
  private readonly packChanged = new vscode.EventEmitter<EvidenceResult | null>();
  private readonly pages = new Set<Page>();
  private tab: vscode.WebviewPanel | null = null;
  private view: vscode.WebviewView | null = null;
  /** The tab closes once the view is there: closing the only page would cancel the running request. */
  private movesToView = false;
  private lastPack: EvidenceResult | null = null;
  /** Settled when what an earlier window showed has been taken up, if there is anything. */
  private restored: Promise<void> | null = null;
  private unsaid: string[] = [];
  private job: JobView | null = null;

  /** The pack that is shown has changed. */
  readonly onDidChangePack = this.packChanged.event;

  /** @param taskMode The mode that a new question starts with. */
  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly actions: PanelActions,
    private readonly memory: PanelMemory,
    private readonly taskMode: TaskMode,
  ) {
    this.session = new PackSession(
      {
        newCancellation: () => new vscode.CancellationTokenSource(),
        ask: (question, token) => actions.ask(question, token),
        changed: () => this.update(),
        scopeOf: (pack) => actions.scopeOf(pack),
        words: {
          tryAgain: vscode.l10n.t("Try Again"),
          unexpected: vscode.l10n.t("Something went wrong that has no explanation. The log says more."),
        },
      },
      { query: "", taskMode, sources: "both", path: "" },
    );
    if (memory.place !== null) {
      this.offerView();
    }
  }

  /** The last pack that was shown. */
  get pack(): EvidenceResult | null {
    return this.session.pack;
  }

  /** The session's questions, the latest first; those of an earlier window only once they are restored. */
  get history(): readonly HistoryItem[] {
    return this.session.state.history;
  }

  /**
   * Shows a request while it runs, and then its answer or what went wrong.
   *
   * @returns The answer; null if it failed, was cancelled or superseded.
   */
  show(request: ShownRequest): Promise<EvidenceResult | null> {
    this.reveal();
    const { taskMode } = this;
    const { sources, path } = this.session.state.question;
    return this.session.start({
      question: { query: "", taskMode, sources, path, ...request.question },
      run: (token) => request.run(token),
      notice: () => request.notice?.() ?? null,
    });
  }

  /** Asks a question, as the page's query line does. */
  ask(question: Question): Promise<EvidenceResult | null> {
    return this.show({ question, run: (token) => this.actions.ask(question, token) });
  }

  /** Shows an earlier question's pack again, or asks it again where its pack was not kept. */
  async recall(id: string): Promise<void> {
    const again = this.session.recall(id);
    if (again === null) {
      this.reveal();
    } else {
      await this.ask(again);
    }
  }

  /** Takes up the questions of an earlier window, also before the panel is opened. */
  async restore(): Promise<void> {
    this.takeUp(null);
    await this.restored;
  }

  /** Forgets all questions but the one that is shown. */
  clearHistory(): void {
    this.session.clearHistory();
    this.keep();
  }

  /** Asks again what failed with one of these codes, whose cause is gone. A closed panel does not ask. */
  async retryAfter(codes: readonly string[]): Promise<void> {
    if (this.pages.size > 0) {
      await this.session.retryAfter(codes);
    }
  }

  /** Asks the shown question again where keywords alone have answered it. */
  async improve(): Promise<void> {
    if (this.pages.size > 0) {
      await this.session.improve();
    }
  }

  /** Shows what is missing before questions can be answered, or how far setting that up is; null takes that away. */
  showJob(job: JobView | null): void {
    this.job = job;
    this.post(this.jobMessage());
  }

  /** Brings the panel to the front, where the user last had it, without taking the focus. */
  reveal(): void {
    if (this.tab !== null) {
      this.tab.reveal(undefined, true);
    } else if (this.memory.place === "tab") {
      this.openTab();
    } else {
      this.showView();
    }
  }

  /** Moves the panel from its view to a tab, or back. */
  move(): void {
    if (this.tab === null) {
      this.openTab();
    } else {
      this.moveToView();
    }
  }

  /** Shows the panel in a tab beside the editor. */
  openTab(): void {
    this.memory.remember("tab");
    this.movesToView = false;
    if (this.tab !== null) {
      this.tab.reveal(undefined, true);
      return;
    }
    this.adoptTab(
      vscode.window.createWebviewPanel(PACK_VIEW, vscode.l10n.t("ADK Evidence"), {
        viewColumn: vscode.ViewColumn.Beside,
        preserveFocus: true,
      }),
    );
  }

  /** Shows the panel in its view, and closes its tab. */
  moveToView(): void {
    this.memory.remember("view");
    this.movesToView = this.view === null;
    this.showView();
    if (this.view !== null) {
      this.tab?.dispose();
    }
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const page = this.adopt(view.webview);
    view.onDidChangeVisibility(() => this.visibilityChanged("view", view.visible, page));
    view.onDidDispose(() => {
      this.view = null;
      this.leave(page);
    });
    if (this.movesToView) {
      this.movesToView = false;
      this.tab?.dispose();
    }
    this.visibilityChanged("view", view.visible, page);
    this.takeUp(null);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, saved: unknown): Promise<void> {
    // A tab that was opened before the editor got to this one is the newer.
    if (this.tab !== null) {
      panel.dispose();
      return;
    }
    this.takeUp(isSavedState(saved) ? saved : null);
    this.adoptTab(panel);
    await this.restored;
  }

  dispose(): void {
    this.session.cancel();
    this.tab?.dispose();
    this.packChanged.dispose();
  }

  private adoptTab(panel: vscode.WebviewPanel): void {
    const media = vscode.Uri.joinPath(this.extensionUri, "extension", "media");
    this.tab = panel;
    panel.iconPath = {
      light: vscode.Uri.joinPath(media, "panel-light.svg"),
      dark: vscode.Uri.joinPath(media, "panel-dark.svg"),
    };
    const page = this.adopt(panel.webview);
    panel.onDidChangeViewState(() => this.visibilityChanged("tab", panel.visible, page));
    panel.onDidDispose(() => {
      this.tab = null;
      this.leave(page);
    });
    this.takeUp(null);
  }

  private adopt(webview: vscode.Webview): Page {
    const page = new Page(webview, this.extensionUri, (message) => this.receive(message, page));
    this.pages.add(page);
    return page;
  }

  private leave(page: Page): void {
    this.pages.delete(page);
    if (this.pages.size === 0) {
      this.unsaid = [];
      this.session.cancel();
    }
  }

  private visibilityChanged(place: Place, visible: boolean, page: Page): void {
    if (!visible) {
      page.hidden();
    } else if (place === "view" && this.tab === null) {
      // Whoever opens the view wants the answers there.
      this.memory.remember("view");
    }
  }

  /** Opens the view without taking the focus. A view that was never shown has no object yet, only a command. */
  private showView(): void {
    if (this.view !== null) {
      this.view.show(true);
      return;
    }
    void this.offerView().then(() => vscode.commands.executeCommand(`${EVIDENCE_VIEW}.focus`, { preserveFocus: true }));
  }

  /** Where a window has nothing to do with the ADK, the view is there once it has been used. */
  private offerView(): Thenable<unknown> {
    return vscode.commands.executeCommand("setContext", CONTEXT.panelUsed, true);
  }

  /** Continues from what an earlier window showed, once. */
  private takeUp(saved: SavedState | null): void {
    this.restored ??= (saved === null ? this.memory.load() : Promise.resolve(saved)).then((state) => {
      if (state === null) {
        return;
      }
      const { pack, scope } = state.view;
      if (pack !== null && scope != null) {
        this.actions.takeUp(pack, scope);
      }
      this.session.restore(state);
    });
  }

  private keep(): void {
    const view = this.session.lasting;
    void this.memory.keep({ version: 1, view, draft: view.question, active: null });
  }

  private receive(message: unknown, page: Page): void {
    if (isFromPage(message)) {
      this.handle(message, page).catch((reason: unknown) => this.say(sentenceOf(reason)));
    }
  }

  private async handle(message: FromPage, page: Page): Promise<void> {
    switch (message.type) {
      case "ready":
        await this.restored;
        page.ready();
        page.post({ type: "state", state: this.session.state });
        page.post(this.jobMessage());
        for (const text of this.unsaid.splice(0)) {
          page.post({ type: "say", text });
        }
        return;
      case "ask":
        await this.ask(message.question);
        return;
      case "cancel":
        this.session.cancel();
        return;
      case "open":
        return this.open(message);
      case "openCitation": {
        const { pack } = this.session;
        // Only what is shown is opened, whatever the page asks for.
        if (pack !== null && isOutlined(message.citation, pack)) {
          await this.actions.openCitation(message.citation, pack);
        }
        return;
      }
      case "copy":
        return this.copy(message);
      case "action":
        return this.act(message.id);
    }
  }

  private async open({ candidateId, where }: Extract<FromPage, { type: "open" }>): Promise<void> {
    const { pack } = this.session;
    const candidate = this.session.candidate(candidateId);
    if (pack !== null && candidate !== undefined) {
      await this.actions.open(candidate, pack, where);
    }
  }

  private async copy({ what, candidateId }: Extract<FromPage, { type: "copy" }>): Promise<void> {
    const { pack } = this.session;
    const candidate = candidateId === null ? null : this.session.candidate(candidateId);
    if (pack === null || candidate === undefined) {
      return;
    }
    await this.actions.copy(what, pack, candidate);
    this.say(what === "citation" ? vscode.l10n.t("Citation copied.") : vscode.l10n.t("Evidence copied."));
  }

  private async act(id: string): Promise<void> {
    if (id === ACTIONS.retry) {
      return this.session.retry();
    }
    const fix = this.ownFix(id) ?? this.session.fix(id);
    if (fix !== undefined) {
      await this.actions.act(fix);
    }
  }

  /** What the page's own buttons do. */
  private ownFix(id: string): Fix | undefined {
    if (id.startsWith(JOB_ACTION)) {
      return this.job?.actions.find(({ title }) => id === `${JOB_ACTION}${title}`);
    }
    const { pack, notice } = this.session.state;
    // A pack with a notice is no fresh answer: the project may use another version by now.
    if (id === ACTIONS.indexVersion && pack !== null && notice == null) {
      const folder = this.actions.folderOf(pack);
      return { title: vscode.l10n.t("Ingest Corpora"), command: COMMANDS.ingest, arguments: [{ folder }] };
    }
    return id === ACTIONS.getStarted
      ? { title: vscode.l10n.t("Get Started"), command: COMMANDS.getStarted }
      : undefined;
  }

  private say(text: string): void {
    if ([...this.pages].some((page) => page.listening)) {
      this.post({ type: "say", text });
    } else {
      this.unsaid.push(text);
    }
  }

  /** A page asks for the state whenever it starts, so that one that is not listening misses nothing. */
  private update(): void {
    this.post({ type: "state", state: this.session.state });
    if (this.session.pack !== this.lastPack) {
      this.lastPack = this.session.pack;
      this.packChanged.fire(this.lastPack);
      this.keep();
    }
  }

  private jobMessage(): ToPage {
    const job = this.job && { ...this.job, actions: this.job.actions.map(({ title }) => title) };
    return { type: "job", job };
  }

  private post(message: ToPage): void {
    for (const page of this.pages) {
      page.post(message);
    }
  }
}

function sentenceOf(reason: unknown): string {
  return reason instanceof Problem
    ? reason.message
    : vscode.l10n.t("Something went wrong that has no explanation. The log says more.");
}

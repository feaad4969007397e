/** The editor's side of the Evidence panel: its life, and the messages to and from its page. */

import * as vscode from "vscode";
import { isOutlined } from "../evidence/outlines";
import { COMMANDS, CONTEXT, EVIDENCE_VIEW } from "../ids";
import { type Fix, Problem } from "../problem";
import { isFromPage } from "../protocol/check";
import type { EvidenceResult } from "../protocol/generated";
import type { JobView } from "../server/getStartedCard";
import type { PanelActions, ShownRequest } from "./actions";
import type { PanelMemory } from "./memory";
import {
  ACTIONS,
  type FromPage,
  type HistoryItem,
  JOB_ACTION,
  type Question,
  type TaskMode,
  type ToPage,
} from "./messages";
import { Page } from "./page";
import { PackSession } from "./session";

/**
 * The one Evidence panel, shown in a view, which the user may move. Register it as the provider of `EVIDENCE_VIEW`.
 * Closing the view keeps the session's questions and the last pack; disposing of the panel does not.
 */
export class PackPanel implements vscode.WebviewViewProvider, vscode.Disposable {
  private readonly session: PackSession;
  private readonly packChanged = new vscode.EventEmitter<EvidenceResult | null>();
  private readonly asks = new vscode.EventEmitter<void>();
  private shown: { readonly view: vscode.WebviewView; readonly page: Page } | null = null;
  private lastPack: EvidenceResult | null = null;
  /** Settled when what an earlier window showed has been taken up, if there is anything. */
  private restored: Promise<void> | null = null;
  private unsaid: string[] = [];
  private job: JobView | null = null;

  /** The pack that is shown has changed. */
  readonly onDidChangePack = this.packChanged.event;
  /** Somebody asks something new. */
  readonly onDidAsk = this.asks.event;

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
    if (memory.open) {
      this.reveal();
    } else if (memory.used) {
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
   * @param focus Whether the next keys are for the results: of a question that was typed, not of a selection in a file.
   * @returns The answer; null if it failed, was cancelled or superseded.
   */
  show(request: ShownRequest, focus = false): Promise<EvidenceResult | null> {
    this.reveal(focus);
    this.asks.fire();
    const { taskMode } = this;
    const { sources, path } = this.session.state.question;
    return this.session.start({
      question: { query: "", taskMode, sources, path, ...request.question },
      run: (token) => request.run(token),
      notice: () => request.notice?.() ?? null,
    });
  }

  /** Asks a question, as the page's query line does. */
  ask(question: Question, focus = false): Promise<EvidenceResult | null> {
    return this.show({ question, run: (token) => this.actions.ask(question, token) }, focus);
  }

  /** Shows an earlier question's pack again, or asks it again where its pack was not kept. */
  async recall(id: string): Promise<void> {
    const again = this.session.recall(id);
    if (again === null) {
      this.reveal(true);
    } else {
      await this.ask(again, true);
    }
  }

  /** Continues from what an earlier window showed, once, also before the panel is opened. */
  restore(): Promise<void> {
    this.restored ??= this.memory.load().then((state) => {
      if (state === null) {
        return;
      }
      const { pack, scope } = state.view;
      if (pack !== null && scope != null) {
        this.actions.takeUp(pack, scope);
      }
      this.session.restore(state);
    });
    return this.restored;
  }

  /** Forgets all questions but the one that is shown. */
  clearHistory(): void {
    this.session.clearHistory();
    this.keep();
  }

  /** Asks again what failed with one of these codes, whose cause is gone. A closed panel does not ask. */
  async retryAfter(codes: readonly string[]): Promise<void> {
    if (this.shown !== null) {
      await this.session.retryAfter(codes);
    }
  }

  /** Asks the shown question again where keywords alone, or the index of another version, have answered it. */
  async improve(): Promise<void> {
    if (this.shown !== null) {
      await this.session.improve();
    }
  }

  /** Shows what is missing before questions can be answered, or how far setting that up is; null takes that away. */
  showJob(job: JobView | null): void {
    this.job = job;
    this.post(this.jobMessage());
  }

  /** Brings the view to the front. One that was never shown has no object, only a command. */
  reveal(focus = false): void {
    if (this.shown !== null) {
      this.shown.view.show(!focus);
      return;
    }
    this.memory.noteUse();
    void this.offerView().then(() =>
      vscode.commands.executeCommand(`${EVIDENCE_VIEW}.focus`, { preserveFocus: !focus }),
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.memory.noteUse();
    const page = new Page(view.webview, this.extensionUri, (message) => this.receive(message, page));
    const shown = { view, page };
    this.shown = shown;
    this.memory.noteOpen(true);
    view.onDidChangeVisibility(() => {
      this.memory.noteOpen(view.visible);
      if (!view.visible) {
        page.hidden();
      }
    });
    view.onDidDispose(() => {
      if (this.shown === shown) {
        this.shown = null;
        this.unsaid = [];
        this.session.cancel();
      }
    });
    void this.restore();
  }

  dispose(): void {
    this.session.cancel();
    this.packChanged.dispose();
  }

  /** Where a window has nothing to do with the ADK, the view is there once it has been used. */
  private offerView(): Thenable<unknown> {
    return vscode.commands.executeCommand("setContext", CONTEXT.panelUsed, true);
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
    const candidate = this.session.candidate(candidateId);
    if (pack !== null && candidate !== undefined) {
      this.say(await this.actions.copy(what, pack, candidate));
    }
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
      return { title: vscode.l10n.t("Update Index"), command: COMMANDS.ingest, arguments: [{ folder }] };
    }
    return undefined;
  }

  private say(text: string): void {
    if (this.shown?.page.listening) {
      this.post({ type: "say", text });
    } else {
      this.unsaid.push(text);
    }
  }

  /** The page asks for the state whenever it starts, so that it misses nothing while it does not listen. */
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
    this.shown?.page.post(message);
  }
}

function sentenceOf(reason: unknown): string {
  return reason instanceof Problem
    ? reason.message
    : vscode.l10n.t("Something went wrong that has no explanation. The log says more.");
}

/** The editor's side of the Evidence panel: one webview, its life, and the messages to and from its page. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { isOutlined } from "../evidence/outlines";
import { COMMANDS, PACK_VIEW } from "../ids";
import { type Fix, Problem } from "../problem";
import { isFromPage, isSavedState } from "../protocol/check";
import type { EvidenceResult } from "../protocol/generated";
import type { PanelActions, ShownRequest } from "./actions";
import { pageHtml } from "./html";
import { ACTIONS, type FromPage, type Question, type TaskMode, type ToPage } from "./messages";
import { PackSession } from "./session";

/**
 * The one Evidence panel. Register it as the serializer of `PACK_VIEW`, too: it takes up a panel that the editor kept.
 * Closing the panel keeps the session's questions and the last pack; disposing of it does not.
 */
export class PackPanel implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly session: PackSession;
  private readonly packChanged = new vscode.EventEmitter<EvidenceResult | null>();
  private panel: vscode.WebviewPanel | null = null;
  private lastPack: EvidenceResult | null = null;
  /** The page listens: it has said so, and has not been hidden, which drops it, since. */
  private listening = false;
  private unsaid: string[] = [];

  /** The pack that is shown has changed. */
  readonly onDidChangePack = this.packChanged.event;

  /** @param taskMode The mode that a new question starts with. */
  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly actions: PanelActions,
    taskMode: TaskMode,
  ) {
    this.session = new PackSession(
      {
        newCancellation: () => new vscode.CancellationTokenSource(),
        changed: () => this.update(),
        scopeOf: (pack) => actions.scopeOf(pack),
        words: {
          tryAgain: vscode.l10n.t("Try Again"),
          unexpected: vscode.l10n.t("Something went wrong that has no explanation. The log says more."),
        },
      },
      { query: "", taskMode, sources: "both", path: "" },
    );
  }

  /** The last pack that was shown. */
  get pack(): EvidenceResult | null {
    return this.session.pack;
  }

  /**
   * Shows a request while it runs, and then its answer or what went wrong.
   *
   * @returns The answer; null if it failed, was cancelled or superseded.
   */
  show(request: ShownRequest): Promise<EvidenceResult | null> {
    this.reveal();
    const { taskMode, sources, path } = this.session.state.question;
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

  /** Asks again what failed with one of these codes, whose cause is gone. A closed panel does not ask. */
  async retryAfter(codes: readonly string[]): Promise<void> {
    if (this.panel !== null) {
      await this.session.retryAfter(codes);
    }
  }

  /** Brings the panel to the front without taking the focus; opens it beside the editor if it is closed. */
  reveal(): void {
    if (this.panel !== null) {
      this.panel.reveal(undefined, true);
      return;
    }
    this.adopt(
      vscode.window.createWebviewPanel(
        PACK_VIEW,
        vscode.l10n.t("ADK Evidence"),
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableFindWidget: true },
      ),
    );
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, saved: unknown): Promise<void> {
    // A panel that was opened before the editor got to this one is the newer.
    if (this.panel !== null) {
      panel.dispose();
      return;
    }
    if (isSavedState(saved)) {
      const { pack, scope } = saved.view;
      if (pack !== null && scope != null) {
        this.actions.takeUp(pack, scope);
      }
      this.session.restore(saved);
    }
    this.adopt(panel);
  }

  dispose(): void {
    this.session.cancel();
    this.panel?.dispose();
    this.packChanged.dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    const { webview } = panel;
    const dist = vscode.Uri.joinPath(this.extensionUri, "extension", "dist");
    const media = vscode.Uri.joinPath(this.extensionUri, "extension", "media");
    this.panel = panel;
    this.listening = false;
    panel.iconPath = {
      light: vscode.Uri.joinPath(media, "panel-light.svg"),
      dark: vscode.Uri.joinPath(media, "panel-dark.svg"),
    };
    webview.options = { enableScripts: true, enableCommandUris: false, localResourceRoots: [dist, media] };
    webview.onDidReceiveMessage((message: unknown) => this.receive(message));
    panel.onDidChangeViewState(() => {
      this.listening &&= panel.visible;
    });
    panel.onDidDispose(() => {
      this.panel = null;
      this.listening = false;
      this.unsaid = [];
      this.session.cancel();
    });
    webview.html = pageHtml({
      cspSource: webview.cspSource,
      scriptUri: webview.asWebviewUri(vscode.Uri.joinPath(dist, "webview.js")).toString(),
      styleUri: webview.asWebviewUri(vscode.Uri.joinPath(media, "webview.css")).toString(),
      nonce: randomBytes(18).toString("base64url"),
      language: vscode.env.language,
      title: panel.title,
      strings: vscode.l10n.bundle ?? {},
    });
  }

  private receive(message: unknown): void {
    if (isFromPage(message)) {
      this.handle(message).catch((reason: unknown) => this.say(sentenceOf(reason)));
    }
  }

  private async handle(message: FromPage): Promise<void> {
    switch (message.type) {
      case "ready":
        this.listening = true;
        this.update();
        for (const text of this.unsaid.splice(0)) {
          this.post({ type: "say", text });
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
      case "history": {
        const again = this.session.recall(message.id);
        if (again !== null) {
          await this.ask(again);
        }
        return;
      }
      case "clearHistory":
        this.session.clearHistory();
        return;
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
    const ingest = { title: vscode.l10n.t("Ingest Corpora"), command: COMMANDS.ingest };
    const { pack, notice } = this.session.state;
    // A pack with a notice is no fresh answer: the project may use another version by now.
    if (id === ACTIONS.indexVersion && pack !== null && notice == null) {
      return { ...ingest, arguments: [{ folder: this.actions.folderOf(pack) }] };
    }
    return id === ACTIONS.ingest ? ingest : undefined;
  }

  private say(text: string): void {
    if (this.listening) {
      this.post({ type: "say", text });
    } else {
      this.unsaid.push(text);
    }
  }

  /** The page asks for the state whenever it starts, so that one that is not listening misses nothing. */
  private update(): void {
    if (this.listening) {
      this.post({ type: "state", state: this.session.state });
    }
    if (this.session.pack !== this.lastPack) {
      this.lastPack = this.session.pack;
      this.packChanged.fire(this.lastPack);
    }
  }

  private post(message: ToPage): void {
    void this.panel?.webview.postMessage(message);
  }
}

function sentenceOf(reason: unknown): string {
  return reason instanceof Problem
    ? reason.message
    : vscode.l10n.t("Something went wrong that has no explanation. The log says more.");
}

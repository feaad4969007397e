/**
 * The entry "Evidence Only" in the chat's list of models. The editor lets no participant answer as long as it has no
 * language model; with this entry, @adk answers by itself, and nothing is sent to a model. Where the editor has a
 * language model, there is no such entry: the editor might choose it before the models.
 */

import * as vscode from "vscode";
import { chatWanted } from "../config";
import { TaskQueue } from "../server/taskQueue";

/** As package.json names it. */
const VENDOR = "adk-evidence";
const ID = "evidence-only";
const CHARACTERS_PER_TOKEN = 4;

/** What the editor asks of a provider of models (since 1.104, later than the typings of the oldest editor). */
interface Provider {
  onDidChangeLanguageModelChatInformation: vscode.Event<void>;
  provideLanguageModelChatInformation(): object[];
  provideLanguageModelChatResponse(
    model: unknown,
    messages: unknown,
    options: unknown,
    progress: vscode.Progress<vscode.LanguageModelTextPart>,
  ): Promise<void>;
  provideTokenCount(model: unknown, text: unknown): Promise<number>;
}
type Register = (vendor: string, provider: Provider) => vscode.Disposable;

/** Whether a request comes without a language model. */
export function hasNoModel({ model }: Pick<vscode.ChatRequest, "model">): boolean {
  // Editors that derive from this one may pass none.
  return model === undefined || model.vendor === VENDOR;
}

/** Whether the window has to do with the ADK, and what tells when it does. */
export interface AdkInUse {
  inUse(): boolean;
  onDidFind: vscode.Event<unknown>;
}

/**
 * Registers the entry, in editors that have a place for it.
 *
 * @param adk Models are looked for, and the entry is offered, only in windows that have to do with the ADK.
 */
export function registerEvidenceOnly(adk: AdkInUse): vscode.Disposable {
  const { registerLanguageModelChatProvider: register } = vscode.lm as unknown as {
    registerLanguageModelChatProvider?: Register;
  };
  if (typeof register !== "function") {
    return vscode.Disposable.from();
  }
  const entry = new EvidenceOnly(adk);
  const registered = register(VENDOR, entry);
  // The editor asks a new provider only when the list of models is opened, which people without models do not do.
  entry.changed();
  return vscode.Disposable.from(registered, entry);
}

class EvidenceOnly implements Provider, vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<void>();
  readonly onDidChangeLanguageModelChatInformation = this.changes.event;
  private readonly watching: vscode.Disposable;
  private readonly looks = new TaskQueue();
  private looked = false;
  /** Whether the editor has no language model. */
  private alone = false;

  constructor(private readonly adk: AdkInUse) {
    this.watching = vscode.Disposable.from(
      vscode.lm.onDidChangeChatModels(() => this.looked && this.look()),
      adk.onDidFind(() => this.changed()),
    );
  }

  provideLanguageModelChatInformation(): object[] {
    if (!chatWanted() || !this.adk.inUse()) {
      return [];
    }
    if (!this.looked) {
      this.looked = true;
      this.look();
    }
    return this.alone ? [entry()] : [];
  }

  /** Tells the editor to ask again. */
  changed(): void {
    this.changes.fire();
  }

  async provideLanguageModelChatResponse(
    _model: unknown,
    _messages: unknown,
    _options: unknown,
    progress: vscode.Progress<vscode.LanguageModelTextPart>,
  ): Promise<void> {
    const sentence = vscode.l10n.t(
      "Evidence Only is not a language model. Begin the question with @adk to get the evidence, or add a language model to the chat.",
    );
    progress.report(new vscode.LanguageModelTextPart(sentence));
  }

  async provideTokenCount(_model: unknown, text: unknown): Promise<number> {
    const characters = typeof text === "string" ? text : (JSON.stringify(text) ?? "");
    return Math.ceil(characters.length / CHARACTERS_PER_TOKEN);
  }

  dispose(): void {
    this.watching.dispose();
    this.changes.dispose();
  }

  /** Sees which models there are. The editor asks all providers for that, this one as well: it must not wait here. */
  private look(): void {
    void this.looks.run("look", async () => {
      try {
        const models = await vscode.lm.selectChatModels();
        const alone = models.every(({ vendor }) => vendor === VENDOR);
        if (alone !== this.alone) {
          this.alone = alone;
          this.changed();
        }
      } catch {
        // An editor that cannot say which models there are is asked again when its models change.
      }
    });
  }
}

function entry(): object {
  return {
    id: ID,
    name: vscode.l10n.t("Evidence Only (No Model)"),
    tooltip: vscode.l10n.t(
      "@adk answers with cited passages of the ADK's docs and source; no language model is asked.",
    ),
    family: ID,
    version: "1",
    maxInputTokens: 1000,
    maxOutputTokens: 1000,
    // The chat opens in agent mode, where the editor offers no others.
    capabilities: { toolCalling: true },
    isUserSelectable: true,
  };
}

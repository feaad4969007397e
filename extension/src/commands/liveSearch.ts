import * as vscode from "vscode";

/** Long enough that a word is not searched letter by letter, short enough not to be felt. */
const REST_MS = 120;

/** What a search reports while somebody types. */
export interface LiveSearchEvents<T> {
  /** Whether an answer is awaited. */
  onBusy(busy: boolean): void;
  /** The answer to the current text; null where the text is blank. */
  onAnswer(answer: T | null): void;
  onFailure(reason: unknown): void;
}

/** Searches while somebody types: only for the latest text, after a pause; earlier searches are cancelled. */
export class LiveSearch<T> implements vscode.Disposable {
  private timer: NodeJS.Timeout | undefined;
  private asked: vscode.CancellationTokenSource | undefined;

  constructor(
    private readonly search: (query: string, token: vscode.CancellationToken) => Promise<T>,
    private readonly events: LiveSearchEvents<T>,
  ) {}

  /** Takes the current text. */
  type(text: string): void {
    this.dispose();
    const query = text.trim();
    this.events.onBusy(query !== "");
    if (query === "") {
      this.events.onAnswer(null);
      return;
    }
    this.timer = setTimeout(() => void this.ask(query), REST_MS);
  }

  /** Cancels the search; its outcome is not reported any more. */
  dispose(): void {
    clearTimeout(this.timer);
    this.asked?.cancel();
    this.asked?.dispose();
    this.asked = undefined;
  }

  private async ask(query: string): Promise<void> {
    const source = new vscode.CancellationTokenSource();
    this.asked = source;
    // An answer or a failure may still come after its request was cancelled.
    const isCurrent = () => this.asked === source;
    try {
      const answer = await this.search(query, source.token);
      if (isCurrent()) {
        this.events.onBusy(false);
        this.events.onAnswer(answer);
      }
    } catch (reason) {
      if (isCurrent()) {
        this.events.onBusy(false);
        this.events.onFailure(reason);
      }
    }
  }
}

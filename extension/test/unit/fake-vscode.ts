/** As much of the editor's module as unit tests need: the sentences untranslated, and a webview panel. */

export const l10n = {
  bundle: undefined,
  t(message: string, ...values: (string | number | boolean)[]): string {
    return message.replaceAll(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)]));
  },
};

export const env = { language: "en" };

export const ViewColumn = { Active: -1, Beside: -2 } as const;

export class Uri {
  private constructor(readonly path: string) {}

  static file(path: string): Uri {
    return new Uri(path);
  }

  static joinPath(base: Uri, ...segments: string[]): Uri {
    return new Uri([base.path, ...segments].join("/"));
  }

  toString(): string {
    return `file://${this.path}`;
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => unknown>();

  readonly event = (listener: (value: T) => unknown): { dispose(): void } => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of this.listeners) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class CancellationTokenSource {
  private readonly cancelled = new EventEmitter<void>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.cancelled.event };

  cancel(): void {
    this.token.isCancellationRequested = true;
    this.cancelled.fire();
  }

  dispose(): void {
    this.cancelled.dispose();
  }
}

/** A panel that a test drives: it collects what is posted to its page, and sends what its page would. */
export class FakePanel {
  readonly posted: unknown[] = [];
  readonly received = new EventEmitter<unknown>();
  readonly viewStateChanged = new EventEmitter<void>();
  readonly disposed = new EventEmitter<void>();
  visible = true;
  reveals = 0;
  iconPath: unknown;
  readonly webview = {
    options: {} as Record<string, unknown>,
    html: "",
    cspSource: "vscode-resource:",
    asWebviewUri: (uri: Uri) => uri,
    onDidReceiveMessage: this.received.event,
    postMessage: (message: unknown) => {
      this.posted.push(message);
      return Promise.resolve(true);
    },
  };
  readonly onDidChangeViewState = this.viewStateChanged.event;
  readonly onDidDispose = this.disposed.event;

  constructor(
    readonly viewType: string,
    readonly title: string,
  ) {}

  reveal(): void {
    this.reveals++;
  }

  dispose(): void {
    this.disposed.fire();
  }
}

/** The panels that were opened, for tests to look at. */
export const openedPanels: FakePanel[] = [];

export const window = {
  createWebviewPanel(viewType: string, title: string): FakePanel {
    const panel = new FakePanel(viewType, title);
    openedPanels.push(panel);
    return panel;
  },
};

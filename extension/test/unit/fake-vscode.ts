/** As much of the editor's module as unit tests need: the sentences untranslated, a webview panel, a clipboard. */

export const l10n = {
  bundle: undefined,
  t(message: string, ...values: (string | number | boolean)[]): string {
    return message.replaceAll(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)]));
  },
};

let clipboard = "";

export const env = {
  language: "en",
  clipboard: {
    readText: async () => clipboard,
    writeText: async (text: string) => {
      clipboard = text;
    },
  },
};

export const LogLevel = { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 } as const;
export const ViewColumn = { Active: -1, Beside: -2 } as const;
export const StatusBarAlignment = { Left: 1, Right: 2 } as const;

export class Uri {
  private constructor(
    readonly path: string,
    readonly scheme = /^([a-z-]+):/.exec(path)?.[1] ?? "file",
    readonly query = "",
  ) {}

  static from({ scheme, path, query }: { scheme: string; path: string; query?: string }): Uri {
    return new Uri(path, scheme, query);
  }

  static file(path: string): Uri {
    return new Uri(path);
  }

  static parse(address: string): Uri {
    return new Uri(address.replace(/^file:\/\//, ""));
  }

  get fsPath(): string {
    return this.path;
  }

  static joinPath(base: Uri, ...segments: string[]): Uri {
    return new Uri([base.path, ...segments].join("/"));
  }

  toString(): string {
    const query = this.query && `?${this.query}`;
    return this.scheme === "file" ? `file://${this.path}${query}` : `${this.scheme}:${this.path}${query}`;
  }
}

export class Disposable {
  static from(...disposables: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const disposable of disposables) {
        disposable.dispose();
      }
    });
  }

  constructor(readonly dispose: () => unknown) {}
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => unknown>();

  readonly event = (listener: (value: T) => unknown): { dispose(): void } => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of this.listeners) {
      listener(value);
    }
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class CancellationError extends Error {}

export class ProcessExecution {
  constructor(
    readonly process: string,
    readonly args: string[],
    readonly options: { cwd?: string },
  ) {}
}

export class Task {
  presentationOptions = {};
  constructor(
    readonly definition: object,
    readonly scope: number,
    readonly name: string,
    readonly source: string,
    readonly execution: ProcessExecution,
  ) {}
}

export const TaskScope = { Global: 1, Workspace: 2 } as const;
export const tasks = {
  /** What was run, for tests to look at. */
  executed: [] as Task[],
  async executeTask(task: Task): Promise<void> {
    tasks.executed.push(task);
  },
};

export const commands = {
  /** What was run, for tests to look at. */
  executed: [] as unknown[][],
  async executeCommand(...all: unknown[]): Promise<undefined> {
    commands.executed.push(all);
  },
};
export const ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 } as const;
export const QuickPickItemKind = { Separator: -1, Default: 0 } as const;

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}

  isEqual({ line, character }: Position): boolean {
    return this.line === line && this.character === character;
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;

  constructor(start: Position, end: Position);
  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number);
  constructor(...places: [Position, Position] | [number, number, number, number]) {
    this.start = places.length === 2 ? places[0] : new Position(places[0], places[1]);
    this.end = places.length === 2 ? places[1] : new Position(places[2], places[3]);
  }

  get isEmpty(): boolean {
    return this.start.isEqual(this.end);
  }
}

export class Selection extends Range {
  readonly active = this.end;
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class MarkdownString {
  constructor(readonly value: string) {}
}

export class TabInputText {}

export class TabInputWebview {}

export class FileSystemError extends Error {
  static readonly FileNotFound = (uri: Uri) => new FileSystemError(uri.path);
  static readonly NoPermissions = () => new FileSystemError("no permissions");
  static readonly Unavailable = (message: string) => new FileSystemError(message);
}

export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 } as const;
export const OverviewRulerLane = { Full: 7 } as const;
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 } as const;
export const TextEditorSelectionChangeKind = { Keyboard: 1, Mouse: 2, Command: 3 } as const;

export class Location {
  constructor(
    readonly uri: Uri,
    readonly range: Range,
  ) {}
}

export class DiagnosticRelatedInformation {
  constructor(
    readonly location: Location,
    readonly message: string,
  ) {}
}

export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 } as const;
export const CodeActionTriggerKind = { Invoke: 1, Automatic: 2 } as const;

/** Documents that are open, for tests to add to. */
export const textDocuments: ({ uri: Uri } & Record<string, unknown>)[] = [];

/** Settings by their whole names, for tests to set. */
export const configured = new Map<string, unknown>();
/** Fires the name of a setting that has changed. */
export const configurationChanges = new EventEmitter<string>();

/** Nothing is set but by tests, and no file can be read. */
export const workspace = {
  isTrusted: true,
  workspaceFolders: undefined as { uri: Uri; name: string; index: number }[] | undefined,
  getConfiguration: (section?: string) => ({
    get: (name: string, value?: unknown): unknown =>
      configured.get(section === undefined ? name : `${section}.${name}`) ?? value,
  }),
  onDidChangeConfiguration: (listener: (event: { affectsConfiguration(name: string): boolean }) => void) =>
    configurationChanges.event((changed) => listener({ affectsConfiguration: (name) => changed.startsWith(name) })),
  getWorkspaceFolder: (uri: Uri) => workspace.workspaceFolders?.find((folder) => uri.path.startsWith(folder.uri.path)),
  onDidChangeWorkspaceFolders: () => new Disposable(() => undefined),
  textDocuments,
  closedDocuments: new EventEmitter<{ uri: Uri }>(),
  onDidCloseTextDocument: (listener: (document: { uri: Uri }) => void) => workspace.closedDocuments.event(listener),
  openTextDocument: async (uri: Uri) => textDocuments.find((document) => document.uri.toString() === uri.toString()),
  asRelativePath: (uri: Uri) => uri.path,
  fs: {
    stat: async () => {
      throw new Error("there is no file");
    },
  },
};

export class ChatRequestTurn {
  constructor(
    readonly prompt: string,
    readonly participant: string,
  ) {}
}

export class ChatResponseTurn {
  constructor(
    readonly response: readonly unknown[],
    readonly result: { metadata?: unknown },
    readonly participant: string,
  ) {}
}

export class ChatResponseMarkdownPart {
  constructor(readonly value: { value: string }) {}
}

export class ChatResponseAnchorPart {
  constructor(
    readonly value: unknown,
    readonly title?: string,
  ) {}
}

export class LanguageModelChatMessage {
  static readonly User = (content: string) => new LanguageModelChatMessage("user", content);
  static readonly Assistant = (content: string) => new LanguageModelChatMessage("assistant", content);

  private constructor(
    readonly role: string,
    readonly content: string,
  ) {}
}

export class LanguageModelError extends Error {
  static readonly NoPermissions = (message?: string) => new LanguageModelError(message, "NoPermissions");
  static readonly Blocked = (message?: string) => new LanguageModelError(message, "Blocked");
  static readonly NotFound = (message?: string) => new LanguageModelError(message, "NotFound");

  constructor(
    message: string | undefined,
    readonly code: string,
  ) {
    super(message);
  }
}

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}

export class LanguageModelToolResult {
  constructor(readonly content: unknown[]) {}
}

interface Tool {
  invoke(options: unknown, token: unknown): unknown;
  prepareInvocation?(options: unknown, token: unknown): unknown;
}

/** The tools for language models by name. */
export const tools = new Map<string, Tool>();

/** The providers of MCP servers by id. */
export const mcpProviders = new Map<string, unknown>();

export class McpStdioServerDefinition {
  cwd: Uri | undefined;

  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: string[],
    readonly env: Record<string, string | number | null>,
    readonly version: string,
  ) {}
}

/** What was registered as providers of language models. */
export const modelProviders = new Map<string, unknown>();

/** The models that the editor has, and what tells of changes. */
export const chatModels: { vendor: string }[] = [];
export const chatModelChanges = new EventEmitter<void>();

export const lm = {
  selectChatModels: async () => [...chatModels],
  onDidChangeChatModels: chatModelChanges.event,
  registerLanguageModelChatProvider(vendor: string, provider: unknown): Disposable {
    modelProviders.set(vendor, provider);
    return new Disposable(() => modelProviders.delete(vendor));
  },
  registerTool(name: string, tool: Tool): Disposable {
    tools.set(name, tool);
    return new Disposable(() => tools.delete(name));
  },
  registerMcpServerDefinitionProvider(id: string, provider: unknown): Disposable {
    mcpProviders.set(id, provider);
    return new Disposable(() => mcpProviders.delete(id));
  },
  invokeTool: async (name: string, options: unknown, token: unknown) => tools.get(name)?.invoke(options, token),
};

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

function fakeWebview({ posted, received }: { posted: unknown[]; received: EventEmitter<unknown> }) {
  return {
    options: {} as Record<string, unknown>,
    html: "",
    cspSource: "vscode-resource:",
    asWebviewUri: (uri: Uri) => uri,
    onDidReceiveMessage: received.event,
    postMessage: (message: unknown) => {
      posted.push(message);
      return Promise.resolve(true);
    },
  };
}

/** A view that a test drives: it collects what is posted to its page, and sends what its page would. */
export class FakeView {
  readonly posted: unknown[] = [];
  readonly received = new EventEmitter<unknown>();
  readonly visibilityChanged = new EventEmitter<void>();
  readonly disposed = new EventEmitter<void>();
  visible = true;
  /** Whether it was shown without the focus, each time. */
  readonly shown: (boolean | undefined)[] = [];
  readonly webview = fakeWebview(this);
  readonly onDidChangeVisibility = this.visibilityChanged.event;
  readonly onDidDispose = this.disposed.event;

  show(preserveFocus?: boolean): void {
    this.shown.push(preserveFocus);
  }
}

/** An editor with a document of some lines, which remembers what is marked in it. */
export class FakeEditor {
  selection: Selection = new Selection(0, 0, 0, 0);
  marked: { range: Range; renderOptions?: { after?: { contentText?: string } } }[] = [];
  viewColumn = 1;
  readonly document;

  constructor(uri: Uri, text: string) {
    const lines = text.split("\n");
    const lineAt = (line: number) => ({ range: new Range(line, 0, line, lines[line]?.length ?? 0) });
    this.document = { uri, lineAt, lineCount: lines.length, validateRange: (range: Range) => range };
  }

  revealRange(): void {}

  setDecorations(_type: unknown, marks: { range: Range }[]): void {
    this.marked = marks;
  }
}

export const extensions = { getExtension: () => undefined, onDidChange: () => new Disposable(() => undefined) };

export const window = {
  visibleTextEditors: [] as FakeEditor[],
  activeTextEditor: undefined as FakeEditor | undefined,
  activeEditorChanged: new EventEmitter<FakeEditor | undefined>(),
  visibleEditorsChanged: new EventEmitter<FakeEditor[]>(),
  selectionChanged: new EventEmitter<{ textEditor: FakeEditor; kind: number | undefined }>(),
  onDidChangeActiveTextEditor: (listener: (editor: FakeEditor | undefined) => void) =>
    window.activeEditorChanged.event(listener),
  onDidChangeVisibleTextEditors: (listener: (editors: FakeEditor[]) => void) =>
    window.visibleEditorsChanged.event(listener),
  onDidChangeTextEditorSelection: (listener: (event: { textEditor: FakeEditor; kind: number | undefined }) => void) =>
    window.selectionChanged.event(listener),
  createTextEditorDecorationType: () => new Disposable(() => undefined),
  tabGroups: { all: [], activeTabGroup: undefined },
  /** What was shown, the latest last. */
  shown: [] as { uri: Uri; options: unknown }[],
  async showTextDocument(shown: { uri: Uri } | Uri, options: unknown): Promise<FakeEditor> {
    const uri = shown instanceof Uri ? shown : shown.uri;
    window.shown.push({ uri, options });
    return new FakeEditor(uri, "one\ntwo\nthree\nfour\nfive\nsix\n");
  },
  setStatusBarMessage: () => new Disposable(() => undefined),
  showWarningMessage: async () => undefined,
};

/** One running language server, from its start to its end. */

import os from "node:os";
import readline from "node:readline";
import {
  type CancellationToken,
  Disposable,
  type LogOutputChannel,
  type TextDocument,
  type Uri,
  workspace,
} from "vscode";
import {
  type ClientCapabilities,
  CloseAction,
  DidOpenTextDocumentNotification,
  ErrorAction,
  type Executable,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  type ServerCapabilities,
  type StaticFeature,
} from "vscode-languageclient/node";
import { definitionAt } from "../evidence/citedLocations";
import { INGEST_PROGRESS, ingestionIs, progressMiddleware } from "../evidence/ingestProgress";
import { asksForActions, asksForFixes, withReadOnlySource } from "../evidence/remarks";
import { readOnly } from "../evidence/sourceAddress";
import { SYNCHRONIZED } from "../evidence/synchronized";
import { COMMANDS, LINK_COMMANDS, SECTION } from "../ids";
import { serverLine, writeLine } from "../log";
import type { Problem } from "../problem";
import type { SourceFile } from "../protocol/generated";
import type { Method, Params, Result } from "../protocol/requests";
import { requestProblem } from "./errors";
import { PROBLEMS } from "./problems";
import { areCompatible, pythonEnvironment } from "./python";
import type { Launch } from "./resolve";
import { withinTime } from "./time";

/** A server that was started. It is never started twice. */
export interface ServerSession {
  /** @throws Problem where the server cannot be started. */
  start(): Promise<void>;
  stop(): Promise<void>;
  request<M extends Method>(method: M, params: Params<M>, token: CancellationToken): Promise<Result<M>>;
}

/** What a session needs to know of the window. */
export interface SessionOptions {
  readonly log: LogOutputChannel;
  /** The extension's own version. */
  readonly version: string;
  /** Variables that are added to the server's environment, secrets among them. */
  environment(): Promise<Readonly<Record<string, string>>>;
  /** The section `adkEvidence` as the server gets it. */
  settings(): Record<string, unknown>;
  /** Waits until they are known, while the server starts. */
  settled(): Promise<void>;
  /** Calls back when something has changed that the editor does not count among its settings. */
  onDidChangeSettings(listener: () => void): Disposable;
  /** Whether the server is to have a document open. */
  synchronizes(document: TextDocument): boolean;
  /** Calls back when that may have become true of documents that are open in the editor. */
  onDidSynchronize(listener: () => void): Disposable;
  /** Whether hovers and code actions of a document are this server's. */
  serves(document: TextDocument): boolean;
  hoversWanted(document: TextDocument): boolean;
  diagnosticsWanted(document: TextDocument): boolean;
  /** The address of the read-only document with a source. */
  sourceAddress(place: SourceFile): Uri;
  /** The server ended without being asked to, after it had started. */
  ended(): void;
}

const START_SECONDS = 60;
/** What links of hovers, and code actions, may run. */
const OWN_COMMANDS: string[] = [COMMANDS.findEvidence, LINK_COMMANDS.openCitation];

/** A client that leaves messages to the pool; the library would show additional, technical ones. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, withoutStack(data), false);
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, withoutStack(data), false);
  }
}

export class ClientSession implements ServerSession {
  private client: LanguageClient | undefined;
  private running = false;
  private subscriptions: Disposable | undefined;
  /** The addresses of the documents that the server has open. */
  private readonly open = new Set<string>();
  /** The settings that the server has, as text. */
  private told: string | undefined;

  constructor(
    private readonly launch: Launch,
    private readonly options: SessionOptions,
  ) {}

  async start(): Promise<void> {
    const client = new QuietClient(SECTION, "ADK Evidence", await this.executable(), this.clientOptions());
    client.registerFeature(commandsOfTheEditor);
    client.onNotification(INGEST_PROGRESS, ingestionIs);
    this.client = client;
    try {
      await withinTime(client.start(), START_SECONDS * 1000, () => TIMED_OUT);
    } catch (error) {
      // A client that has not started cannot stop in order; this ends its process.
      client.stop().catch(() => undefined);
      throw this.startProblem(error);
    }
    const server = client.initializeResult?.serverInfo;
    const { version } = this.options;
    // The same check again for a command, whose version nobody knows before.
    if (server?.version !== undefined && !areCompatible(server.version, version)) {
      client.stop().catch(() => undefined);
      throw PROBLEMS.serverIncompatible(server.version, version);
    }
    this.running = true;
    // A server that ends at that moment needs no settings.
    const tell = () => void this.tellChanges().catch(() => undefined);
    this.subscriptions = Disposable.from(
      this.options.onDidChangeSettings(tell),
      this.options.onDidSynchronize(() => this.openMore()),
    );
    // What was found while the server was starting.
    this.openMore();
    if (this.told !== undefined) {
      // What has changed since the server asked, while it was starting.
      tell();
    }
    this.options.log.info(
      `Started ${server?.name ?? "the server"} ${server?.version ?? ""} with ${this.launch.command}`,
    );
  }

  async stop(): Promise<void> {
    this.running = false;
    this.subscriptions?.dispose();
    try {
      await this.client?.stop();
    } catch (error) {
      this.options.log.warn(`The server did not stop in order: ${error instanceof Error ? error.message : ""}`);
    }
  }

  async request<M extends Method>(method: M, params: Params<M>, token: CancellationToken): Promise<Result<M>> {
    const client = this.client;
    if (!client || !this.running) {
      throw PROBLEMS.ended();
    }
    try {
      return await client.sendRequest<Result<M>>(method, params, token);
    } catch (error) {
      const problem = requestProblem(error);
      if (problem.code === "internal_error") {
        this.options.log.error(`${method} failed: ${messageOf(error)}`);
      }
      throw problem;
    }
  }

  private async executable(): Promise<Executable> {
    const env = {
      ...(this.launch.isolated ? pythonEnvironment() : process.env),
      ...(await this.options.environment()),
    };
    // Not the workspace's folder: what lies there must not be found as a program or a module.
    return { command: this.launch.command, args: [...this.launch.args], options: { env, cwd: os.homedir() } };
  }

  private clientOptions(): LanguageClientOptions {
    const { options } = this;
    return {
      documentSelector: SYNCHRONIZED,
      outputChannel: options.log,
      traceOutputChannel: options.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      stdioOptions: {
        stdout: () => undefined,
        stderr: (input) => {
          readline.createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
            const said = serverLine(line);
            writeLine(options.log, said.level, said.text);
          });
        },
      },
      markdown: { isTrusted: { enabledCommands: OWN_COMMANDS }, supportHtml: false },
      // A pull that a later one overtakes is cancelled; changes reach the server a quarter of a second late.
      diagnosticPullOptions: { onChange: true },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          const wasRunning = this.running;
          this.running = false;
          this.subscriptions?.dispose();
          if (wasRunning) {
            options.ended();
          }
          // The pool decides whether another server is started.
          return {
            action: CloseAction.DoNotRestart,
            message: "The connection to the server was closed.",
            handled: true,
          };
        },
      },
      middleware: {
        ...progressMiddleware,
        didOpen: async (document, next) => {
          if (options.synchronizes(document)) {
            this.open.add(document.uri.toString());
            await next(document);
          }
        },
        didChange: async (event, next) => {
          if (this.open.has(event.document.uri.toString())) {
            await next(event);
          }
        },
        didClose: async (document, next) => {
          if (this.open.delete(document.uri.toString())) {
            await next(document);
          }
        },
        didSave: async (document, next) => {
          if (this.open.has(document.uri.toString())) {
            await next(document);
          }
        },
        workspace: {
          configuration: async (params) => {
            await options.settled();
            return params.items.map((item) => (item.section === SECTION ? this.settings() : null));
          },
          // The server pulls what changed, so the section is not sent.
          didChangeConfiguration: async () => {
            await this.tellChanges();
            // Whether a document's diagnostics are wanted is the client's alone.
            this.client?.getFeature("textDocument/diagnostic").refresh();
          },
        },
        provideHover: (document, position, token, next) =>
          this.answersFor(document) && options.hoversWanted(document) ? next(document, position, token) : undefined,
        provideDefinition: (document, position, token) =>
          this.answersFor(document)
            ? definitionAt(document.uri, position, (at) => this.request("adk/symbol", at, token), options.sourceAddress)
            : undefined,
        provideDiagnostics: async (document, previous, token, next) => {
          // Of a tab that is not loaded yet, the address alone is given.
          const asked = "languageId" in document ? document : undefined;
          const wanted = asked !== undefined && this.answersFor(asked) && options.diagnosticsWanted(asked);
          const report = wanted ? await next(document, previous, token) : null;
          if (report?.kind === "full") {
            for (const diagnostic of report.items) {
              withReadOnlySource(diagnostic, options.sourceAddress);
            }
          }
          return report;
        },
        provideWorkspaceSymbols: async (query, token, next) =>
          (await next(query, token))?.map((symbol) => readOnly(symbol, options.sourceAddress)),
        provideCodeActions: (document, range, context, token, next) =>
          (context.diagnostics.length > 0 || asksForActions(context)) &&
          this.answersFor(document) &&
          (options.diagnosticsWanted(document) || !asksForFixes(context))
            ? next(document, range, context, token)
            : undefined,
      },
    };
  }

  private answersFor(document: TextDocument): boolean {
    return this.open.has(document.uri.toString()) && this.options.serves(document);
  }

  /** Opens documents that the editor had open before they were found to have to do with the ADK. */
  private openMore(): void {
    const feature = this.client?.getFeature(DidOpenTextDocumentNotification.method);
    for (const document of workspace.textDocuments) {
      if (!this.open.has(document.uri.toString()) && this.options.synchronizes(document)) {
        // A server that ends at that moment needs no documents.
        feature
          ?.getProvider(document)
          ?.send(document)
          .catch(() => undefined);
      }
    }
  }

  /** Makes the server ask for its settings if they have changed. */
  private async tellChanges(): Promise<void> {
    if (JSON.stringify(this.options.settings()) === this.told) {
      return;
    }
    await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  private settings(): Record<string, unknown> {
    const settings = this.options.settings();
    this.told = JSON.stringify(settings);
    return settings;
  }

  private startProblem(error: unknown): Problem {
    const program = this.launch.command;
    this.options.log.error(`The server could not be started with ${program}: ${messageOf(error)}`);
    if (error === TIMED_OUT) {
      return PROBLEMS.startTimedOut(START_SECONDS);
    }
    return /ENOENT/.test(messageOf(error))
      ? PROBLEMS.programMissing(program)
      : PROBLEMS.startFailed(program, this.launch.origin === "privateEnvironment");
  }
}

/**
 * Declares the commands that hovers and code actions may name, and leaves out the commands that the server offers to
 * other editors: the editor has one registry of them, and a second server would fail to start.
 */
const commandsOfTheEditor: StaticFeature = {
  fillClientCapabilities: (capabilities: ClientCapabilities) => {
    capabilities.experimental = {
      ...(capabilities.experimental as object | undefined),
      commands: { commands: OWN_COMMANDS },
    };
  },
  preInitialize: (capabilities: ServerCapabilities) => {
    delete capabilities.executeCommandProvider;
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

const TIMED_OUT = new Error("no answer in time");

function withoutStack(data: unknown): unknown {
  return data instanceof Error ? data.message : data;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

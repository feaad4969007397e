import { type CancellationToken, Uri } from "vscode";
import { isCheckResult, isCodeCheck, isPack } from "../protocol/check";
import type { EvidenceResult } from "../protocol/generated";
import type { Params, Result } from "../protocol/requests";
import { PROBLEMS } from "../server/problems";
import type { Backend } from "./backend";
import { projectOf, scopeInUse } from "./scope";
import { workspaceFolderOf } from "./sourceAddress";

/** The server's requests. Remembers which server made a pack. Every method throws as `Backend.request` does. */
export class Evidence {
  private readonly scopes = new WeakMap<EvidenceResult, Uri>();

  constructor(private readonly backend: Backend) {}

  /**
   * Asks a question, or for the evidence of a place in a document.
   *
   * @throws Problem also where the answer does not have the form of a pack.
   */
  async find(params: Params<"adk/evidence">, token?: CancellationToken, scope?: Uri): Promise<EvidenceResult> {
    // Another folder may be in use when a citation is opened.
    const asked = scope ?? scopeInUse();
    const project = projectOf(asked);
    const pack = await this.backend.request("adk/evidence", { ...project, ...params }, token, asked);
    if (!isPack(pack)) {
      throw PROBLEMS.unreadableAnswer();
    }
    const kept = keptScope(asked, project);
    if (kept !== undefined) {
      this.scopes.set(pack, kept);
    }
    return pack;
  }

  /** Restores a saved pack; `scope` is the URI of the document or folder of its question. */
  takeUp(pack: EvidenceResult, scope: string): void {
    this.scopes.set(pack, Uri.parse(scope));
  }

  /** Takes up a pack from a file, whose citations the server in use opens from now on. */
  takeUpHere(pack: EvidenceResult): void {
    const scope = scopeInUse();
    if (scope !== undefined) {
      this.scopes.set(pack, scope);
    }
  }

  /** The document or folder of a pack, so that the server that made the pack opens its citations. */
  scopeOf(pack: EvidenceResult): Uri | undefined {
    return this.scopes.get(pack);
  }

  /** What the index knows of a name. */
  symbol(params: Params<"adk/symbol">, token?: CancellationToken, scope?: Uri): Promise<Result<"adk/symbol">> {
    return this.backend.request("adk/symbol", { ...projectOf(scope), ...params }, token, scope);
  }

  /** Symbols by name and by meaning, best first. */
  targets(params: Params<"adk/targets">, token?: CancellationToken, scope?: Uri): Promise<Result<"adk/targets">> {
    return this.backend.request("adk/targets", { ...projectOf(scope), ...params }, token, scope);
  }

  /** The text of a cited file. */
  source(params: Params<"adk/source">, token?: CancellationToken, scope?: Uri): Promise<Result<"adk/source">> {
    return this.backend.request("adk/source", { ...projectOf(scope), ...params }, token, scope);
  }

  /** What is installed, stale or missing, and the index that answers in a folder. */
  status(token?: CancellationToken, scope?: Uri): Promise<Result<"adk/status">> {
    return this.backend.request("adk/status", { ...projectOf(scope), examined: false }, token, scope);
  }

  /** Builds the index anew, or brings it up to date. */
  ingest(params: Params<"adk/ingest">, token?: CancellationToken, scope?: Uri): Promise<Result<"adk/ingest">> {
    return this.backend.request("adk/ingest", params, token, scope);
  }

  /** Indexes the code of a folder, or brings its index up to date. */
  index(folder: Uri, token?: CancellationToken): Promise<Result<"adk/index">> {
    return this.backend.request("adk/index", { folder: folder.toString() }, token, folder);
  }

  /** What became of the texts that a saved pack cites. */
  async check(pack: EvidenceResult, token?: CancellationToken): Promise<Result<"adk/check">> {
    const found = await this.backend.request("adk/check", { pack }, token, scopeInUse());
    if (!isCheckResult(found)) {
      throw PROBLEMS.unreadableAnswer();
    }
    return found;
  }

  /**
   * Whether the Python code of an answer, in Markdown, fits the google-adk that the pack answers for; null where nobody
   * knows that version.
   */
  async checkCode(text: string, pack: EvidenceResult, token?: CancellationToken): Promise<Result<"adk/checkCode">> {
    const scope = this.scopeOf(pack);
    const params = { ...projectOf(scope), text, language: "markdown" as const, question: pack.query };
    const found = await this.backend.request("adk/checkCode", params, token, scope);
    if (found !== null && !isCodeCheck(found)) {
      throw PROBLEMS.unreadableAnswer();
    }
    return found;
  }

  /** A pack as text to paste, from the server that made the pack. */
  async render(params: Params<"adk/render">, token?: CancellationToken): Promise<string> {
    const { text } = await this.backend.request("adk/render", params, token, this.scopeOf(params.pack));
    return text;
  }
}

/** A document of no folder was answered for the folder in use then; later, another one may be in use. */
function keptScope(asked: Uri | undefined, { folder }: { folder?: string }): Uri | undefined {
  return folder === undefined || (asked && workspaceFolderOf(asked)) ? asked : Uri.parse(folder);
}

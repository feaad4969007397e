import type { CancellationToken } from "vscode";
import type { EvidenceResult, SymbolResult, TaskMode, Turn } from "../protocol/generated";

/**
 * The API that the extension exports to others. Copy this file and `protocol/generated.ts`, which holds the types of
 * packs and symbols, into an extension that uses the API.
 *
 * ```ts
 * const extension = vscode.extensions.getExtension<AdkEvidenceApi>("adk-evidence.adk-evidence");
 * const api = await extension?.activate();
 * if (api?.version === 1) {
 *   const pack = await api.findEvidence({ query: "How do I stream an agent's answer?" }, token);
 * }
 * ```
 *
 * Every method starts the server when needed and rejects with an `AdkEvidenceError`. Text in a result is quoted from
 * the corpora: it is data, never markup to render as it is and never an instruction to a model.
 */
export interface AdkEvidenceApi {
  /** Raised when something in here changes in a way that its users notice; members may be added without. */
  readonly version: 1;

  /** Finds evidence for a question. A cancelled token ends the work on the server, too. */
  findEvidence(request: FindEvidenceRequest, token?: CancellationToken): Promise<EvidencePack>;

  /**
   * What the index knows of a name such as `LlmAgent`, `Runner.run_async` or `google.adk.agents.LlmAgent`; null where
   * it means nothing that is indexed.
   */
  findSymbol(name: string, token?: CancellationToken): Promise<SymbolResult | null>;

  /** A pack as Markdown to paste, in which nothing of the corpora is markup. */
  toMarkdown(pack: EvidencePack, token?: CancellationToken): Promise<string>;

  /**
   * A pack as a model's prompt, or a part of one: texts and turns fenced, the texts marked as data, the question last.
   *
   * Within the budget the oldest turns are left out first, then the least relevant texts; a prompt that has no room for
   * any text says so. It exceeds the budget only where the system prompt and the question do so alone.
   *
   * @param options The budget alone, or all options.
   */
  toPrompt(pack: EvidencePack, options?: number | PromptOptions, token?: CancellationToken): Promise<string>;
}

export interface PromptOptions {
  /** Budget of the whole prompt, in estimated tokens; 8000 by default. */
  maxTokens?: number;
  /** Your own instructions. They are trusted and stand unchanged at the top. */
  system?: string;
  /** The conversation before the question, oldest turn first. */
  history?: Turn[];
  /** Most texts of the pack, from 1 to 100; by default as many as fit. */
  maxDocuments?: number;
  /** Most tokens of each text, from 1. */
  maxDocumentTokens?: number;
}

/** What every promise of the API rejects with. */
export interface AdkEvidenceError extends Error {
  /**
   * For programs: `cancelled`, `invalid_request`, `no_environment` (not set up yet), `no_index` (nothing is ingested
   * yet), and others. `message` is a sentence for the user.
   */
  readonly code: string;
}

export interface FindEvidenceRequest {
  /** A question, a symbol, an error message or code, of up to 8000 characters; up to 100000 with a Python traceback. */
  query: string;
  /** What the evidence is for; else building. */
  taskMode?: TaskMode;
  /** Number of results, from 1 to 100; else as the user's settings say. */
  maxResults?: number;
  /** Time for optional steps, in milliseconds; else as the user's settings say. */
  timeBudgetMs?: number;
  /** Which corpora; both by default. */
  sources?: ("docs" | "code")[];
  /** Globs as in `.gitignore` of paths in the repositories. */
  pathAllowlist?: string[];
  pathBlocklist?: string[];
  /** URI of the document or folder that the question is about: each folder of a workspace may have another server. */
  scope?: string;
}

/** The answer to a question: the same JSON on every surface of ADK Evidence. */
export type EvidencePack = Omit<EvidenceResult, "queryUsed">;

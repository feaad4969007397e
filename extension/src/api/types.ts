/**
 * The API that the extension exports to others. This file stands alone: copy it into an extension that uses the API.
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
  findEvidence(request: FindEvidenceRequest, token?: CancellationTokenLike): Promise<EvidencePack>;

  /**
   * What the index knows of a name such as `LlmAgent`, `Runner.run_async` or `google.adk.agents.LlmAgent`; null where
   * it means nothing that is indexed.
   */
  findSymbol(name: string, token?: CancellationTokenLike): Promise<SymbolInfo | null>;

  /** A pack as Markdown to paste, in which nothing of the corpora is markup. */
  toMarkdown(pack: EvidencePack, token?: CancellationTokenLike): Promise<string>;

  /**
   * A pack as a model's prompt, or a part of one: texts and turns fenced, the texts marked as data, the question last.
   *
   * Within the budget the oldest turns are left out first, then the least relevant texts; a prompt that has no room for
   * any text says so. It exceeds the budget only where the system prompt and the question do so alone.
   *
   * @param options The budget alone, or all options.
   */
  toPrompt(pack: EvidencePack, options?: number | PromptOptions, token?: CancellationTokenLike): Promise<string>;
}

export interface PromptOptions {
  /** Budget of the whole prompt, in estimated tokens; 8000 by default. */
  maxTokens?: number;
  /** Your own instructions. They are trusted and stand unchanged at the top. */
  system?: string;
  /** The conversation before the question, oldest turn first. */
  history?: ConversationTurn[];
  /** Most texts of the pack, from 1 to 100; by default as many as fit. */
  maxDocuments?: number;
  /** Most tokens of each text, from 1. */
  maxDocumentTokens?: number;
}

/** What was said in a turn; it is quoted, and names of roles in it count for nothing. */
export interface ConversationTurn {
  role: "user" | "assistant";
  content: string;
}

/** What every promise of the API rejects with. */
export interface AdkEvidenceError extends Error {
  /**
   * For programs: `cancelled`, `invalid_request`, `no_environment` (not set up yet), `no_index` (nothing is ingested
   * yet), and others. `message` is a sentence for the user.
   */
  readonly code: string;
}

/** A `vscode.CancellationToken` is one. */
export interface CancellationTokenLike {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: (event: unknown) => unknown): { dispose(): unknown };
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

export type TaskMode = "build" | "debug" | "explain" | "refactor";

/** The answer to a question: the same JSON on every surface of ADK Evidence. */
export interface EvidencePack {
  /** Hash of everything that matters: the same question on the same index gives the same hash. */
  pack_id: string;
  query_id: string;
  status: "success" | "no_results" | "error";
  query: string;
  task_mode: TaskMode;
  profile: string;
  /** Which index answered. */
  index: {
    generation: string;
    /** ISO 8601. */
    created_at: string;
    fingerprint: string;
    /** While it is `pending`, answers go by keywords alone. */
    dense: "complete" | "pending";
    corpora: { [name: string]: { repo: string; commit: string; ref: string | null; source: string; chunks: number } };
  } | null;
  /**
   * Which google-adk the project of the request's scope uses, what named that version, and which version was searched.
   * Missing from older servers, null where the project uses none.
   */
  adk?: { indexed: string | null; wanted: string; taken_from: string } | null;
  /** How reliable the answer is, with a sentence. */
  quality: { level: "none" | "keyword_only" | "mixed" | "high"; note: string };
  retrieval_plan: object | null;
  /** Where a second index was asked, such as that of the project's code: its name, and that of the first one. */
  beside?: { name: string; beside: string } | null;
  /** The best first. */
  candidates: EvidenceCandidate[];
  coverage: { docs_in_top_k: number; code_in_top_k: number };
  /** What the answer lacks: a code for programs, and a sentence. */
  warnings: { code: string; text: string }[];
  /** What else the pages and classes hold that several candidates are of. Missing from older servers. */
  outlines?: EvidenceOutline[];
  debug: { [key: string]: unknown };
}

/** The sections of a page, or the members of a class. */
export interface EvidenceOutline {
  /** Cites the page or the class. */
  citation: string;
  path: string;
  title: string;
  /** Ranks of the candidates that are of this page or class. */
  ranks: number[];
  parts: { name: string; lines: LineSpan }[];
  /** How many parts are not listed. */
  more: number;
}

/** One piece of evidence. */
export interface EvidenceCandidate {
  /** From 1. */
  rank: number;
  /** The name of the index that holds it, where two were asked. */
  index?: string | null;
  rerank_score: number | null;
  collection: string;
  source_type: "docs" | "code";
  /** `repository`, `sample` for example programs, or `api-reference` for pages that were made of docstrings. */
  origin: string;
  repo: string;
  /** Commit or tag. */
  ref: string;
  /** Address of the page with its anchor (docs), or the path. */
  path_or_url: string;
  /** Path in the repository. */
  path: string;
  chunk_id: string;
  candidate_id: string;
  /** The cited lines and nothing else; older servers put a header and context before them. */
  text: string;
  /** Lines before the cited ones, or of a class around them; not cited. Missing from older servers. */
  context?: string;
  /** Files that the cited lines include; not cited. Missing from older servers. */
  attached?: string;
  /** The parts of `text` to show first, in the order of their lines. Missing from older servers. */
  passages?: { lines: LineSpan; text: string }[];
  /** The parts of `attached` to show first. Missing from older servers. */
  attached_shown?: string;
  /** The lines of `passages` that match best. Missing from older servers. */
  best?: LineSpan | null;
  /** Estimated tokens of `passages` and `attached_shown`. Missing from older servers. */
  shown_tokens?: number;
  /** Lines of `text` for readers of another programming language. Missing from older servers. */
  left_out?: { lines: LineSpan; language: string }[];
  /** The programming language of the readers that the text is for; null if for all. Missing from older servers. */
  for_language?: string | null;
  /** The statement that imports the code by its public path; null if not known. Missing from older servers. */
  import_statement?: string | null;
  /**
   * What must be installed for the imports that the code of a page shows, e.g. `google-adk[mcp]`, if `text` does not say
   * so. Missing from older servers.
   */
  needs?: string | null;
  /** How the class is made that the result begins, where `passages` do not say it. Missing from older servers. */
  signature?: string | null;
  /** What objects of the class are passed to, e.g. `App(plugins=)`. Missing from older servers. */
  taken_by?: string[];
  /** Rank of an earlier candidate that shows the same text. Missing from older servers. */
  same_as?: number | null;
  /** Citations of later candidates that show the same text. Missing from older servers. */
  also_at?: string[];
  /** Whether the candidates before this one leave this one little to add. Missing from older servers. */
  adds_little?: boolean;
  /**
   * Names in the code of `text` that the answering version of the ADK lacks or calls deprecated, and asynchronous
   * functions (`await`) whose calls the text does not await; `since` is the first
   * later version that has the name, `until` the last earlier one. Missing from older servers.
   */
  drift?: {
    kind: "import" | "name" | "keyword" | "await" | "deprecated";
    symbol: string;
    version: string;
    lines: LineSpan;
    until: string | null;
    since: string | null;
    instead: string | null;
    text: string;
  }[];
  /**
   * Where the feature exists that the page is about, if the page says so: the languages whose ADK has the feature, each
   * with the first version that does; and what keeps the reader from the feature, whose google-adk is `version`.
   * Missing from older servers.
   */
  availability?: {
    languages: { language: string; since: string | null }[];
    /** What the page calls the feature, e.g. `experimental`. */
    stage: string | null;
    lacks: "language" | "version" | null;
    version: string | null;
  } | null;
  text_tokens: number;
  /** Qualified name in its module (code). */
  symbol: string | null;
  /** Trail of headings (docs). */
  headings: string[];
  title: string | null;
  /** Suffix of the file, e.g. `py` or `md`. */
  language: string;
  lines: LineSpan | null;
  /** `adk-docs@<commit>:<url>` or `adk-python@<commit>:<path>#L<start>-L<end>`. */
  citation: string;
  citation_confidence: "high" | "medium" | "low";
  /** How far this text alone supports the question, 0 to 1; null where no scale is known. Missing from older servers. */
  support?: number | null;
  /**
   * Whether the citation holds in the source as it was when the pack was made; `lines` are where it is now, in the file
   * `path` if that is another file. `same_tree`: only formatting or comments changed. Servers before this state call
   * it `moved`.
   */
  verification: {
    state: "exact" | "moved" | "same_tree" | "changed" | "gone" | "unverified";
    lines: LineSpan | null;
    path?: string | null;
    reason: string;
  };
  /** Why the candidate has its rank. */
  why: {
    branches: { branch: string; rank: number }[];
    matched_terms: string[];
    /** Cosine with the question; null where keywords alone have found the candidate. */
    similarity: number | null;
    pool_rank: number | null;
    /** What the candidate is to what the request names outright, e.g. `raises`. */
    role: string | null;
    /** The role in words, e.g. `raises the error`. Missing from older servers. */
    named?: string | null;
    /** The nearest question written beforehand for the candidate, where one is near. Missing from older servers. */
    question?: { text: string; similarity: number } | null;
  };
}

/** Lines of a file, from 1, the last included. */
export interface LineSpan {
  start: number;
  end: number;
}

export interface SymbolInfo {
  name: string;
  /** Qualified name in its module. */
  symbol: string;
  /** Dotted path that it is defined at. */
  fqn: string;
  kind: string;
  signature: string | null;
  /** First paragraph of its docstring. */
  doc: string | null;
  repo: string;
  commit: string;
  ref: string | null;
  path: string;
  lines: LineSpan;
  citation: string;
  /** The section of the docs that is about it. */
  documentation: {
    citation: string;
    url: string | null;
    path: string;
    origin: "repository" | "api-reference" | "sample";
    headings: string[];
    lines: LineSpan;
  } | null;
  /** Other dotted paths that the name may mean. */
  others: string[];
}

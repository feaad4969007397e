// Generated from the server's models and editor.schema.json by `npm run protocol`. Do not edit.

export type TaskMode = "build" | "debug" | "explain" | "refactor";
/**
 * A message to the page.
 */
export type ToPage =
  | {
      type: "job";
      job: ViewJob | null;
    }
  | {
      type: "state";
      state: ViewState;
    }
  | {
      type: "say";
      text: string;
    };
/**
 * A message of the page. `where` overrides the setting `adkEvidence.openDocs`.
 */
export type FromPage =
  | {
      type: "ready" | "cancel";
    }
  | {
      type: "ask";
      question: Question;
    }
  | {
      type: "open";
      candidateId: string;
      where: "default" | "source" | "browser";
    }
  | {
      type: "openCitation";
      /**
       * Of an outline or a part of one.
       */
      citation: string;
    }
  | {
      type: "copy";
      what: "citation" | "link" | "code" | "insert";
      candidateId: string;
    }
  | {
      type: "action";
      id: string;
    };
/**
 * What a link of a hover, a code action or another extension may ask "Find ADK Evidence" for.
 */
export type FindArguments = {query?: string; taskMode?: TaskMode; textDocument?: DocumentId; range?: Range};
/**
 * What a link of a hover asks to open: the cited source, or the page in the browser.
 */
export type OpenArguments = {citation: string; where?: "source" | "browser"; textDocument?: DocumentId};

/**
 * `adk/evidence`: a question, or the place in an open document to make one of.
 *
 * The answer is of the google-adk that the project of the document uses, or else the project at the URI `folder`. A
 * later request for the same document, or with the same `supersedeKey`, cancels this one.
 */
export interface EvidenceParams {
  query?: string | null;
  wordings?: string[];
  symbols?: string[];
  textDocument?: DocumentId | null;
  range?: Range | null;
  position?: Position | null;
  taskMode?: TaskMode | null;
  maxResults?: number | null;
  filters?: EvidenceFilters;
  timeBudgetMs?: number | null;
  strict?: boolean | null;
  folder?: string | null;
  supersedeKey?: string | null;
  workDoneToken?: string | number | null;
}
/**
 * A document that is open in the editor.
 */
export interface DocumentId {
  uri: string;
}
/**
 * A selection; `end` is exclusive.
 */
export interface Range {
  start: Position;
  end: Position;
}
/**
 * A place in a document: line and UTF-16 offset in it, from 0.
 */
export interface Position {
  line: number;
  character: number;
}
/**
 * Narrowing of a request; empty means no narrowing.
 *
 * Paths are gitignore-style globs against the repository-relative path; a plain folder or file name matches
 * everything below it.
 */
export interface EvidenceFilters {
  path_allowlist?: string[];
  path_blocklist?: string[];
  source_types?: ["docs" | "code", ...("docs" | "code")[]];
  /**
   * File or tab languages, e.g. `py`, `md`, `python`.
   */
  languages?: string[];
  /**
   * Tags that a chunk must all have: `docs` or `code`, its language, its kind of definition (`class`, `interface`, `type`, `enum`, `function`, `method`, `namespace`, `module`), a decorator (`@app.route`), `api-reference`, `sample`.
   */
  tags?: string[];
  /**
   * Commit, tag or branch of which evidence must be.
   */
  repo_ref_hint?: string | null;
}
/**
 * `adk/symbol`: a name, or the place of one in an open document; `folder` as in `adk/evidence`.
 */
export interface SymbolParams {
  name?: string | null;
  textDocument?: DocumentId | null;
  position?: Position | null;
  folder?: string | null;
}
/**
 * `adk/targets`: a name, the beginning of one, or what a symbol is for; `folder` as in `adk/evidence`.
 *
 * `python` is the user's interpreter or virtual environment: results say whether its google-adk has them. A later
 * request with the same `supersedeKey` cancels this one, for results while somebody types.
 */
export interface TargetsParams {
  query: string;
  limit?: number;
  mode?: "auto" | "lexical" | "vector" | "hybrid";
  python?: string | null;
  folder?: string | null;
  supersedeKey?: string | null;
}
/**
 * `adk/source`: a citation, a candidate's id, or a path of the index with a commit and lines.
 *
 * The index of the version that the project at `folder` uses is read first, then those of other versions.
 */
export interface SourceParams {
  citation?: string | null;
  candidateId?: string | null;
  path?: string | null;
  repo?: string | null;
  commit?: string | null;
  lines?: LineSpan | null;
  folder?: string | null;
}
/**
 * Lines of a file, 1-based and inclusive.
 */
export interface LineSpan {
  start: number;
  end: number;
}
/**
 * `adk/status`: `folder` is the URI of a folder of the workspace, whose index is told.
 *
 * Without `examined` there are no findings: for these, the index is opened once more, which takes as long as answers.
 */
export interface StatusParams {
  folder?: string | null;
  examined?: boolean;
}
/**
 * `adk/ingest`: what `adk-ingest` is to do.
 *
 * With `folder`, the URI of a folder of the workspace, the google-adk that its project uses gets an index.
 */
export interface IngestParams {
  mode?: "docs" | "code" | "all";
  docs?: string | null;
  code?: string | null;
  offline?: boolean;
  folder?: string | null;
  workDoneToken?: string | number | null;
}
/**
 * `adk/index`: index the code of a folder of the workspace, given by its URI, or bring its index up to date.
 *
 * Questions from the folder then search it beside the ADK, unless `projectCode.enabled` is off.
 */
export interface IndexParams {
  folder: string;
  workDoneToken?: string | number | null;
}
/**
 * `adk/render`: a pack as text to paste. `candidateIds` chooses some of its results; other members are a prompt's.
 *
 * `system` is the caller's own instructions, trusted; `history` the turns before the question, oldest first.
 */
export interface RenderParams {
  pack: EvidenceResult;
  format: "markdown" | "prompt";
  candidateIds?: string[] | null;
  maxTokens?: number | null;
  system?: string;
  history?: Turn[];
  maxDocuments?: number | null;
  maxDocumentTokens?: number | null;
}
/**
 * `adk/evidence`'s result: the pack, and the question that was asked.
 */
export interface EvidenceResult {
  pack_id: string;
  query_id: string;
  status: "success" | "no_results" | "error";
  query: string;
  task_mode: "build" | "debug" | "explain" | "refactor";
  profile: string;
  index: IndexInfo | null;
  /**
   * Where the request names the version of a project.
   */
  adk: AdkVersion | null;
  quality: Quality;
  retrieval_plan: RetrievalPlan | null;
  /**
   * Where a second index was asked, too.
   */
  beside: Beside | null;
  candidates: Candidate[];
  coverage: Coverage;
  warnings: Warning[];
  /**
   * What else the page of the first candidate holds, and the pages and classes of several candidates.
   */
  outlines: Outline[];
  /**
   * Of a codebase: where else the files of candidates match. The ranking puts the best place of each file before further ones.
   */
  places: Outline[];
  /**
   * The public symbols that the query names.
   */
  mentioned: Mentioned[];
  /**
   * The exceptions that the query quotes, in the order of its text.
   */
  errors: PastedError[];
  debug: {
    [k: string]: unknown;
  };
  queryUsed: QueryUsed;
}
/**
 * Which index answered.
 */
export interface IndexInfo {
  generation: string;
  created_at: string;
  fingerprint: string;
  dense: "complete" | "pending";
  /**
   * What questions and chunks are encoded with.
   */
  dense_model: string | null;
  corpora: {
    [k: string]: CorpusInfo;
  };
  /**
   * sha256 of what all corpora hold.
   */
  content: string | null;
}
/**
 * One corpus of the index.
 */
export interface CorpusInfo {
  repo: string;
  commit: string;
  ref: string | null;
  source: string;
  chunks: number;
  /**
   * sha256 of what is indexed; equal for equal content.
   */
  content: string | null;
}
/**
 * Which google-adk the project uses, and which one the evidence is of.
 */
export interface AdkVersion {
  /**
   * The version that was searched; null where nobody knows.
   */
  indexed: string | null;
  wanted: string;
  /**
   * What named the wanted version, e.g. `uv.lock`.
   */
  taken_from: string;
}
/**
 * How far the answer can be relied on, with a sentence for a person or a model.
 */
export interface Quality {
  level: "none" | "keyword_only" | "mixed" | "high";
  note: string;
}
/**
 * What was asked of the store, and which models ordered what it found.
 */
export interface RetrievalPlan {
  collections_queried: string[];
  hybrid_fusion: string;
  prefetch_limits: {
    [k: string]: number;
  };
  qdrant_search_params: {
    [k: string]: unknown;
  };
  /**
   * What encoded the question, where that is not what encoded the texts.
   */
  question_model: string | null;
  rerank_model: string | null;
  /**
   * How many results of a kind the mode asks for.
   */
  required: {
    [k: string]: number;
  };
  /**
   * Where the question names a version.
   */
  versions: VersionPlan | null;
  /**
   * The question in the words of the ADK, as it was searched beside its own.
   */
  wordings: string[];
}
/**
 * Which versions of the ADK a question names, and which one the index is of.
 */
export interface VersionPlan {
  /**
   * What the question names, e.g. `1.18` or `>=2.0`.
   */
  asked: string[];
  /**
   * The version of the index; null where nobody knows.
   */
  indexed: string | null;
  /**
   * Whether the question names the version of the index, and no other.
   */
  is_asked: boolean;
}
/**
 * The second index of a pack that is of two; each has answered by itself, and the results are merged.
 */
export interface Beside {
  name: string;
  /**
   * The name of the first index, which `index` and `retrieval_plan` are of.
   */
  beside: string;
  /**
   * Null where this index could not answer.
   */
  index: IndexInfo | null;
  retrieval_plan: RetrievalPlan | null;
}
/**
 * One piece of evidence.
 */
export interface Candidate {
  rank: number;
  /**
   * The name of the index that holds it, where the pack is of two: `adk`, `shop`.
   */
  index: string | null;
  rerank_score: number | null;
  collection: string;
  source_type: "docs" | "code";
  origin: string;
  repo: string;
  ref: string;
  path_or_url: string;
  path: string;
  chunk_id: string;
  candidate_id: string;
  /**
   * The cited lines, verbatim and nothing else.
   */
  text: string;
  /**
   * How many of the first lines of `text` are of a string that begins before it, e.g. of a docstring.
   */
  inside_string: number;
  /**
   * Lines before the cited ones, or of a class around them; not cited.
   */
  context: string;
  /**
   * Files that the cited lines include; not cited.
   */
  attached: string;
  /**
   * Estimated tokens of context, text and attached files together.
   */
  text_tokens: number;
  /**
   * The parts of `text` to show, in the order of their lines; empty only where another candidate shows the same or the pack was made without choosing.
   */
  passages: Passage[];
  /**
   * What `text` consists of, in order, without what need not be shown.
   */
  parts: Part[];
  /**
   * The parts of the attached files to show; not cited.
   */
  attached_shown: string;
  /**
   * The lines of the passages that match best, which are shown where room is short.
   */
  best: LineSpan | null;
  /**
   * Estimated tokens of the passages and `attached_shown`.
   */
  shown_tokens: number;
  /**
   * The statement that imports the code by its public path, where that is known.
   */
  import_statement: string | null;
  /**
   * What must be installed for the imports that the code of a page shows, e.g. `google-adk[mcp]`, where neither the page's lines nor an earlier candidate say so.
   */
  needs: string | null;
  /**
   * The constructor of the class that this result begins, cut to what counts; of a model without one, its fields as parameters. Null where this result or an earlier one shows them all, or where none is known.
   */
  signature: string | null;
  /**
   * What objects of the class of this result are passed to, e.g. `App(plugins=)`, where no earlier candidate is of the same class.
   */
  taken_by: string[];
  /**
   * The rank of an earlier candidate that shows the same text.
   */
  same_as: number | null;
  /**
   * Citations of later candidates that show the same text.
   */
  also_at: string[];
  /**
   * Whether the candidate is hardly a part of the answer, so that prompts leave it out.
   */
  adds_little: boolean;
  symbol: string | null;
  headings: string[];
  title: string | null;
  language: string;
  /**
   * The programming language of the readers that the text is for, if not for all.
   */
  for_language: string | null;
  lines: LineSpan | null;
  /**
   * Lines of `text` for readers of another language, which need not be shown.
   */
  left_out: LeftOut[];
  /**
   * Names in the code of this text that the answering version of the ADK lacks or calls deprecated.
   */
  drift: Drift[];
  /**
   * Where the feature exists that the text is about, if the page says so.
   */
  availability: Availability | null;
  /**
   * Where the query is a pasted error.
   */
  error: ErrorPart | null;
  citation: string;
  citation_confidence: "high" | "medium" | "low";
  /**
   * How far this text alone supports the question, 0 to 1; null where no scale is known.
   */
  support: number | null;
  verification: Verification;
  why: Why;
}
/**
 * Some of the lines that a candidate cites, verbatim.
 */
export interface Passage {
  lines: LineSpan;
  text: string;
}
/**
 * Lines of a candidate that are shown together or not at all, such as a paragraph or a few statements.
 *
 * `needs` are the places among the candidate's parts of what names these lines: headings, signatures, borders of code.
 */
export interface Part {
  lines: LineSpan;
  /**
   * How well the lines match: those of 0 and more are passages, and where room is shorter or longer than these, the best are shown. Null where the lines say nothing by themselves.
   */
  worth: number | null;
  needs: number[];
}
/**
 * Cited lines that are for readers of another programming language.
 */
export interface LeftOut {
  lines: LineSpan;
  language: string;
}
/**
 * A name in the code of a text that the answering version of the ADK lacks or calls deprecated, or a call without
 * the `await` that this version asks for.
 */
export interface Drift {
  kind: "import" | "name" | "keyword" | "await" | "deprecated";
  /**
   * Its import path; a keyword as `google.adk.runners.Runner(app=)`.
   */
  symbol: string;
  /**
   * The version that answers.
   */
  version: string;
  lines: LineSpan;
  /**
   * The last earlier version that has the name.
   */
  until: string | null;
  /**
   * The first later version that has the name.
   */
  since: string | null;
  /**
   * What the answering version has in place of the name.
   */
  instead: string | null;
  /**
   * All this in a sentence.
   */
  text: string;
}
/**
 * Where a feature exists, as its page says by the tag "Supported in ADK".
 */
export interface Availability {
  languages: SupportedLanguage[];
  /**
   * What the page calls the feature, e.g. `experimental`.
   */
  stage: string | null;
  /**
   * What keeps the reader from the feature: the page does not name the reader's language, or names a later version of google-adk.
   */
  lacks: ("language" | "version") | null;
  /**
   * The reader's version of google-adk, where it is too old.
   */
  version: string | null;
}
/**
 * A programming language whose ADK has a feature.
 */
export interface SupportedLanguage {
  language: string;
  /**
   * The first version of that ADK with the feature, if known.
   */
  since: string | null;
}
/**
 * What a candidate is to the pasted error that it is evidence for.
 */
export interface ErrorPart {
  role: "raise_site" | "cause" | "frame" | "message" | "remedy";
  /**
   * The call's `number` in the traceback.
   */
  frame: number | null;
  /**
   * How many calls that traceback has.
   */
  calls: number | null;
  /**
   * The line that the call stands in, as in `ErrorFrame`.
   */
  line: number | null;
  /**
   * Of that line alone.
   */
  citation: string | null;
}
/**
 * Whether the citation holds in the source as it is now.
 */
export interface Verification {
  state: "exact" | "moved" | "same_tree" | "changed" | "gone" | "unverified";
  /**
   * Where the text is now, if it moved or changed.
   */
  lines: LineSpan | null;
  /**
   * The file of `lines`, where it is not the cited one.
   */
  path: string | null;
  reason: string;
}
/**
 * Why a candidate stands where it stands.
 */
export interface Why {
  branches: BranchRank[];
  matched_terms: string[];
  /**
   * Cosine with the question; null where keywords alone have found the candidate.
   */
  similarity: number | null;
  /**
   * Rank in the merged pool, before the reranker.
   */
  pool_rank: number | null;
  /**
   * What it is to what the request names outright; such results come first.
   */
  role:
    | (
        | "raises"
        | "raises_cause"
        | "last_call"
        | "call"
        | "holds_message"
        | "holds_part"
        | "holds_text"
        | "defines"
        | "takes"
      )
    | null;
  /**
   * The role in words, e.g. `raises the error`.
   */
  named: string | null;
  /**
   * Place in the whole ranking, of which the first places are the results.
   */
  ranking_place: number | null;
  /**
   * The task near the question that the result answers together with others, by title.
   */
  task: string | null;
  /**
   * What the result is to the task, e.g. `registration`.
   */
  task_role: string | null;
  /**
   * Why a result from behind the first places is here: its kind, or as an example, or as another part of a page or class that is a result already.
   */
  moved_up: ("kind" | "example" | "neighbour") | null;
}
/**
 * Where one retrieval branch placed a candidate.
 */
export interface BranchRank {
  /**
   * `dense` or `sparse`, with `#n` for a sub-query's, `symbol` or `asked`.
   */
  branch: string;
  rank: number;
}
/**
 * How the final results split.
 */
export interface Coverage {
  docs_in_top_k: number;
  code_in_top_k: number;
}
/**
 * A warning of an answer: a code for programs, and a sentence for people and models.
 */
export interface Warning {
  code:
    | "collection_unavailable"
    | "coverage"
    | "dense_pending"
    | "dense_unavailable"
    | "docs_fallback"
    | "extra_missing"
    | "index_older"
    | "index_unavailable"
    | "line_spans_unavailable"
    | "path_not_indexed"
    | "provenance"
    | "question_adapter_unavailable"
    | "ref_not_indexed"
    | "rerank_unavailable"
    | "sparse_unavailable"
    | "time_budget"
    | "traceback_of_other_version"
    | "uncommitted"
    | "unknown_name"
    | "unknown_symbol"
    | "version_not_indexed"
    | "wordings_unavailable";
  text: string;
}
/**
 * The sections of a page, the members of a class, or the matching places of a file, that candidates are of.
 *
 * `citation` names the page or the file; the lines of a part, put behind the path, cite that part alone.
 */
export interface Outline {
  citation: string;
  path: string;
  title: string;
  /**
   * The candidates that are of this page, class or file.
   */
  ranks: number[];
  parts: OutlinePart[];
  /**
   * How many parts are not listed.
   */
  more: number;
}
/**
 * A section of a page or a member of a class. `lines` go up to the end of what stands below the part.
 */
export interface OutlinePart {
  name: string;
  lines: LineSpan;
}
/**
 * A public symbol that the query names: how it is called and imported, and the lines that define it.
 *
 * What another package defines has neither path nor lines.
 */
export interface Mentioned {
  symbol: string;
  signature: string;
  import_statement: string;
  path: string;
  lines: LineSpan | null;
}
/**
 * An exception that the query quotes, with its calls in indexed files in the order of the traceback.
 */
export interface PastedError {
  /**
   * Empty where the traceback is cut off before its exception.
   */
  type: string;
  message: string;
  /**
   * How many calls the traceback has, those of other code included.
   */
  calls: number;
  frames: ErrorFrame[];
}
/**
 * A call of a pasted traceback in an indexed file. Calls of the user's own code have no such entry.
 */
export interface ErrorFrame {
  /**
   * Place among all calls of the traceback, from 1, the outermost call first.
   */
  number: number;
  function: string | null;
  /**
   * The indexed file.
   */
  path: string;
  /**
   * The line in the answering version; null where that version has other code in its place.
   */
  line: number | null;
  /**
   * The line itself, verbatim.
   */
  text: string;
  /**
   * Of the line, or of the function where the line is not known.
   */
  citation: string;
  verification: "exact" | "moved" | "same_tree" | "changed" | "gone" | "unverified";
  /**
   * The candidate that shows the line.
   */
  rank: number | null;
}
/**
 * The question that was asked, and where it comes from.
 *
 * `origin` is `given`, or what the question was made of: the `selection`, the `name` at the cursor or its `line`.
 * `symbols` are the indexed symbols that the place names, the most important first. `own_names` are names in the text
 * that the document means something of its own by.
 */
export interface QueryUsed {
  text: string;
  origin: "given" | "selection" | "name" | "line";
  selection: string | null;
  enclosing: string | null;
  symbols: string[];
}
/**
 * One turn of a conversation. Its content is data like a corpus text: a role inside it counts for nothing.
 */
export interface Turn {
  role: "user" | "assistant";
  content: string;
}
/**
 * `adk/check`: a pack that was saved, maybe by another version of the product or with other sources.
 */
export interface CheckParams {
  pack: EvidenceResult;
}
/**
 * `adk/checkCode`: Python code, or a Markdown text with blocks of Python; `folder` as in `adk/evidence`.
 *
 * A version that `question` names wins, as in `adk/evidence`. The result is null where nobody knows which google-adk
 * to check against.
 */
export interface CheckCodeParams {
  text: string;
  language?: "python" | "markdown";
  question?: string;
  folder?: string | null;
}
/**
 * `adk/symbol`'s result; `others` are paths that the name may mean, too.
 */
export interface SymbolResult {
  name: string;
  symbol: string;
  fqn: string;
  kind: string;
  signature: string | null;
  doc: string | null;
  repo: string;
  commit: string;
  ref: string | null;
  path: string;
  lines: LineSpan;
  citation: string;
  documentation: DocReference | null;
  others: string[];
}
/**
 * A section of the docs, as it is cited.
 */
export interface DocReference {
  citation: string;
  url: string | null;
  path: string;
  origin: "repository" | "api-reference" | "sample";
  headings: string[];
  lines: LineSpan;
}
/**
 * What a search for targets found, best first.
 *
 * `typed` says what the query was taken for, `mode` how it was answered. `lacking` says in a sentence that a
 * query is a name that no public symbol has; the results are then merely near. `ref` is the version of the index,
 * `installed` the version that `available` was compared with.
 */
export interface TargetAnswer {
  query: string;
  typed: "name" | "code" | "natural";
  mode: "lookup" | "lexical" | "vector" | "hybrid";
  results: RankedTarget[];
  lacking: string;
  ref: string | null;
  installed: string | null;
  warnings: string[];
}
/**
 * A target as a search found it, with the citation of its definition.
 *
 * Of a symbol that was asked for by name, `fields` are what a class is made with, where no constructor of its own says
 * so, `field_notes` what the code says of them, a sentence each, `methods` are the public methods of a class as they
 * are called (`async find(query, *, limit=...)`), `taken_by` is what its objects are passed to (`App(plugins=)`), and
 * `type_imports` are the statements that import the classes in the signature, and those of other packages in the
 * fields.
 * `alias_of` is the import path of what a variable is another name or an instance of. Of a member that was asked for
 * as a member of another class, `inherited_from` is the base that defines the member. Of a member that was asked for
 * with its class, `inherited_by` are the other classes that have it, and other names of classes: of many, only the one
 * that was asked for.
 * `standing` says whether users may rely on the symbol; what is private has no `import_statement`.
 * `available` says whether the user's installed version has the target; `unknown` where none is installed.
 */
export interface RankedTarget {
  fqn: string;
  name: string;
  symbol: string;
  type: "class" | "function" | "method" | "property" | "attribute" | "variable";
  import_path: string;
  import_statement: string;
  summary: string;
  signature: string;
  fields: string[];
  field_notes: string[];
  methods: string[];
  taken_by: string[];
  type_imports: string[];
  path: string;
  lines: LineSpan;
  citation: string;
  rank: number;
  rank_score: number;
  deprecated: boolean;
  alias_of: string | null;
  inherited_from: string | null;
  inherited_by: string[];
  standing: "public" | "internal" | "private";
  score: number;
  why: Why1;
  available: "true" | "false" | "unknown";
}
/**
 * How a target was found: its best kind of match, and its ranks and scores in the fused lists.
 */
export interface Why1 {
  match: "exact" | "prefix" | "similar_name" | "words" | "meaning";
  lexical_rank: number | null;
  lexical_score: number | null;
  vector_rank: number | null;
  similarity: number | null;
}
/**
 * `adk/source`'s result; `url` may be opened in a browser only if it is a page of the site at `site_url`.
 */
export interface SourceResult {
  repo: string;
  commit: string;
  path: string;
  corpus: string;
  language: string;
  text: string;
  lines: LineSpan | null;
  cited_lines: LineSpan | null;
  url: string | null;
  matches_index: boolean;
  verification: Verification | null;
  local_file: string | null;
  local_matches: boolean;
  site_url: string | null;
}
/**
 * `adk/status`'s result.
 *
 * `symbols` is false where the list of the index's symbols is missing, has no vectors or is of earlier code.
 * `projects` are the folders of the workspace that use google-adk. `services` are the settings by which services get
 * indexed texts, such as `store.kind`; without them, all texts stay on the machine of the server.
 */
export interface ServerStatus {
  version: string;
  home: string;
  profile: string;
  services: string[];
  index: IndexInfo | null;
  symbols: boolean;
  models: {
    [k: string]: string | number;
  };
  findings: FindingInfo[];
  ingesting: boolean;
  settings_problem: string | null;
  projects: ProjectStatus[];
}
/**
 * One thing that `adk-evidence doctor` looks at.
 */
export interface FindingInfo {
  what: string;
  state: "ok" | "note" | "broken";
  found: string;
  mend: string;
}
/**
 * Which google-adk a folder of the workspace uses.
 *
 * `folder` is its URI as the client named it. `asked` is the range that the project gives, if it gives no exact
 * version. `indexed` is the version of the index that answers, null where nobody knows; `exact` says whether that is
 * `version`.
 */
export interface ProjectStatus {
  folder: string;
  version: string;
  taken_from: string;
  asked: string;
  indexed: string | null;
  exact: boolean;
}
/**
 * `adk/ingest`'s result. `seconds` is how long the run took; `notices` are its remarks.
 *
 * `missing` has the corpora that could not be read, each with the reason, `failed_files` the files that could not be
 * split into passages: the index holds nothing of them.
 */
export interface IngestResult {
  status: "complete" | "incomplete" | "unchanged";
  corpora: {
    [k: string]: IngestedCorpus;
  };
  missing: {
    [k: string]: string;
  };
  failed_files: string[];
  seconds: number;
  notices: string[];
}
/**
 * One corpus of the index, and how many passages were made of it.
 */
export interface IngestedCorpus {
  repo: string;
  commit: string;
  chunks: number;
}
/**
 * `adk/index`'s result: what the run left in the index, which `name` names.
 *
 * `skipped` names the files that the index lacks though patterns ask for them, each with the reason in brackets.
 * `partial`: an error kept files out.
 */
export interface IndexResult {
  name: string;
  files: number;
  chunks: number;
  skipped: string[];
  seconds: number;
  warnings: string[];
  status: "success" | "partial" | "unchanged";
}
/**
 * `$/adk/ingestProgress`: how far an ingestion is, also that of a folder's code.
 *
 * `stage` is discover, chunk, upsert, verify, publish, embed or targets. `fraction` is that of the whole ingestion,
 * from 0 to 1; `seconds_left` is null while nobody knows. `answers` says how the index that this
 * ingestion published can answer: not yet, by keywords, or by meaning.
 */
export interface IngestProgress {
  stage: string;
  fraction: number;
  seconds_left: number | null;
  answers: "nothing" | "keywords" | "meaning";
}
/**
 * `adk/render`'s result: the text, its estimated tokens, and how many results are in it.
 *
 * `note` is a sentence where a prompt holds no result or exceeds its budget, else empty.
 */
export interface RenderResult {
  text: string;
  tokens: number;
  included: number;
  note: string;
}
/**
 * `adk/check`'s result. `intact` says whether the pack is as it was made.
 */
export interface CheckResult {
  intact: boolean;
  candidates: CheckedCandidate[];
}
/**
 * What became of the text that a candidate of a saved pack cites.
 */
export interface CheckedCandidate {
  candidate_id: string;
  verification: Verification;
}
/**
 * What a check of code against a version of the ADK found, the problems in the order of the lines.
 *
 * What the code does not say, such as the class of a parameter without an annotation, is in neither list.
 */
export interface CodeCheck {
  /**
   * The google-adk that the code was checked against.
   */
  version: string;
  problems: CodeProblem[];
  /**
   * The names of the ADK in the code that the version has, sorted: paths, and keywords of calls.
   */
  confirmed: string[];
  /**
   * A sentence on what was checked, which ends every report.
   */
  summary: string;
}
/**
 * A sentence on code that does not fit a version of the ADK, that is deprecated, or that could not be read.
 */
export interface CodeProblem {
  kind:
    | ("unread" | "import" | "name" | "keyword" | "argument" | "extra" | "override" | "callback" | "method")
    | ("await" | "deprecated");
  /**
   * Line of the code, from 1.
   */
  line: number;
  /**
   * A path, or a keyword as `google.adk.runners.Runner(app=)`; empty of code that could not be read.
   */
  symbol: string;
  text: string;
  /**
   * The name or path that the version has, where that is sure or near enough.
   */
  instead: string | null;
}
/**
 * A question that was answered.
 */
export interface HistoryItem {
  query: string;
  taskMode: TaskMode;
  sources: "both" | "docs" | "code";
  path: string;
  id: string;
  results: number;
  /**
   * ISO 8601.
   */
  askedAt: string;
}
/**
 * What is missing before questions can be answered, or how far setting that up is. Actions are numbered.
 */
export interface ViewJob {
  title: string;
  lines: string[];
  /**
   * How much is done, from 0 to 1; null while nothing runs.
   */
  fraction: number | null;
  /**
   * The time that is left, or empty.
   */
  left: string;
  actions: string[];
}
/**
 * Everything that the page shows.
 */
export interface ViewState {
  phase: "empty" | "loading" | "ready" | "error";
  question: Question;
  /**
   * Which entry of the history `pack` is.
   */
  current: string | null;
  pack: EvidenceResult | null;
  /**
   * The document or folder that `pack` was asked for, as a URI: its server knows the citations.
   */
  scope?: string | null;
  /**
   * Where `pack` comes from, if it is no fresh answer: one sentence or two.
   */
  notice?: string | null;
  error: ViewError | null;
  history: HistoryItem[];
}
/**
 * The controls of the query line.
 */
export interface Question {
  query: string;
  taskMode: TaskMode;
  sources: "both" | "docs" | "code";
  /**
   * Globs of repository paths, separated by commas; empty: all.
   */
  path: string;
}
export interface ViewError {
  /**
   * One sentence.
   */
  message: string;
  /**
   * Setting up mends it, and the question is then asked again.
   */
  awaited?: boolean;
  actions: {
    title: string;
    id: string;
  }[];
}
/**
 * What the page keeps with the editor, so that a panel survives a reload of the window.
 */
export interface SavedState {
  version: 1;
  view: ViewState;
  draft: Question;
  /**
   * The candidate that the keyboard is on.
   */
  active: string | null;
}
/**
 * What the editor remembers of a chat's answer.
 */
export interface AnswerFacts {
  outcome: "answered" | "listed" | "nothing";
  packId: string;
  /**
   * Pieces of evidence that the answer cites or lists.
   */
  citations: number;
  /**
   * The question that the answer is about.
   */
  query: string;
  taskMode: TaskMode;
}
/**
 * A file of an indexed repository at its commit. `repo` is `owner/name`.
 */
export interface SourceFile {
  repo: string;
  commit: string;
  path: string;
}

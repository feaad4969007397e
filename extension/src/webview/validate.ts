/** What host and page accept from each other, and from a state that was saved: nothing is believed unseen. */

import type {
  BranchRank,
  Candidate,
  CorpusInfo,
  Coverage,
  EvidenceResult,
  IndexInfo,
  LineSpan,
  Quality,
  QueryUsed,
  RetrievalPlan,
  Verification,
  VersionPlan,
  Why,
} from "../protocol/generated";
import {
  type FromPage,
  type HistoryItem,
  MAX_HISTORY,
  MAX_PATH,
  MAX_QUERY,
  type Question,
  type SavedState,
  type ToPage,
  type ViewError,
  type ViewState,
} from "./messages";
import {
  anyOf,
  anything,
  finite,
  type Guard,
  listOf,
  oneOf,
  optional,
  orNull,
  recordOf,
  shapeOf,
  text,
  textUpTo,
  word,
} from "./shape";

const MAX_ID = 4000;
const taskMode = oneOf("build", "debug", "explain", "refactor");
const id = textUpTo(MAX_ID);
const lineSpan = shapeOf<LineSpan>({ start: finite, end: finite });

const question = shapeOf<Question>({
  query: textUpTo(MAX_QUERY),
  taskMode,
  sources: oneOf("both", "docs", "code"),
  path: textUpTo(MAX_PATH),
});

const why = shapeOf<Why>({
  branches: listOf(shapeOf<BranchRank>({ branch: text, rank: finite, score: finite })),
  matched_terms: listOf(text),
  fused_rank: orNull(finite),
  fused_score: orNull(finite),
  pool_rank: orNull(finite),
  rerank_score: orNull(finite),
  rerank_moved: orNull(finite),
  features: recordOf(finite),
});

// What older servers do not send.
type Newer = "support" | "context" | "attached";

const candidate = shapeOf<Omit<Candidate, Newer> & Partial<Pick<Candidate, Newer>>>({
  rank: finite,
  rerank_score: orNull(finite),
  collection: text,
  source_type: word(),
  origin: text,
  repo: text,
  ref: text,
  path_or_url: text,
  path: text,
  chunk_id: text,
  candidate_id: id,
  text,
  text_tokens: finite,
  symbol: orNull(text),
  headings: listOf(text),
  title: orNull(text),
  language: text,
  lines: orNull(lineSpan),
  citation: text,
  citation_confidence: word(),
  verification: shapeOf<Verification>({
    state: word(),
    lines: orNull(lineSpan),
    reason: text,
  }),
  why,
  support: optional(orNull(finite)),
  context: optional(text),
  attached: optional(text),
}) as Guard<Candidate>;

const index = shapeOf<IndexInfo>({
  generation: text,
  created_at: text,
  fingerprint: text,
  dense: word(),
  corpora: recordOf(shapeOf<CorpusInfo>({ repo: text, commit: text, ref: orNull(text), source: text, chunks: finite })),
});

const versions = shapeOf<VersionPlan>({
  asked: listOf(text),
  basis: word(),
  searched: recordOf(listOf(text)),
  left_out: recordOf(listOf(text)),
});

const plan = shapeOf<RetrievalPlan>({
  collections_queried: listOf(text),
  hybrid_fusion: text,
  rrf_k: orNull(finite),
  prefetch_limits: recordOf(finite),
  final_limits: recordOf(finite),
  qdrant_search_params: recordOf(anything),
  sub_queries: listOf(text),
  feedback: orNull(recordOf(finite)),
  rerank_model: orNull(text),
  filters: recordOf(anything),
  excluded_origins: listOf(text),
  versions: orNull(versions),
});

/** Whether a pack can be shown: its parts are of the form that they should be, whatever words its lists have by now. */
export const isPack = shapeOf<EvidenceResult>({
  pack_id: text,
  query_id: text,
  status: word(),
  query: text,
  task_mode: word(),
  profile: text,
  index: orNull(index),
  quality: shapeOf<Quality>({ level: word(), note: text }),
  retrieval_plan: orNull(plan),
  candidates: listOf(candidate),
  coverage: shapeOf<Coverage>({ docs_in_top_k: finite, code_in_top_k: finite }),
  warnings: listOf(text),
  debug: recordOf(anything),
  queryUsed: shapeOf<QueryUsed>({
    text,
    origin: word(),
    selection: orNull(text),
    enclosing: orNull(text),
    symbols: listOf(text),
  }),
});

const historyItem = shapeOf<HistoryItem>({
  query: textUpTo(MAX_QUERY),
  taskMode,
  sources: oneOf("both", "docs", "code"),
  path: textUpTo(MAX_PATH),
  id,
  results: finite,
  askedAt: text,
});

const viewState = shapeOf<ViewState>({
  phase: oneOf("empty", "loading", "ready", "error"),
  question,
  current: orNull(id),
  pack: orNull(isPack),
  scope: optional(orNull(text)),
  error: orNull(
    shapeOf<ViewError>({ message: text, actions: listOf(shapeOf<ViewError["actions"][number]>({ title: text, id })) }),
  ),
  history: listOf(historyItem, MAX_HISTORY),
});

type Message<T extends FromPage["type"]> = Extract<FromPage, { type: T }>;

/** Whether something that came from the page is a message of its. */
export const isFromPage: Guard<FromPage> = anyOf<FromPage>(
  shapeOf<Message<"ready">>({ type: oneOf("ready") }),
  shapeOf<Message<"ask">>({ type: oneOf("ask"), question }),
  shapeOf<Message<"cancel">>({ type: oneOf("cancel") }),
  shapeOf<Message<"open">>({
    type: oneOf("open"),
    candidateId: id,
    where: oneOf("default", "source", "browser"),
  }),
  shapeOf<Message<"copy">>({
    type: oneOf("copy"),
    what: oneOf("citation", "markdown", "json", "prompt"),
    candidateId: orNull(id),
  }),
  shapeOf<Message<"history">>({ type: oneOf("history"), id }),
  shapeOf<Message<"clearHistory">>({ type: oneOf("clearHistory") }),
  shapeOf<Message<"action">>({ type: oneOf("action"), id }),
);

/** Whether something that came to the page is a message of the host's. */
export const isToPage: Guard<ToPage> = anyOf<ToPage>(
  shapeOf<Extract<ToPage, { type: "state" }>>({ type: oneOf("state"), state: viewState }),
  shapeOf<Extract<ToPage, { type: "say" }>>({ type: oneOf("say"), text }),
);

/** Whether a state that the editor kept is one that this version of the page saved. */
export const isSavedState: Guard<SavedState> = shapeOf<SavedState>({
  version: oneOf(1),
  view: viewState,
  draft: question,
  active: orNull(id),
});

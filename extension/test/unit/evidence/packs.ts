import type { Candidate, EvidenceResult, RenderResult, SourceResult } from "../../../src/protocol/generated";

/** A candidate as the server answers with it. */
export function candidate(more: Partial<Candidate> = {}): Candidate {
  return {
    rank: 1,
    index: null,
    rerank_score: 1.5,
    collection: "adk_code",
    source_type: "code",
    origin: "repository",
    repo: "google/adk-python",
    ref: "v2.13.0",
    path_or_url: "src/google/adk/runners.py",
    path: "src/google/adk/runners.py",
    chunk_id: "0".repeat(40),
    candidate_id: `google/adk-python@v2.13.0:src/google/adk/runners.py:${"0".repeat(40)}`,
    text: "class Runner: ...",
    passages: [],
    parts: [],
    left_out: [],
    attached_shown: "",
    best: null,
    shown_tokens: 0,
    import_statement: null,
    needs: null,
    signature: null,
    same_as: null,
    also_at: [],
    adds_little: false,
    drift: [],
    availability: null,
    taken_by: [],
    error: null,
    for_language: null,
    inside_string: 0,
    context: "",
    attached: "",
    text_tokens: 4,
    symbol: "Runner",
    headings: [],
    title: null,
    language: "py",
    lines: { start: 6, end: 12 },
    citation: "adk-python@v2.13.0:src/google/adk/runners.py#L6-L12",
    citation_confidence: "high",
    support: 0.72,
    verification: { state: "exact", lines: null, path: null, reason: "" },
    why: {
      branches: [],
      matched_terms: [],
      similarity: null,
      pool_rank: null,
      role: null,
      named: null,
      ranking_place: null,
      task: null,
      task_role: null,
      moved_up: null,
    },
    ...more,
  };
}

/** A pack as the server answers with it. */
export function pack(more: Partial<EvidenceResult> = {}): EvidenceResult {
  return {
    pack_id: "p",
    query_id: "q",
    status: "success",
    query: "Runner",
    task_mode: "build",
    profile: "local",
    index: null,
    adk: null,
    quality: { level: "high", note: "Found 1 result." },
    retrieval_plan: null,
    beside: null,
    candidates: [candidate()],
    coverage: { docs_in_top_k: 0, code_in_top_k: 1 },
    warnings: [],
    outlines: [],
    places: [],
    mentioned: [],
    errors: [],
    debug: {},
    queryUsed: { text: "Runner", origin: "given", selection: null, enclosing: null, symbols: [] },
    ...more,
  };
}

/** A pack as text. */
export function rendered(text: string): RenderResult {
  return { text, tokens: Math.ceil(text.length / 4), included: 1, note: "" };
}

/** A source whose file on the disk is what was cited. */
export function source(more: Partial<SourceResult> = {}): SourceResult {
  return {
    repo: "google/adk-python",
    commit: "v2.13.0",
    path: "src/google/adk/runners.py",
    corpus: "adk_python",
    language: "py",
    text: "class Runner: ...\n",
    lines: { start: 6, end: 12 },
    cited_lines: { start: 6, end: 12 },
    url: null,
    matches_index: true,
    verification: null,
    local_file: "/corpora/adk-python/src/google/adk/runners.py",
    local_matches: true,
    site_url: null,
    ...more,
  };
}

import type { RankedTarget, TargetAnswer } from "../../../src/protocol/generated";

/** A symbol as the server finds it. */
export function target(more: Partial<RankedTarget> = {}): RankedTarget {
  return {
    fqn: "google.adk.runners.Runner",
    name: "Runner",
    symbol: "Runner",
    type: "class",
    import_path: "google.adk.Runner",
    import_statement: "from google.adk import Runner",
    summary: "Runs an agent.",
    signature: "class Runner",
    fields: [],
    field_notes: [],
    methods: [],
    taken_by: [],
    type_imports: [],
    path: "src/google/adk/runners.py",
    lines: { start: 6, end: 12 },
    citation: "adk-python@v2.13.0:src/google/adk/runners.py#L6-L12",
    rank: 1,
    rank_score: 1,
    deprecated: false,
    alias_of: null,
    inherited_from: null,
    inherited_by: [],
    standing: "public",
    score: 1,
    why: { match: "exact", lexical_rank: null, lexical_score: null, vector_rank: null, similarity: null },
    available: "unknown",
    ...more,
  };
}

/** What a search for symbols answers. */
export function answer(results: RankedTarget[], more: Partial<TargetAnswer> = {}): TargetAnswer {
  return {
    query: "q",
    typed: "name",
    mode: "lookup",
    results,
    lacking: "",
    ref: "v2.13.0",
    installed: null,
    warnings: [],
    ...more,
  };
}

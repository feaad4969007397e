/** Packs and states for tests. */

import type { Candidate, EvidenceResult } from "../../src/protocol/generated";
import type { Question, ViewState } from "../../src/webview/messages";

const COMMIT = "979a8fa9dba9290b85ba6746686d1c274b20ca90";

const MARKDOWN = `[CORPUS=adk_docs] [REPO=google/adk-docs] [COMMIT=${COMMIT}]
[PATH=docs/integrations/reflect-and-retry.md]
---
## Add Reflect and Retry Plugin

Add this plugin to your ADK workflow by adding it to the plugins setting of your
ADK project's App object, as shown below:

\`\`\`python
from google.adk.apps.app import App
from google.adk.plugins import ReflectAndRetryToolPlugin

app = App(
    name="my_app",
    root_agent=root_agent,
    plugins=[ReflectAndRetryToolPlugin(max_retries=3)],
)
\`\`\`

With this configuration, if any tool called by an agent returns an error, the
request is updated and tried again, up to a maximum of 3 attempts, per tool.

*   **\`max_retries\`**: (optional) Total number of additional attempts the system
    makes to receive a non-error response. Default value is 3.
*   **\`throw_exception_if_retry_exceeded\`**: (optional) If set to \`False\`, the
    system does not raise an error if the final retry attempt fails.`;

const PYTHON = `[CORPUS=adk_python] [REPO=google/adk-python] [COMMIT=v2.13.0]
[PATH=src/google/adk/plugins/reflect_retry_tool_plugin.py] [SYMBOL=ReflectAndRetryToolPlugin.on_tool_error_callback]
---
class ReflectAndRetryToolPlugin(BasePlugin):
  async def on_tool_error_callback(
      self,
      *,
      tool: BaseTool,
      tool_args: dict[str, Any],
      tool_context: ToolContext,
      error: Exception,
  ) -> Optional[dict[str, Any]]:
    """Handles tool exceptions by providing reflection guidance."""
    # Counts per tool, so that one failing tool does not use up another's attempts.
    if self.max_retries == 0 or tool.name in ("transfer_to_agent", "exit_loop"):
      return None
    return await self._handle_tool_error(tool, tool_args, tool_context, error)`;

/** A candidate of the docs; `change` replaces members. */
export function docsCandidate(change: Partial<Candidate> = {}): Candidate {
  return {
    rank: 1,
    rerank_score: 2.484,
    collection: "adk_docs",
    source_type: "docs",
    origin: "repository",
    repo: "google/adk-docs",
    ref: COMMIT,
    path_or_url: "https://adk.dev/integrations/reflect-and-retry/#add-reflect-and-retry-plugin",
    path: "docs/integrations/reflect-and-retry.md",
    chunk_id: "3e8753bc12c75cb54fa63777f48cd312b9304fb2",
    candidate_id: "docs-1",
    text: MARKDOWN,
    passages: [],
    left_out: [],
    attached_shown: "",
    shown_tokens: 0,
    import_statement: null,
    same_as: null,
    also_at: [],
    adds_little: false,
    for_language: null,
    context: "",
    attached: "",
    text_tokens: 427,
    symbol: null,
    headings: ["Reflect and Retry plugin for ADK", "Add Reflect and Retry Plugin"],
    title: "Reflect and Retry plugin for ADK",
    language: "md",
    lines: { start: 26, end: 52 },
    citation: `adk-docs@${COMMIT}:https://adk.dev/integrations/reflect-and-retry/#add-reflect-and-retry-plugin`,
    citation_confidence: "high",
    support: 0.72,
    verification: { state: "exact", lines: null, reason: "" },
    why: {
      branches: [
        { branch: "dense", rank: 1, score: 0.741554 },
        { branch: "sparse", rank: 2, score: 11.93584 },
      ],
      matched_terms: ["retry", "tool"],
      fused_rank: 1,
      fused_score: 0.03306,
      pool_rank: 1,
      rerank_score: 2.484,
      rerank_moved: 0,
      features: { dense: 2.682529, sparse: 2.18641 },
      named: null,
    },
    ...change,
  };
}

/** A candidate of the source code; `change` replaces members. */
export function codeCandidate(change: Partial<Candidate> = {}): Candidate {
  return docsCandidate({
    rank: 2,
    rerank_score: 1.6,
    collection: "adk_code",
    source_type: "code",
    repo: "google/adk-python",
    ref: "v2.13.0",
    path_or_url: "src/google/adk/plugins/reflect_retry_tool_plugin.py",
    path: "src/google/adk/plugins/reflect_retry_tool_plugin.py",
    candidate_id: "code-1",
    context: "class ReflectAndRetryToolPlugin(BasePlugin):",
    text: PYTHON,
    symbol: "ReflectAndRetryToolPlugin.on_tool_error_callback",
    headings: [],
    title: null,
    language: "py",
    lines: { start: 190, end: 204 },
    citation: "adk-python@v2.13.0:src/google/adk/plugins/reflect_retry_tool_plugin.py#L190-L204",
    why: {
      branches: [
        { branch: "dense", rank: 3, score: 0.61 },
        { branch: "sparse", rank: 4, score: 9.2 },
        { branch: "symbol", rank: 1, score: 0.61 },
      ],
      matched_terms: ["retry", "tool", "error"],
      fused_rank: 3,
      fused_score: 0.0279,
      pool_rank: 5,
      rerank_score: 1.6,
      rerank_moved: 3,
      features: { dense: 1.42, sparse: 1.85, definition: 0.816 },
      named: null,
    },
    ...change,
  });
}

/** A pack of these candidates; `change` replaces members. */
export function packOf(candidates: Candidate[], change: Partial<EvidenceResult> = {}): EvidenceResult {
  const query = "How do I retry a failing tool?";
  const corpus = { repo: "google/adk-python", commit: "v2.13.0", ref: "v2.13.0", chunks: 6593 };
  return {
    pack_id: "9daec5f6c6d5fbb3e1acec0b12f44d523fe2e0df50a7735ccf44b53e7dd64800",
    query_id: "f74fa6f9-99db-48cf-acc4-2c116c37af5e",
    status: candidates.length > 0 ? "success" : "no_results",
    query,
    task_mode: "build",
    profile: "local",
    index: {
      generation: "20261121T041033",
      created_at: new Date(Date.now() - 2 * 3_600_000).toISOString(),
      fingerprint: "e312fab77f5ecc626f78322c91d5c3314f36def9",
      dense: "complete",
      corpora: {
        adk_docs: { repo: "google/adk-docs", commit: COMMIT, ref: null, source: "snapshot", chunks: 1666 },
        adk_python: { ...corpus, source: "distribution" },
        "api-reference": { ...corpus, source: "api-reference" },
      },
    },
    quality: { level: "high", note: `Found ${candidates.length} results, all of them strong.` },
    retrieval_plan: null,
    candidates,
    coverage: {
      docs_in_top_k: candidates.filter(({ source_type }) => source_type === "docs").length,
      code_in_top_k: candidates.filter(({ source_type }) => source_type === "code").length,
    },
    warnings: [],
    outlines: [],
    debug: { timings_ms: { encode: 12.5, search: 8.1, rerank: 5.2 } },
    queryUsed: { text: query, origin: "given", selection: null, enclosing: null, symbols: [] },
    ...change,
  };
}

/** A pack with one of everything that a card can show. */
export function variedPack(): EvidenceResult {
  const moved = { start: 201, end: 215 };
  return packOf(
    [
      docsCandidate(),
      codeCandidate({
        verification: { state: "moved", lines: moved, reason: "The same text stands 11 lines further down." },
      }),
      docsCandidate({
        rank: 3,
        candidate_id: "api-1",
        origin: "api-reference",
        rerank_score: 1.1,
        headings: ["google.adk.plugins", "ReflectAndRetryToolPlugin"],
        path: "google.adk.plugins.md",
        language: "md",
        verification: { state: "unverified", lines: null, reason: "The source is not on this machine." },
      }),
      codeCandidate({
        rank: 4,
        candidate_id: "code-2",
        rerank_score: 0.4,
        symbol: "FunctionTool.run_async",
        verification: { state: "changed", lines: moved, reason: "The function's body is another one now." },
      }),
      codeCandidate({
        rank: 5,
        candidate_id: "code-3",
        rerank_score: -0.3,
        symbol: "retry_on_errors",
        verification: { state: "gone", lines: null, reason: "The file is not in the source any more." },
      }),
    ],
    {
      quality: { level: "mixed", note: "Found 5 results, 2 of them strong." },
      warnings: ["unknown_name: RetryTool is nowhere in the index; it may be invented, your own or too new."],
    },
  );
}

export const QUESTION: Question = {
  query: "How do I retry a failing tool?",
  taskMode: "build",
  sources: "both",
  path: "",
};

/** The state in which a pack is shown; `change` replaces members. */
export function stateOf(pack: EvidenceResult | null, change: Partial<ViewState> = {}): ViewState {
  return {
    phase: pack === null ? "empty" : "ready",
    question: pack === null ? { ...QUESTION, query: "" } : QUESTION,
    current: pack === null ? null : "entry-1",
    pack,
    error: null,
    history:
      pack === null
        ? []
        : [{ ...QUESTION, id: "entry-1", results: pack.candidates.length, askedAt: "2026-11-21T06:00:00Z" }],
    ...change,
  };
}

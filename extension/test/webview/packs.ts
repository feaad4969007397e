/** Packs and states for tests. */

import type { Candidate, EvidenceResult, Outline, RetrievalPlan } from "../../src/protocol/generated";
import type { Question, ViewState } from "../../src/webview/messages";
import { candidate, pack } from "../unit/evidence/packs";

const COMMIT = "979a8fa9dba9290b85ba6746686d1c274b20ca90";

const MARKDOWN = `## Add Reflect and Retry Plugin

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

const PYTHON = `class ReflectAndRetryToolPlugin(BasePlugin):
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

/** What was asked of the store. */
export const PLAN: RetrievalPlan = {
  collections_queried: ["adk_docs", "adk_code"],
  hybrid_fusion: "rrf",
  prefetch_limits: { dense: 80, sparse: 120, asked: 40 },
  qdrant_search_params: {},
  question_model: null,
  rerank_model: "local",
  required: {},
  versions: null,
  wordings: [],
};

/** A candidate of the docs; `change` replaces members. */
export function docsCandidate(change: Partial<Candidate> = {}): Candidate {
  return candidate({
    rerank_score: 2.484,
    collection: "adk_docs",
    source_type: "docs",
    repo: "google/adk-docs",
    ref: COMMIT,
    path_or_url: "https://adk.dev/integrations/reflect-and-retry/#add-reflect-and-retry-plugin",
    path: "docs/integrations/reflect-and-retry.md",
    chunk_id: "3e8753bc12c75cb54fa63777f48cd312b9304fb2",
    candidate_id: "docs-1",
    text: MARKDOWN,
    text_tokens: 427,
    symbol: null,
    headings: ["Reflect and Retry plugin for ADK", "Add Reflect and Retry Plugin"],
    title: "Reflect and Retry plugin for ADK",
    language: "md",
    lines: { start: 26, end: 52 },
    citation: `adk-docs@${COMMIT}:https://adk.dev/integrations/reflect-and-retry/#add-reflect-and-retry-plugin L26-L52`,
    why: {
      branches: [
        { branch: "dense", rank: 1 },
        { branch: "sparse", rank: 2 },
      ],
      matched_terms: ["retry", "tool"],
      similarity: null,
      pool_rank: 1,
      role: null,
      named: null,
      ranking_place: null,
      task: null,
      task_role: null,
      moved_up: null,
    },
    ...change,
  });
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
        { branch: "dense", rank: 3 },
        { branch: "sparse", rank: 4 },
        { branch: "symbol", rank: 1 },
      ],
      matched_terms: ["retry", "tool", "error"],
      similarity: null,
      pool_rank: 5,
      role: null,
      named: null,
      ranking_place: null,
      task: null,
      task_role: null,
      moved_up: null,
    },
    ...change,
  });
}

/** A pack of these candidates; `change` replaces members. */
export function packOf(candidates: Candidate[], change: Partial<EvidenceResult> = {}): EvidenceResult {
  const query = "How do I retry a failing tool?";
  const corpus = { repo: "google/adk-python", commit: "v2.13.0", ref: "v2.13.0", chunks: 6593, content: null };
  return pack({
    status: candidates.length > 0 ? "success" : "no_results",
    query,
    index: {
      generation: "20261121T041033",
      created_at: new Date(Date.now() - 2 * 3_600_000).toISOString(),
      content: null,
      fingerprint: "e312fab77f5ecc626f78322c91d5c3314f36def9",
      dense: "complete",
      dense_model: null,
      corpora: {
        adk_docs: {
          repo: "google/adk-docs",
          commit: COMMIT,
          ref: null,
          source: "snapshot",
          chunks: 1666,
          content: null,
        },
        adk_python: { ...corpus, source: "distribution" },
        "api-reference": { ...corpus, source: "api-reference" },
      },
    },
    quality: { level: "high", note: `Found ${candidates.length} results.` },
    candidates,
    coverage: {
      docs_in_top_k: candidates.filter(({ source_type }) => source_type === "docs").length,
      code_in_top_k: candidates.filter(({ source_type }) => source_type === "code").length,
    },
    debug: { timings_ms: { encode: 12.5, search: 8.1, rerank: 5.2 } },
    queryUsed: { text: query, origin: "given", selection: null, enclosing: null, symbols: [] },
    ...change,
  });
}

/** An outline of the page that `docsCandidate` is of; `change` replaces members. */
export function outlineOf(change: Partial<Outline> = {}): Outline {
  return {
    citation: `adk-docs@${COMMIT}:docs/integrations/reflect-and-retry.md`,
    path: "docs/integrations/reflect-and-retry.md",
    title: "Reflect and Retry plugin for ADK",
    ranks: [1, 3],
    parts: [
      { name: "Configuration settings", lines: { start: 76, end: 112 } },
      { name: "Next steps", lines: { start: 114, end: 121 } },
    ],
    more: 0,
    ...change,
  };
}

/** A pack with one of everything that a card can show. */
export function variedPack(): EvidenceResult {
  const moved = { start: 201, end: 215 };
  return packOf(
    [
      docsCandidate({
        attached_shown:
          "[INCLUDED examples/python/snippets/tools/retry.py]\n\nplugin = ReflectAndRetryToolPlugin(max_retries=3)\n" +
          "runner = InMemoryRunner(agent=root_agent, plugins=[plugin])\n",
      }),
      codeCandidate({
        verification: {
          state: "moved",
          lines: moved,
          path: null,
          reason: "The same text stands 11 lines further down.",
        },
      }),
      docsCandidate({
        rank: 3,
        candidate_id: "api-1",
        origin: "api-reference",
        rerank_score: 1.1,
        headings: ["google.adk.plugins", "ReflectAndRetryToolPlugin"],
        path: "google.adk.plugins.md",
        language: "md",
        verification: { state: "unverified", lines: null, path: null, reason: "The source is not on this machine." },
      }),
      codeCandidate({
        rank: 4,
        candidate_id: "code-2",
        rerank_score: 0.4,
        symbol: "FunctionTool.run_async",
        verification: { state: "changed", lines: moved, path: null, reason: "The function's body is another one now." },
      }),
      codeCandidate({
        rank: 5,
        candidate_id: "code-3",
        rerank_score: -0.3,
        symbol: "retry_on_errors",
        verification: { state: "gone", lines: null, path: null, reason: "The file is not in the source any more." },
      }),
    ],
    {
      quality: { level: "mixed", note: "Found 5 results, which may not answer the question." },
      outlines: [
        outlineOf(),
        {
          citation: "adk-python@v2.13.0:src/google/adk/plugins/reflect_retry_tool_plugin.py",
          path: "src/google/adk/plugins/reflect_retry_tool_plugin.py",
          title: "ReflectAndRetryToolPlugin",
          ranks: [2, 4, 5],
          parts: [
            { name: "after_tool_callback", lines: { start: 131, end: 168 } },
            { name: "extract_error_from_result", lines: { start: 170, end: 188 } },
            { name: "_handle_tool_error, _get_scope_key, _ensure_dict", lines: { start: 220, end: 274 } },
            { name: "_create_tool_reflection_response", lines: { start: 286, end: 331 } },
            { name: "_get_tool_retry_exceed_msg", lines: { start: 333, end: 369 } },
          ],
          more: 2,
        },
      ],
      warnings: [
        {
          code: "unknown_name",
          text: "RetryTool is nowhere in the index; it may be invented, your own or too new.",
        },
      ],
    },
  );
}

/** A pack of long results, of the lengths that the real docs and the real source have. */
export function longPack(): EvidenceResult {
  const list = Array.from(
    { length: 14 },
    (
      _,
      at,
    ) => `*   **\`option_${at}\`**: (optional) Whether a failing tool is tried again, and how often each of them is.
    Default value is \`True\`, which lets the system retry ${at} times before it gives up on the tool.`,
  ).join("\n");
  const prose = Array.from(
    { length: 6 },
    () =>
      "If a tool fails, the plugin tells the model what went wrong, so that the model can retry it with better arguments. A tool that reports its failure in a result that looks like any other is not retried, unless the plugin is told how to find the error in the result.",
  ).join("\n\n");
  const body = Array.from(
    { length: 30 },
    (_, at) => `    # Retry ${at}: the tool that is failing must not use up the attempts of any other tool.
    attempts_${at} = self._attempts(tool, tool_args, tool_context, error, limit=${at})`,
  ).join("\n");
  const code = `  async def on_tool_error_callback(self, *, tool: BaseTool, error: Exception) -> dict:\n${body}\n`;
  const headings = ["Reflect and Retry plugin for ADK", "Configuration settings", "Options of the retry of a tool"];
  const both = [0, 1, 2, 3].flatMap((at) => [
    docsCandidate({ candidate_id: `docs-${at}`, text: at % 2 === 0 ? list : prose, headings, passages: [] }),
    codeCandidate({ candidate_id: `code-${at}`, text: code, passages: [] }),
  ]);
  return packOf(both.map((candidate, at) => ({ ...candidate, rank: at + 1 })));
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

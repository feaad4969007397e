/** Turns what a request to the server failed with into a problem. */

import { l10n } from "vscode";
import { Problem } from "../problem";
import { forEditor } from "./palette";
import { FIXES, PROBLEMS } from "./problems";

// JSON-RPC's and the language server protocol's own numbers.
const INVALID_PARAMS = -32602;
const CANCELLED = [-32800, -32802];
// The last two are vscode-jsonrpc's own, for a connection that was closed or disposed of.
const CONNECTION_GONE = [-32096, -32097, -32098, -32099, 1, 2];
const REQUEST_FAILED = -32803;

/** The problem that a failed request is. */
export function requestProblem(error: unknown): Problem {
  if (error instanceof Problem) {
    return error;
  }
  const { code, message, data } = parts(error);
  if (code !== undefined && CANCELLED.includes(code)) {
    return PROBLEMS.cancelled();
  }
  if (code !== undefined && CONNECTION_GONE.includes(code)) {
    return PROBLEMS.ended();
  }
  if (code === INVALID_PARAMS) {
    return new Problem(message, "invalid_request", []);
  }
  if (code === REQUEST_FAILED && data) {
    return expected(message, data);
  }
  return new Problem(l10n.t("The ADK Evidence server failed at this request. Its log says where."), "internal_error", [
    FIXES.logs(),
    FIXES.restart(),
  ]);
}

/** A failure that the server knows: its sentence, its hint, and what in the editor mends it. */
function expected(message: string, { code, hint }: { code: string; hint: string }): Problem {
  const sentence = forEditor([message, hint].filter(Boolean).join(" "));
  switch (code) {
    case "index_missing":
      // The hint is for a terminal.
      return new Problem(l10n.t("Nothing is indexed yet. Get Started indexes the ADK's docs and source."), "no_index", [
        FIXES.getStarted(),
      ]);
    case "targets_missing":
      return new Problem(l10n.t("The ADK's symbols are not listed yet. Index the ADK's source first."), code, [
        FIXES.ingest(),
      ]);
    case "index_mismatch":
      return new Problem(sentence, code, [FIXES.ingest()]);
    case "invalid_settings":
      return new Problem(sentence, code, [FIXES.settings(), FIXES.doctor()]);
    case "voyage_key":
      return new Problem(sentence, code, [FIXES.key(), FIXES.doctor()]);
    case "source_unavailable":
      return new Problem(sentence, code, [FIXES.doctor()]);
    case "ingest_running":
    case "invalid_request":
      return new Problem(sentence, code, []);
    default:
      return new Problem(sentence, code, [FIXES.doctor(), FIXES.logs()]);
  }
}

interface Parts {
  code: number | undefined;
  message: string;
  data: { code: string; hint: string } | undefined;
}

function parts(error: unknown): Parts {
  if (typeof error !== "object" || error === null) {
    return { code: undefined, message: "", data: undefined };
  }
  const { code, message, data } = error as Record<string, unknown>;
  return {
    code: typeof code === "number" ? code : undefined,
    message: typeof message === "string" ? message : "",
    data: expectedData(data),
  };
}

function expectedData(data: unknown): Parts["data"] {
  if (typeof data !== "object" || data === null) {
    return undefined;
  }
  const { code, hint } = data as Record<string, unknown>;
  return typeof code === "string" ? { code, hint: typeof hint === "string" ? hint : "" } : undefined;
}

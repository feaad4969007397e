import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import type { Citations } from "../evidence/openCitation";
import { scopeInUse } from "../evidence/scope";
import { Problem } from "../problem";
import { asTraceback, type Frame, isFrame } from "../text/traceback";

/**
 * Opens the line of a call in the google-adk that answers. The server finds the line again by its function, where
 * that version has the function at other lines.
 *
 * @throws Problem if that version has no such function.
 */
export async function openFrame(argument: unknown, evidence: Evidence, citations: Citations): Promise<void> {
  const frame = frameOf(argument);
  if (frame === null) {
    throw missing();
  }
  const scope = scopeInUse();
  const pack = await evidence.find(
    {
      query: asTraceback(frame),
      taskMode: "debug",
      maxResults: 1,
      filters: { source_types: ["code"] },
      supersedeKey: "frame",
    },
    undefined,
    scope,
  );
  const citation = pack.errors.at(-1)?.frames.at(-1)?.citation;
  if (citation === undefined) {
    throw missing();
  }
  await citations.openCitation(citation, evidence.scopeOf(pack) ?? scope);
}

function frameOf(argument: unknown): Frame | null {
  return typeof argument === "object" && argument !== null && "frame" in argument && isFrame(argument.frame)
    ? argument.frame
    : null;
}

function missing(): Problem {
  return new Problem(
    vscode.l10n.t("The indexed google-adk has no such function. Select the whole traceback to have it explained."),
    "not_indexed",
  );
}

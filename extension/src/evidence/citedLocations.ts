import * as vscode from "vscode";
import { Problem } from "../problem";
import type { Candidate, EvidenceResult, LineSpan } from "../protocol/generated";
import type { Evidence } from "./client";
import { planSource } from "./opening";
import type { SourceDocuments } from "./sourceDocuments";

/** Finds where cited lines can be read. A user may click a link in a chat days later. */
export class CitedLocations {
  constructor(
    private readonly evidence: Evidence,
    private readonly documents: SourceDocuments,
  ) {}

  /**
   * The cited lines in the read-only document with the source.
   *
   * @returns Null if the lines cannot be read.
   * @throws Problem `cancelled`.
   */
  async find(
    candidate: Candidate,
    pack: EvidenceResult,
    token: vscode.CancellationToken,
  ): Promise<vscode.Location | null> {
    const scope = this.evidence.scopeOf(pack);
    try {
      const source = await this.evidence.source({ candidateId: candidate.candidate_id }, token, scope);
      return new vscode.Location(
        this.documents.addressOf(source, scope),
        rangeOf(planSource(source).lines, source.text),
      );
    } catch (reason) {
      if (reason instanceof Problem && reason.code !== "cancelled") {
        return null;
      }
      throw reason;
    }
  }
}

/** Whole lines; the first line where no lines are known. */
function rangeOf(lines: LineSpan | null, text: string): vscode.Range {
  const { start, end } = lines ?? { start: 1, end: 1 };
  const last = text.split("\n")[end - 1] ?? "";
  return new vscode.Range(start - 1, 0, end - 1, last.replace(/\r$/, "").length);
}

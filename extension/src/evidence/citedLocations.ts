import * as vscode from "vscode";
import { Problem } from "../problem";
import type { Candidate, EvidenceResult, LineSpan, SourceFile, SymbolResult } from "../protocol/generated";
import type { Params } from "../protocol/requests";
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

const asking = new Set<string>();

/** Where a name of the ADK is defined, if no other extension knows: they know as long as google-adk is installed. */
export async function definitionAt(
  uri: vscode.Uri,
  position: vscode.Position,
  find: (at: Params<"adk/symbol">) => Promise<SymbolResult | null>,
  addressOf: (file: SourceFile) => vscode.Uri,
): Promise<vscode.Location | undefined> {
  const key = `${uri}#${position.line}:${position.character}`;
  // The editor asks this extension, too, while it asks all the others.
  if (asking.has(key)) {
    return undefined;
  }
  asking.add(key);
  const others = vscode.commands.executeCommand<unknown[]>("vscode.executeDefinitionProvider", uri, position);
  const known = await Promise.resolve(others).finally(() => asking.delete(key));
  // The server's status says what keeps it from answering.
  const textDocument = { uri: uri.toString() };
  const found = known.length === 0 ? await find({ textDocument, position }).catch(() => null) : null;
  return found ? new vscode.Location(addressOf(found), rangeOf(found.lines, "")) : undefined;
}

/** Whole lines; the first line where no lines are known. */
function rangeOf(lines: LineSpan | null, text: string): vscode.Range {
  const { start, end } = lines ?? { start: 1, end: 1 };
  const last = text.split("\n")[end - 1] ?? "";
  return new vscode.Range(start - 1, 0, end - 1, last.replace(/\r$/, "").length);
}

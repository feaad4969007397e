import * as vscode from "vscode";
import { SOURCE_SCHEME } from "../ids";
import { Problem } from "../problem";
import type { SourceResult } from "../protocol/generated";
import type { Evidence } from "./client";
import { fromDocumentPath, toDocumentPath } from "./sourcePlace";

const KEPT = 16;

/**
 * Read-only documents with a cited source at its commit. Their address says all that is needed to read them again, so
 * that they survive a reload of the window; in a workspace of several folders it also says which folder's server to ask.
 */
export class SourceDocuments implements vscode.TextDocumentContentProvider {
  /** Texts that were just read, so that opening them asks no second time. */
  private readonly texts = new Map<string, string>();

  constructor(private readonly evidence: Evidence) {}

  /** The address of the document with a source. */
  addressOf(source: SourceResult, scope: vscode.Uri | undefined): vscode.Uri {
    const folder = scope && vscode.workspace.getWorkspaceFolder(scope);
    const several = (vscode.workspace.workspaceFolders?.length ?? 0) > 1;
    const uri = vscode.Uri.from({
      scheme: SOURCE_SCHEME,
      path: toDocumentPath(source),
      query: several && folder ? folder.uri.toString() : "",
    });
    this.keep(uri.toString(), source.text);
    return uri;
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const kept = this.texts.get(uri.toString());
    if (kept !== undefined) {
      return kept;
    }
    const place = fromDocumentPath(uri.path);
    if (place === null) {
      throw new Problem(vscode.l10n.t("This is not the address of a cited source."), "not_indexed");
    }
    const scope = uri.query === "" ? undefined : vscode.Uri.parse(uri.query);
    const source = await this.evidence.source({ ...place }, token, scope);
    if (!source.matches_index) {
      throw new Problem(
        vscode.l10n.t("The source has changed since it was indexed, and nothing keeps what was cited. Ingest again."),
        "source_changed",
      );
    }
    this.keep(uri.toString(), source.text);
    return source.text;
  }

  private keep(address: string, text: string): void {
    this.texts.delete(address);
    this.texts.set(address, text);
    for (const oldest of this.texts.keys()) {
      if (this.texts.size <= KEPT) {
        return;
      }
      this.texts.delete(oldest);
    }
  }
}

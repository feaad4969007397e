import * as vscode from "vscode";
import { SECTION } from "../ids";
import { Problem } from "../problem";
import type { Candidate, EvidenceResult, LineSpan, SourceResult } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { OpenTarget } from "../webview/actions";
import type { Evidence } from "./client";
import { shortCommit } from "./commit";
import type { Highlight } from "./highlight";
import { type Note, type Opening, planOpening } from "./opening";
import type { SourceDocuments } from "./sourceDocuments";

const STATUS_MS = 10_000;
/** Opens what citations point to, read-only, with the cited lines marked and the cursor at the first of them. */
export class Citations {
  constructor(
    private readonly evidence: Evidence,
    private readonly documents: SourceDocuments,
    private readonly highlight: Highlight,
  ) {}

  /**
   * Opens a candidate of a pack: the server says from its id where that is, so nothing that a page or a pack says
   * decides what is read.
   *
   * @throws Problem if the candidate is not in the pack, if the index no longer holds it, or if its source is gone.
   */
  async open(candidate: Candidate, pack: EvidenceResult, where: OpenTarget): Promise<void> {
    if (!pack.candidates.some((held) => held.candidate_id === candidate.candidate_id)) {
      throw new Problem(vscode.l10n.t("This citation is not of the evidence that is shown. Ask again."), "not_held");
    }
    const scope = this.evidence.scopeOf(pack);
    const source = await this.evidence.source({ candidateId: candidate.candidate_id }, undefined, scope);
    const openDocs = vscode.workspace.getConfiguration(SECTION).get<string>("openDocs");
    await this.carryOut(
      planOpening(candidate, source, where, openDocs === "browser" ? "browser" : "source"),
      source,
      scope,
    );
  }

  /**
   * Opens the lines of a file that a citation names: where a symbol is defined, a part of an outline.
   *
   * @param citation It names the commit, too, without which path and lines could be those of another version.
   * @param scope What the citation's search was asked for.
   * @param where The source in the editor, or the page in the browser.
   * @throws Problem if the index does not hold the file at that commit, or its source is gone, or there is no page.
   */
  async openCitation(
    citation: string,
    scope: vscode.Uri | undefined,
    where: "source" | "browser" = "source",
  ): Promise<void> {
    const source = await this.evidence.source({ citation }, undefined, scope);
    await this.carryOut(planOpening({ source_type: "docs" }, source, where, "source"), source, scope);
  }

  private async carryOut(opening: Opening, source: SourceResult, scope: vscode.Uri | undefined): Promise<void> {
    switch (opening.kind) {
      case "page":
        await vscode.env.openExternal(vscode.Uri.parse(opening.url, true));
        return;
      case "nothing":
        throw noPage();
      case "document": {
        const editor = await show(this.documents.addressOf(source, scope));
        this.mark(editor, source, opening.lines, opening.note);
      }
    }
  }

  private mark(editor: vscode.TextEditor, source: SourceResult, lines: LineSpan | null, note: Note | null): void {
    const remark = note === null ? null : remarkOn(note, source, lines);
    const { document } = editor;
    if (lines !== null) {
      const start = new vscode.Position(lines.start - 1, 0);
      const end = document.lineAt(Math.min(lines.end, document.lineCount) - 1).range.end;
      this.highlight.show(editor, document.validateRange(new vscode.Range(start, end)), remark);
    }
    if (remark === null) {
      return;
    }
    if (note === "changed" || note === "gone") {
      void vscode.window.showWarningMessage(remark);
    } else {
      vscode.window.setStatusBarMessage(remark, STATUS_MS);
    }
  }
}

/** What the reader must know. Only paths and commits in it are from elsewhere. */
function remarkOn(note: Note, source: SourceResult, lines: LineSpan | null): string {
  const path = messageLine(source.path);
  const span = lines === null ? "" : `${lines.start}–${lines.end}`;
  switch (note) {
    case "kept":
      return vscode.l10n.t(
        "This is {0} as it was cited, at {1}; the file on the disk differs.",
        path,
        shortCommit(source.commit),
      );
    case "moved":
      return vscode.l10n.t("The file has changed since it was indexed: the cited text now stands at lines {0}.", span);
    case "same_tree":
      return vscode.l10n.t(
        "The file has changed since it was indexed: the cited code, formatted otherwise, now stands at lines {0}.",
        span,
      );
    case "changed":
      return vscode.l10n.t(
        "What was cited has changed since it was indexed: it is at lines {0} now, with another text.",
        span,
      );
    case "gone":
      return vscode.l10n.t("What was cited is no longer in {0}. Bring the index up to date.", path);
    case "unverified":
      return vscode.l10n.t("{0} has changed since it was indexed, and the cited lines could not be found again.", path);
    case "no-page":
      return vscode.l10n.t("There is no page for this on the site of the docs, so its source is shown.");
  }
}

function noPage(): Problem {
  return new Problem(
    vscode.l10n.t("This citation has no page on the site of the docs. Open its source instead."),
    "no_page",
  );
}

function show(uri: vscode.Uri): Thenable<vscode.TextEditor> {
  return vscode.workspace
    .openTextDocument(uri)
    .then((document) => vscode.window.showTextDocument(document, { preview: true }));
}

import * as vscode from "vscode";
import { SOURCE_SCHEME } from "../ids";

interface Mark {
  range: vscode.Range;
  /** Shown behind the first of the lines. */
  remark: string | null;
}

/**
 * Marks the cited lines of read-only sources while the sources are open. Nothing is selected: a decoration marks the
 * lines, and the cursor is at the first of them.
 */
export class Highlight implements vscode.Disposable {
  private readonly lines = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
  /** By the address of the source. */
  private readonly marks = new Map<string, Mark>();
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor() {
    const { window, workspace } = vscode;
    window.onDidChangeVisibleTextEditors((editors) => editors.forEach(this.take), null, this.subscriptions);
    window.onDidChangeTextEditorSelection(
      // A selection that a program has set has no kind, or the kind `Command`.
      ({ textEditor, kind }) => {
        const byReader =
          kind === vscode.TextEditorSelectionChangeKind.Keyboard || kind === vscode.TextEditorSelectionChangeKind.Mouse;
        if (!byReader) {
          this.take(textEditor);
        }
      },
      null,
      this.subscriptions,
    );
    workspace.onDidCloseTextDocument(({ uri }) => this.marks.delete(uri.toString()), null, this.subscriptions);
    window.visibleTextEditors.forEach(this.take);
  }

  /** Brings lines of a source into view and marks them; earlier marks are removed. */
  show(editor: vscode.TextEditor, range: vscode.Range, remark: string | null): void {
    this.marks.set(editor.document.uri.toString(), { range, remark });
    editor.selection = new vscode.Selection(range.start, range.start);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.paint(editor);
  }

  dispose(): void {
    this.lines.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Links in a chat make the editor select the lines; these become marked lines, too. */
  private readonly take = (editor: vscode.TextEditor): void => {
    const { document, selection } = editor;
    if (document.uri.scheme !== SOURCE_SCHEME) {
      return;
    }
    if (areWholeLines(document, selection)) {
      this.show(editor, new vscode.Range(selection.start, selection.end), null);
    } else {
      // An editor that was out of sight has lost its decorations.
      this.paint(editor);
    }
  };

  private paint(editor: vscode.TextEditor): void {
    const mark = this.marks.get(editor.document.uri.toString());
    if (mark === undefined) {
      return;
    }
    const { range, remark } = mark;
    const decorations: vscode.DecorationOptions[] = [{ range }];
    if (remark !== null) {
      const color = new vscode.ThemeColor("editorCodeLens.foreground");
      const first = editor.document.lineAt(range.start.line).range;
      decorations.push({ range: first, renderOptions: { after: { contentText: remark, color, margin: "0 0 0 2em" } } });
    }
    editor.setDecorations(this.lines, decorations);
  }
}

function areWholeLines(document: vscode.TextDocument, { start, end, isEmpty }: vscode.Selection): boolean {
  return !isEmpty && start.character === 0 && end.isEqual(document.lineAt(end.line).range.end);
}

import * as vscode from "vscode";

/** Marks the cited lines of one editor at a time, until the reader moves the cursor there or edits. */
export class Highlight implements vscode.Disposable {
  private readonly lines = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
  private readonly subscriptions: vscode.Disposable[] = [];
  private editor: vscode.TextEditor | null = null;

  constructor() {
    vscode.window.onDidChangeTextEditorSelection(
      // A selection that was set by a program has no kind, or that of a command.
      ({ textEditor, kind }) => {
        const byReader =
          kind === vscode.TextEditorSelectionChangeKind.Keyboard || kind === vscode.TextEditorSelectionChangeKind.Mouse;
        if (byReader && textEditor === this.editor) {
          this.clear();
        }
      },
      null,
      this.subscriptions,
    );
    vscode.workspace.onDidChangeTextDocument(
      ({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document === this.editor?.document) {
          this.clear();
        }
      },
      null,
      this.subscriptions,
    );
  }

  /** Selects lines, brings them into view and marks them; `remark` is shown behind the first of them. */
  show(editor: vscode.TextEditor, range: vscode.Range, remark: string | null): void {
    this.clear();
    this.editor = editor;
    // The cursor stands at the beginning: that is where one reads on.
    editor.selection = new vscode.Selection(range.end, range.start);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    const color = new vscode.ThemeColor("editorCodeLens.foreground");
    const first = editor.document.lineAt(range.start.line).range;
    const marks: vscode.DecorationOptions[] = [{ range }];
    if (remark !== null) {
      marks.push({ range: first, renderOptions: { after: { contentText: remark, color, margin: "0 0 0 2em" } } });
    }
    editor.setDecorations(this.lines, marks);
  }

  dispose(): void {
    this.clear();
    this.lines.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private clear(): void {
    this.editor?.setDecorations(this.lines, []);
    this.editor = null;
  }
}

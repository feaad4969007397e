import * as vscode from "vscode";

/** A report as a read-only Markdown document, shown as a preview; a later report takes its place. */
export class ReportDocument implements vscode.Disposable {
  private text = "";
  private readonly uri: vscode.Uri;
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration: vscode.Disposable;

  /**
   * @param scheme The scheme of the document's address, which nothing else uses.
   * @param name What the editor's tab shows, without the ending.
   */
  constructor(scheme: string, name: string) {
    this.uri = vscode.Uri.from({ scheme, path: `/${name}.md` });
    this.registration = vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: this.changes.event,
      provideTextDocumentContent: () => this.text,
    });
  }

  async show(markdown: string): Promise<void> {
    this.text = markdown;
    this.changes.fire(this.uri);
    try {
      await vscode.commands.executeCommand("markdown.showPreview", this.uri);
    } catch {
      // The editor's own Markdown extension may be off.
      await vscode.window.showTextDocument(this.uri, { preview: true });
    }
  }

  dispose(): void {
    this.registration.dispose();
    this.changes.dispose();
  }
}

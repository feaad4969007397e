/** Which folders of the window, and which files outside of them, have to do with the ADK. Elsewhere nothing starts. */

import * as vscode from "vscode";
import { folderInUse } from "../evidence/scope";
import { workspaceFolderOf } from "../evidence/sourceAddress";
import { CONTEXT, SOURCE_SCHEME } from "../ids";
import { DEPENDENCY_FILES, dependencyIn, type Files, importsAdk, isDependency } from "./adkFiles";

/** A file imports what it needs near its top. */
const MAX_CODE = 200_000;
/** Where the ADK's own files lie. They import each other by relative names. */
const OF_THE_ADK = /\/google\/adk\//;
const CELL_SCHEME = "vscode-notebook-cell";

/**
 * A folder uses the ADK if one of its open Python files imports google.adk, or one of its files of dependencies names
 * google-adk. A file of no folder counts by its imports. Which google-adk the project uses, the server says.
 *
 * What was found stays found as long as the folder is open: a file that is being edited, or another branch for a
 * moment, must not end what the user works with.
 */
export class AdkProjects implements vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly folders = new Set<string>();
  /** The paths of files of no folder; all cells of a notebook have the notebook's. */
  private readonly files = new Set<string>();
  private readonly looks = new Map<string, Promise<void>>();
  private readonly disposables: vscode.Disposable[];

  /** Fires when a folder or file was found to use the ADK. */
  readonly onDidFind = this.changes.event;

  /**
   * @param log Gets a line for each folder.
   * @param fileSystem Where files are looked for.
   */
  constructor(
    private readonly log: Pick<vscode.LogOutputChannel, "info">,
    private readonly fileSystem: Files = vscode.workspace.fs,
  ) {
    const dependencies = vscode.workspace.createFileSystemWatcher(DEPENDENCY_FILES, false, false, true);
    const changed = (file: vscode.Uri) => void this.readDependencies(file);
    this.disposables = [
      this.changes,
      dependencies,
      dependencies.onDidCreate(changed),
      dependencies.onDidChange(changed),
      vscode.workspace.onDidChangeWorkspaceFolders(({ removed }) => this.lookAtFolders(removed)),
      vscode.workspace.onDidOpenTextDocument((document) => this.readCode(document)),
      vscode.workspace.onDidSaveTextDocument((document) => this.readCode(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.typed(event)),
      vscode.window.onDidChangeActiveTextEditor(() => this.tellContext()),
    ];
    for (const document of vscode.workspace.textDocuments) {
      this.readCode(document);
    }
    this.lookAtFolders([]);
  }

  /** Whether a document or folder has to do with the ADK, as far as is known. */
  has(uri: vscode.Uri): boolean {
    if (uri.scheme === SOURCE_SCHEME) {
      return true;
    }
    const folder = folderOf(uri);
    return folder ? this.folders.has(folder.uri.toString()) : this.files.has(uri.path);
  }

  /** The same of where the user works: a document of no folder belongs to the folder in use. */
  hasInUse(scope: vscode.Uri | undefined): boolean {
    if (scope && folderOf(scope)) {
      return this.has(scope);
    }
    if (scope && this.has(scope)) {
      return true;
    }
    const folder = folderInUse();
    return folder ? this.has(folder.uri) : this.files.size > 0;
  }

  /** The same of a folder once its files were looked at, or of the window that has none. */
  async hasFolder(folder: vscode.WorkspaceFolder | undefined): Promise<boolean> {
    if (!folder) {
      return this.files.size > 0;
    }
    await this.looks.get(folder.uri.toString());
    return this.has(folder.uri);
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private lookAtFolders(removed: readonly vscode.WorkspaceFolder[]): void {
    for (const { uri } of removed) {
      this.folders.delete(uri.toString());
      this.looks.delete(uri.toString());
    }
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      const id = folder.uri.toString();
      if (!this.looks.has(id)) {
        this.looks.set(id, this.look(folder));
      }
    }
    this.tellContext();
    void Promise.all(this.looks.values()).then(() =>
      vscode.commands.executeCommand("setContext", CONTEXT.hasLooked, true),
    );
  }

  private async look(folder: vscode.WorkspaceFolder): Promise<void> {
    const file = await dependencyIn(folder.uri, this.fileSystem);
    if (file !== undefined) {
      this.found(folder, file);
    } else if (!this.has(folder.uri)) {
      this.log.info(`${folder.name} does not use google-adk: nothing starts there by itself`);
    }
  }

  private async readDependencies(file: vscode.Uri): Promise<void> {
    const folder = vscode.workspace.getWorkspaceFolder(file);
    if (folder && !this.has(folder.uri) && (await isDependency(folder.uri, file, this.fileSystem))) {
      this.found(folder, vscode.workspace.asRelativePath(file, false));
    }
  }

  private readCode(document: vscode.TextDocument): void {
    if (this.mayFindIn(document)) {
      this.consider(
        document,
        document.getText(new vscode.Range(new vscode.Position(0, 0), document.positionAt(MAX_CODE))),
      );
    }
  }

  private typed({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (!this.mayFindIn(document)) {
      return;
    }
    for (const { range, text } of contentChanges) {
      const last = range.start.line + text.split("\n").length;
      const lines = document.validateRange(new vscode.Range(range.start.line, 0, last, 0));
      this.consider(document, document.getText(lines).slice(0, MAX_CODE));
    }
  }

  private mayFindIn({ languageId, uri }: vscode.TextDocument): boolean {
    const mayCount = ["file", "untitled", CELL_SCHEME].includes(uri.scheme) || folderOf(uri) !== undefined;
    return languageId === "python" && mayCount && !this.has(uri);
  }

  private consider(document: vscode.TextDocument, code: string): void {
    if (importsAdk(code) || OF_THE_ADK.test(document.uri.path)) {
      this.found(folderOf(document.uri), vscode.workspace.asRelativePath(document.uri, false), document.uri.path);
    }
  }

  /** @param where What says so, for the log. */
  private found(folder: vscode.WorkspaceFolder | undefined, where: string, path = ""): void {
    const [known, name] = folder ? [this.folders, folder.uri.toString()] : [this.files, path];
    // A look may end after the folder was closed.
    if (known.has(name) || (folder && vscode.workspace.getWorkspaceFolder(folder.uri) === undefined)) {
      return;
    }
    known.add(name);
    this.log.info(`${folder?.name ?? "A file"} uses google-adk: ${where}`);
    this.tellContext();
    this.changes.fire();
  }

  private tellContext(): void {
    const value = this.hasInUse(vscode.window.activeTextEditor?.document.uri);
    void vscode.commands.executeCommand("setContext", CONTEXT.hasAdk, value);
  }
}

/** The folder of a document; for a cell, that of its notebook. */
function folderOf(uri: vscode.Uri): vscode.WorkspaceFolder | undefined {
  return workspaceFolderOf(uri.scheme === CELL_SCHEME ? vscode.Uri.file(uri.path) : uri);
}

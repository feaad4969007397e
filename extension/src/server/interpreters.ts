/** Which Python the user has chosen for each folder of the workspace, as the server is told. */

import * as vscode from "vscode";
import { activePython, onDidChangePython } from "./pythonExtension";

export class Interpreters implements vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable;
  private found: Readonly<Record<string, string>> = {};
  private looking: Promise<void> | undefined;

  /** Fires when the interpreter of a folder has changed. */
  readonly onDidChange = this.changes.event;

  /** @param ask Tells the interpreter of a folder; undefined where none is chosen. */
  constructor(private readonly ask: (folder: vscode.Uri) => Promise<string | undefined> = activePython) {
    const look = () => void this.look();
    this.subscriptions = vscode.Disposable.from(
      onDidChangePython(look),
      vscode.workspace.onDidChangeWorkspaceFolders(look),
    );
  }

  /** The interpreters by the URIs of folders, as far as they are known. */
  get byFolder(): Readonly<Record<string, string>> {
    return this.found;
  }

  /** Waits until the interpreters are known. */
  known(): Promise<void> {
    return this.looking ?? this.look();
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.changes.dispose();
  }

  private look(): Promise<void> {
    const looking = this.lookAgain().finally(() => {
      // A later look knows more.
      if (this.looking === looking) {
        this.looking = Promise.resolve();
      }
    });
    this.looking = looking;
    return looking;
  }

  private async lookAgain(): Promise<void> {
    // A folder that is not on a disk has no interpreter.
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
    const asked = await Promise.all(folders.map(async ({ uri }) => [uri.toString(), await this.ask(uri)] as const));
    const found = Object.fromEntries(asked.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
    if (JSON.stringify(found) !== JSON.stringify(this.found)) {
      this.found = found;
      this.changes.fire();
    }
  }
}

/** Which Python the user has chosen for each folder of the workspace, as the server is told. */

import * as vscode from "vscode";
import { activePython, onDidChangePython } from "./pythonExtension";
import { withinTime } from "./time";

/** Servers do not wait longer for the Python extension: they are told later what it answers. */
const KNOWN_MS = 1000;

export class Interpreters implements vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable;
  private found: Readonly<Record<string, string>> = {};
  private looking: Promise<void> | undefined;
  private looks = 0;

  /** Fires when the interpreter of a folder has changed. */
  readonly onDidChange = this.changes.event;

  /** @param ask Tells the interpreter of a folder; undefined where none is chosen. */
  constructor(private readonly ask: (folder: vscode.Uri) => Promise<string | undefined> = activePython) {
    // To ask starts the Python extension: where no server was told anything, nothing is asked.
    const look = () => void (this.looking && this.look());
    this.subscriptions = vscode.Disposable.from(
      onDidChangePython(look),
      vscode.workspace.onDidChangeWorkspaceFolders(look),
    );
  }

  /** The interpreters by the URIs of folders, as far as they are known. */
  get byFolder(): Readonly<Record<string, string>> {
    return this.found;
  }

  /** Waits until the interpreters are known, but not for long. */
  known(): Promise<void> {
    return withinTime(this.looking ?? this.look(), KNOWN_MS, () => new Error("no answer in time")).catch(
      () => undefined,
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.changes.dispose();
  }

  private look(): Promise<void> {
    this.looks += 1;
    const looking = this.lookAgain(this.looks).finally(() => {
      if (this.looking === looking) {
        this.looking = Promise.resolve();
      }
    });
    this.looking = looking;
    return looking;
  }

  private async lookAgain(look: number): Promise<void> {
    // A folder that is not on a disk has no interpreter.
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
    const asked = await Promise.all(folders.map(async ({ uri }) => [uri.toString(), await this.ask(uri)] as const));
    // A later look knows more, whichever of the two ends first.
    if (look !== this.looks) {
      return;
    }
    const found = Object.fromEntries(asked.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
    if (JSON.stringify(found) !== JSON.stringify(this.found)) {
      this.found = found;
      this.changes.fire();
    }
  }
}

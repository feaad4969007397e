/** What the panel remembers of a workspace: that it was used, and its last answer. */

import * as vscode from "vscode";
import { isSavedState } from "../protocol/check";
import { TaskQueue } from "../server/taskQueue";
import type { SavedState } from "./messages";
import { keepable } from "./savedState";

export interface PanelMemory {
  /** Whether the panel was ever shown. */
  readonly used: boolean;
  noteUse(): void;
  /** Whether the panel was in sight last; VS Code itself does not open it before the extension has started. */
  readonly open: boolean;
  noteOpen(open: boolean): void;
  /** What was kept last; null if there is nothing, or nothing of this version. */
  load(): Promise<SavedState | null>;
  keep(state: SavedState): Promise<void>;
}

const USED = "adkEvidence.panelUsed";
const OPEN = "adkEvidence.panelOpen";
const FILE = "panel.json";
/** Takes the place of the file once it is whole. */
const DRAFT = "panel.json.draft";

/** Remembers in the editor's storage for the workspace; without a workspace only that it was used. */
export class WorkspaceMemory implements PanelMemory {
  private readonly writes = new TaskQueue();
  private latest: SavedState | null = null;

  constructor(private readonly context: Pick<vscode.ExtensionContext, "workspaceState" | "storageUri">) {}

  get used(): boolean {
    return this.context.workspaceState.get<unknown>(USED) === true;
  }

  noteUse(): void {
    if (!this.used) {
      void this.context.workspaceState.update(USED, true);
    }
  }

  get open(): boolean {
    return this.context.workspaceState.get<unknown>(OPEN) === true;
  }

  noteOpen(open: boolean): void {
    void this.context.workspaceState.update(OPEN, open);
  }

  async load(): Promise<SavedState | null> {
    const { storageUri } = this.context;
    if (storageUri === undefined) {
      return null;
    }
    try {
      const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(storageUri, FILE));
      const state: unknown = JSON.parse(new TextDecoder().decode(bytes));
      return isSavedState(state) ? state : null;
    } catch {
      // There is none yet, or it was cut off; the panel starts without one.
      return null;
    }
  }

  keep(state: SavedState): Promise<void> {
    this.latest = state;
    // A write that has not begun writes the latest state, too.
    return this.writes.run("keep", () => this.write());
  }

  private async write(): Promise<void> {
    const { storageUri } = this.context;
    if (storageUri === undefined || this.latest === null) {
      return;
    }
    const text = JSON.stringify(keepable(this.latest));
    const draft = vscode.Uri.joinPath(storageUri, DRAFT);
    try {
      await vscode.workspace.fs.createDirectory(storageUri);
      await vscode.workspace.fs.writeFile(draft, new TextEncoder().encode(text));
      await vscode.workspace.fs.rename(draft, vscode.Uri.joinPath(storageUri, FILE), { overwrite: true });
    } catch {
      // A full or read-only disk must not stand between a question and its answer.
    }
  }
}

import * as vscode from "vscode";
import { SOURCE_SCHEME } from "../ids";
import { Problem } from "../problem";
import type { SourceResult } from "../protocol/generated";
import type { Evidence } from "./client";
import { plain } from "./plainText";
import { fromDocumentPath, toDocumentPath } from "./sourcePlace";

const KEPT = 16;
/** Whatever encoding the user's settings say that files have, this one is seen. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Read-only files with cited sources at their commits. Their address says all that is needed to read them again; in a
 * workspace of several folders it also says which folder's server to ask. They are files and not mere documents
 * because the editor opens those again after a reload of the window.
 */
export class SourceDocuments implements vscode.FileSystemProvider {
  /** What was just read, so that opening it asks no second time. */
  private readonly contents = new Map<string, Uint8Array>();
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();

  /** A source at a commit never changes. */
  readonly onDidChangeFile = this.changed.event;

  constructor(private readonly evidence: Evidence) {}

  /** Registers the files of this scheme. */
  register(): vscode.Disposable {
    const isReadonly = new vscode.MarkdownString(vscode.l10n.t("This is a cited source at its commit."));
    return vscode.Disposable.from(
      this.changed,
      vscode.workspace.registerFileSystemProvider(SOURCE_SCHEME, this, { isReadonly, isCaseSensitive: true }),
    );
  }

  /** The address of the file with a source. */
  addressOf(source: SourceResult, scope: vscode.Uri | undefined): vscode.Uri {
    const folder = scope && vscode.workspace.getWorkspaceFolder(scope);
    const several = (vscode.workspace.workspaceFolders?.length ?? 0) > 1;
    const uri = vscode.Uri.from({
      scheme: SOURCE_SCHEME,
      path: toDocumentPath(source),
      query: several && folder ? folder.uri.toString() : "",
    });
    this.keep(uri, source);
    return uri;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { length } = await this.readFile(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: length };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const kept = this.contents.get(uri.toString());
    if (kept !== undefined) {
      return kept;
    }
    const place = fromDocumentPath(uri.path);
    if (place === null) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    const scope = uri.query === "" ? undefined : vscode.Uri.parse(uri.query);
    try {
      return this.keep(uri, await this.evidence.source({ ...place }, undefined, scope));
    } catch (reason) {
      throw reason instanceof Problem ? vscode.FileSystemError.Unavailable(plain(reason.message)) : reason;
    }
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  writeFile(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  private keep(uri: vscode.Uri, source: SourceResult): Uint8Array {
    if (!source.matches_index) {
      throw new Problem(
        vscode.l10n.t("The source has changed since it was indexed, and nothing keeps what was cited. Ingest again."),
        "source_changed",
      );
    }
    const address = uri.toString();
    const content = Buffer.from(BYTE_ORDER_MARK + source.text);
    this.contents.delete(address);
    this.contents.set(address, content);
    for (const oldest of this.contents.keys()) {
      if (this.contents.size <= KEPT) {
        break;
      }
      this.contents.delete(oldest);
    }
    return content;
  }
}

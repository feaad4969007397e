import { createHash } from "node:crypto";
import * as vscode from "vscode";
import { SOURCE_SCHEME } from "../ids";
import { Problem } from "../problem";
import type { SourceFile, SourceResult } from "../protocol/generated";
import { messageLine } from "../text/untrusted";
import type { Evidence } from "./client";
import { fromDocumentPath, fromDocumentQuery, type Scopes, scopesOf, sourceAddress } from "./sourceAddress";

const KEPT = 16;
const HASH_DIGITS = 16;
/** Makes the editor read UTF-8, whatever encoding the user's settings name. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Read-only files with cited sources: at their commits, or as they are on the disk where nothing else keeps them. A
 * file's address holds everything needed to read the file again; in a workspace of several folders it also names the
 * folder whose server is asked. They are files because the editor reopens files after a reload of the window.
 */
export class SourceDocuments implements vscode.FileSystemProvider {
  /** The texts that were read last, so that opening one does not ask the server again. */
  private readonly contents = new Map<string, Uint8Array>();
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();

  /** The text of an address never changes. */
  readonly onDidChangeFile = this.changed.event;

  constructor(private readonly evidence: Pick<Evidence, "source">) {}

  /** Registers the files of this scheme. */
  register(): vscode.Disposable {
    const isReadonly = new vscode.MarkdownString(
      vscode.l10n.t("This is a cited source, which cannot be edited. Its file can be opened from the title bar."),
    );
    return vscode.Disposable.from(
      this.changed,
      vscode.workspace.registerFileSystemProvider(SOURCE_SCHEME, this, { isReadonly, isCaseSensitive: true }),
    );
  }

  /** The address of the file with a source. */
  addressOf(source: SourceResult, scope: vscode.Uri | undefined): vscode.Uri {
    const uri = sourceAddress(source, scope, source.matches_index ? "" : hashOf(source.text));
    this.keep(uri, source);
    return uri;
  }

  /**
   * The source that an address names. Where the address does not say which folder's server to ask, all are asked in
   * turn.
   *
   * @throws Problem if there is no such source, or its text is not the one that the address names.
   */
  async read(uri: vscode.Uri): Promise<SourceResult> {
    const place = fromDocumentPath(uri.path);
    if (place === null) {
      throw new Problem(vscode.l10n.t("This is not the address of a cited source."), "not_indexed");
    }
    const source = await this.ask(place, scopesOf(uri));
    const { text } = fromDocumentQuery(uri.query);
    if (text === "" ? !source.matches_index : hashOf(source.text) !== text) {
      throw new Problem(
        vscode.l10n.t(
          "The source has changed since it was indexed, and nothing keeps what was cited. Bring the index up to date.",
        ),
        "source_changed",
      );
    }
    return source;
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
    if (fromDocumentPath(uri.path) === null) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    try {
      return this.keep(uri, await this.read(uri));
    } catch (reason) {
      throw reason instanceof Problem ? vscode.FileSystemError.Unavailable(messageLine(reason.message)) : reason;
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

  private async ask(place: SourceFile, [scope, ...others]: Scopes): Promise<SourceResult> {
    try {
      return await this.evidence.source({ ...place }, undefined, scope);
    } catch (reason) {
      const [next, ...rest] = others;
      if (next !== undefined && reason instanceof Problem && NOT_HERE.includes(reason.code)) {
        return this.ask(place, [next, ...rest]);
      }
      throw reason;
    }
  }

  private keep(uri: vscode.Uri, { text }: SourceResult): Uint8Array {
    const address = uri.toString();
    const content = Buffer.from(BYTE_ORDER_MARK + text);
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

/** Codes with which a server with another index, or without an index, fails. */
const NOT_HERE = ["not_indexed", "no_index"];

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH_DIGITS);
}

/** The page in a webview of the editor: what it may load, and the messages to it. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { pageHtml } from "./html";
import type { ToPage } from "./messages";

export class Page {
  /** It has said that it listens, and has not been hidden, which drops it, since. */
  private listens = false;

  /** @param received Gets what the page sends, unchecked. */
  constructor(
    private readonly webview: vscode.Webview,
    extensionUri: vscode.Uri,
    received: (message: unknown) => void,
  ) {
    const dist = vscode.Uri.joinPath(extensionUri, "extension", "dist");
    const media = vscode.Uri.joinPath(extensionUri, "extension", "media");
    webview.options = { enableScripts: true, enableCommandUris: false, localResourceRoots: [dist, media] };
    webview.onDidReceiveMessage(received);
    webview.html = pageHtml({
      cspSource: webview.cspSource,
      scriptUri: webview.asWebviewUri(vscode.Uri.joinPath(dist, "webview.js")).toString(),
      styleUri: webview.asWebviewUri(vscode.Uri.joinPath(media, "webview.css")).toString(),
      nonce: randomBytes(18).toString("base64url"),
      language: vscode.env.language,
      title: vscode.l10n.t("ADK Evidence"),
      strings: vscode.l10n.bundle ?? {},
    });
  }

  get listening(): boolean {
    return this.listens;
  }

  ready(): void {
    this.listens = true;
  }

  hidden(): void {
    this.listens = false;
  }

  /** Sends a message if the page listens; one that does not asks for the state when it starts. */
  post(message: ToPage): void {
    if (this.listens) {
      void this.webview.postMessage(message);
    }
  }
}

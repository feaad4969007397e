/** Starts the Evidence page. */

import { config } from "@vscode/l10n";
import { render } from "preact";
import { isTexts } from "../../protocol/check";
import { App } from "./App";
import { connect } from "./editorPort";

const root = document.getElementById("app");
if (root !== null) {
  const strings: unknown = JSON.parse(root.dataset.strings ?? "{}");
  if (isTexts(strings)) {
    config({ contents: strings });
  }
  render(<App editor={connect()} />, root);
}

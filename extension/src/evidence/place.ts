import * as vscode from "vscode";
import type { EvidenceParams, Range } from "../protocol/generated";
import { questionOfText } from "./question";
import { SYNCHRONIZED } from "./synchronized";

/**
 * The question that a place in a document asks; null if there is no text to ask about. The server makes it of the
 * selection and of what is around it where it has the document open, else it is the selected text or the line.
 */
export function questionAt(
  document: vscode.TextDocument,
  selection: vscode.Range,
): Pick<EvidenceParams, "query" | "textDocument" | "range"> | null {
  const asked = document.validateRange(selection);
  const line = document.lineAt(asked.start.line).range;
  const text = questionOfText(document.getText(asked)) || questionOfText(document.getText(line));
  if (text === "") {
    return null;
  }
  if (vscode.languages.match(SYNCHRONIZED, document) > 0) {
    return { textDocument: { uri: document.uri.toString() }, range: toProtocol(asked) };
  }
  return { query: text };
}

function toProtocol({ start, end }: vscode.Range): Range {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}

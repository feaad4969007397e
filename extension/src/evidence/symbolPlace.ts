import type { SymbolInformation, Uri } from "vscode";
import { shapeOf, text } from "../webview/shape";
import type { SourceFile } from "./sourceAddress";

const isPlace = shapeOf<SourceFile>({ repo: text, commit: text, path: text });

/** A symbol of the server's whose place is the read-only document with its source instead of the file. */
export function readOnly(
  symbol: SymbolInformation & { data?: unknown },
  addressOf: (place: SourceFile) => Uri,
): SymbolInformation {
  if (isPlace(symbol.data)) {
    const { repo, commit, path } = symbol.data;
    symbol.location.uri = addressOf({ repo, commit, path });
  }
  return symbol;
}

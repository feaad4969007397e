/** The page's document. It holds no text from anywhere but this extension. */

import { htmlText } from "../text/untrusted";

export interface PageParts {
  cspSource: string;
  scriptUri: string;
  styleUri: string;
  nonce: string;
  language: string;
  title: string;
  /** Translated strings of the page, by their English ones. */
  strings: Record<string, string>;
}

/** Builds the page: scripts run by nonce only, styles come from the extension's folder, nothing else is loaded. */
export function pageHtml(parts: PageParts): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${parts.nonce}'`,
    `style-src ${parts.cspSource}`,
    "base-uri 'none'",
    "form-action 'none'",
    // No script can turn a string into markup or code, whatever it is given.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="${htmlText(parts.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlText(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${htmlText(parts.title)}</title>
<link rel="stylesheet" href="${htmlText(parts.styleUri)}">
</head>
<body>
<div id="app" data-strings="${htmlText(JSON.stringify(parts.strings))}"></div>
<script nonce="${htmlText(parts.nonce)}" src="${htmlText(parts.scriptUri)}"></script>
</body>
</html>`;
}

/** The page's document. It holds no text from anywhere but this extension. */

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
<html lang="${escaped(parts.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(parts.title)}</title>
<link rel="stylesheet" href="${escaped(parts.styleUri)}">
</head>
<body>
<div id="app" data-strings="${escaped(JSON.stringify(parts.strings))}"></div>
<script nonce="${escaped(parts.nonce)}" src="${escaped(parts.scriptUri)}"></script>
</body>
</html>`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(value: string): string {
  return value.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

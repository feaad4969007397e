import type { Candidate } from "../protocol/generated";

/**
 * Whether a page of the documentation may be opened in a browser: over https, on the site that the corpus is
 * published at, without a name or password in its address.
 */
export function isPageOf(url: string, siteUrl: string | null): boolean {
  const page = parse(url);
  const site = siteUrl === null ? null : parse(siteUrl);
  return (
    page !== null &&
    site !== null &&
    page.protocol === "https:" &&
    page.host === site.host &&
    page.username === "" &&
    page.password === ""
  );
}

function parse(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null;
}

/**
 * The cited lines on GitHub, at their commit or release; null for what is in no public repository of Google's. The
 * server's Markdown has the same (server/adk_evidence/render/view.py).
 */
export function permalink({ repo, ref, path, lines }: Candidate): string | null {
  if (!/^google\/[\w.-]+$/.test(repo) || !/^(?:[0-9a-f]{40}|v\d[\w.]*)$/.test(ref) || path.includes("://")) {
    return null;
  }
  const file = path.split("/").map(encodeURIComponent).join("/");
  // GitHub shows a page of Markdown without its lines, unless it is asked for the plain text.
  const plain = path.endsWith(".md") ? "?plain=1" : "";
  const span = lines === null ? "" : `#L${lines.start}-L${lines.end}`;
  return `https://github.com/${repo}/blob/${ref}/${file}${plain}${span}`;
}

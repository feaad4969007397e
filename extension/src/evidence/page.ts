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

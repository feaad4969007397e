/** What the docs have beside Markdown, because they are written for MkDocs, and their text without that. */

export const INDENT = 4;
export const FRONT_MATTER = /^---\n(?:[^\n]*\n){0,40}?---(?:\n|$)/;
/** `--8<-- "file"`, which stands for a file's lines, and its form of several lines. */
export const SNIPPET = /^[ \t]*(?:;*--8<--|-{1,2}8<-{1,2})(?:[ \t].*)?$/;
export const TAB = /^===[!+]{0,2}[ \t]*"([^"\n]{0,200})"[ \t]*(?:\{[^{}\n]{0,200}\}[ \t]*)?$/;
export const NOTE =
  /^(?:!!!|\?\?\?\+?)[ \t]*([A-Za-z][\w-]{0,40})?(?:[ \t]+inline)?(?:[ \t]+end)?[ \t]*(?:"([^"\n]{0,300})")?[ \t]*$/;
/** Tags that only lay a page out, without anything that acts; all others are text. */
export const LAYOUT =
  /<(\/?)(?:div|span|p|br|center|strong|em|b|i|sub|sup|table|thead|tbody|tr|td|th|ul|ol|li|h[1-6])(?:\s{1,20}(?:class|markdown)(?:="[\w -]{0,100}")?){0,3}\s{0,20}\/?>/y;
/** Attributes of the element before them, and icons by name. */
export const ATTRIBUTES =
  /\{:?[ \t]{0,20}(?:[.#][\w-]{1,80}|target="?_blank"?|[\w-]{1,40}="[^"<>{}]{0,200}")(?:[ \t]{1,20}(?:[.#][\w-]{1,80}|[\w-]{1,40}="[^"<>{}]{0,200}"))*[ \t]{0,20}\}/y;
export const ICON = /:(?:material|octicons|fontawesome|simple)-[a-z0-9-]{1,80}:/y;

const INLINE = new RegExp([LAYOUT, ATTRIBUTES, ICON].map(({ source }) => source).join("|"), "g");

/** The lines of a text of the docs without these marks. What a tab or a remark holds stands below its title. */
export function plainDocs(text: string): string[] {
  const shown: string[] = [];
  // How many tabs and remarks the line stands in.
  let depth = 0;
  for (const line of withoutIndentation(text.replaceAll("\r\n", "\n").replace(FRONT_MATTER, "").split("\n"))) {
    depth = line.trim() === "" ? depth : Math.min(depth, Math.floor(indentationOf(line) / INDENT));
    const bare = line.slice(depth * INDENT);
    // In a list, a mark stands further in.
    const mark = bare.trimStart();
    const [, kind = "", said = kind] = NOTE.exec(mark) ?? [];
    const title = TAB.exec(mark)?.[1] ?? said;
    if (title !== "") {
      shown.push(`${title.charAt(0).toUpperCase()}${title.slice(1)}:`);
      depth = Math.floor(indentationOf(line) / INDENT) + 1;
    } else if (!SNIPPET.test(bare)) {
      shown.push(bare);
    }
  }
  return shown;
}

// Code comes first: what is in it is no mark.
const LINK = /`[^`]*`|!?\[((?:`[^`]*`|[^\][`])*)\]\([^()\s]*(?:[ \t]+"[^"]*")?\)/g;
const BOLD = /`[^`]*`|\*\*(?=\S)((?:`[^`]*`|[^*`])+)(?<=\S)\*\*/g;

/** A line of prose without marks that lay a page out; of a link, its text. */
export function plainLine(line: string): string {
  const words = line.replaceAll(INLINE, (mark) => (mark.startsWith("<br") ? " " : ""));
  return [LINK, BOLD].reduce((text, mark) => text.replaceAll(mark, (whole, inner?: string) => inner ?? whole), words);
}

/** A text may begin inside a tab or a list, whose mark is not part of it. */
export function withoutIndentation(lines: string[]): string[] {
  const begin = lines.findIndex((line) => line.trim() !== "");
  const width = indentationOf(lines[begin] ?? "");
  if (width < INDENT) {
    return lines;
  }
  let end = begin;
  while (end < lines.length && (lines[end]?.trim() === "" || indentationOf(lines[end] ?? "") >= width)) {
    end++;
  }
  return lines.map((line, at) => (at < end ? line.slice(width) : line));
}

export function indentationOf(line: string): number {
  return line.length - line.trimStart().length;
}

/**
 * The Markdown of the docs as a tree of few kinds of nodes. The docs are written for MkDocs: tabs (`=== "Python"`),
 * remarks (`!!! note`), snippets (`--8<--`) and attributes (`{ #id }`) are read, too. Nothing of a text becomes HTML, and
 * nothing is fetched: images are their descriptions.
 */

import MarkdownIt, { type BlockState, type InlineState, type Token } from "markdown-it";
import type { LeftOut } from "../../protocol/generated";
import {
  ATTRIBUTES,
  FRONT_MATTER,
  ICON,
  INDENT,
  LAYOUT,
  NOTE,
  SNIPPET,
  TAB,
  withoutIndentation,
} from "../../text/mkdocs";

/** A part of a line. */
export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "break" }
  | { kind: "strong" | "emphasis" | "strike"; children: Inline[] }
  /** `href` is an address over https. */
  | { kind: "link"; href: string; children: Inline[] };

/** Lines of the text, counted from 0: the first, and the one after the last. */
export type Span = readonly [number, number];

export type Block =
  | { kind: "heading" | "paragraph"; lines: Span; inline: Inline[] }
  /** The first `skip` lines are not shown. */
  | { kind: "code"; lines: Span; language: string; text: string; skip: number }
  | { kind: "row"; lines: Span; head: boolean; cells: Inline[][] }
  | { kind: "rule"; lines: Span }
  | Container;

export type Container =
  | { kind: "quote" | "table" | "item"; lines: Span; children: Block[] }
  | { kind: "list"; lines: Span; children: Block[]; first: number | null }
  /** A remark, or a part that folds out on the page. */
  | { kind: "note"; lines: Span; children: Block[]; note: string; title: Inline[] }
  /** `other`: all of its text is for readers of one other programming language. */
  | { kind: "tab"; lines: Span; children: Block[]; title: string; other: boolean };

/** How deep blocks may stand in blocks. What stands deeper is left to the source: nobody reads it in a card. */
const DEEPEST = 40;
/** A line of so many cells is no table that anyone reads, and the parser would fill up every row to as many. */
const WIDE_TABLE = /(?:\|[^|\n]*){40}/;

const parser = new MarkdownIt("default", { html: false, linkify: false, maxNesting: DEEPEST });
parser.block.ruler.before("fence", "indented", indentedBlock, {
  alt: ["paragraph", "reference", "blockquote", "list"],
});
parser.inline.ruler.before("escape", "layout", layout);

/**
 * Parses a text of the docs; a text that cannot be shown as it would read has no blocks.
 *
 * @param page The address of the page that the text is of, for links within the site.
 * @param leftOut Lines for readers of other languages, counted in the file; `first` is the text's first line there.
 */
export function parseDocs(text: string, page: string, leftOut: readonly LeftOut[] = [], first = 1): Block[] {
  if (WIDE_TABLE.test(text)) {
    return [];
  }
  const others = leftOut.map(({ lines }): Span => [lines.start - first, lines.end - first + 1]);
  const tokens = parser.parse(prepared(text), {});
  return blocksOf(new Reader(tokens), page, others);
}

/** Without front matter and snippets' marks, each line at its place; the first lines without an indentation of all. */
function prepared(text: string): string {
  const bare = text
    .replaceAll("\r\n", "\n")
    .replace(FRONT_MATTER, (matter) => "\n".repeat(matter.split("\n").length - 1));
  return withoutIndentation(bare.split("\n"))
    .map((line) => (SNIPPET.test(line) ? "" : line))
    .join("\n");
}

// Rules of the parser

/** A tab or a remark: its mark, and the lines below that are indented. */
function indentedBlock(state: BlockState, start: number, end: number, silent: boolean): boolean {
  if ((state.sCount[start] ?? 0) - state.blkIndent >= INDENT) {
    return false;
  }
  const line = state.src.slice((state.bMarks[start] ?? 0) + (state.tShift[start] ?? 0), state.eMarks[start]);
  const tab = TAB.exec(line);
  const note = tab === null ? NOTE.exec(line) : null;
  if (tab === null && note === null) {
    return false;
  }
  if (silent) {
    return true;
  }
  let last = start + 1;
  for (let next = start + 1; next < end; next++) {
    if (!state.isEmpty(next)) {
      if ((state.sCount[next] ?? 0) - state.blkIndent < INDENT) {
        break;
      }
      last = next + 1;
    }
  }
  const open = state.push(tab === null ? "note_open" : "tab_open", "", 1);
  open.map = [start, last];
  open.info = tab?.[1] ?? note?.[2] ?? "";
  open.markup = note?.[1] ?? "";
  const { lineMax } = state;
  state.lineMax = last;
  state.blkIndent += INDENT;
  state.md.block.tokenize(state, start + 1, last);
  state.blkIndent -= INDENT;
  state.lineMax = lineMax;
  state.push(tab === null ? "note_close" : "tab_close", "", -1);
  state.line = last;
  return true;
}

/** Reads over marks of layout; a tag's end separates words, and `<br>` lines. */
function layout(state: InlineState, silent: boolean): boolean {
  const pattern = { "<": LAYOUT, "{": ATTRIBUTES, ":": ICON }[state.src[state.pos] ?? ""];
  if (pattern === undefined) {
    return false;
  }
  pattern.lastIndex = state.pos;
  const found = pattern.exec(state.src);
  if (found === null) {
    return false;
  }
  if (!silent) {
    if (found[0].startsWith("<br")) {
      state.push("hardbreak", "br", 0);
    } else if (found[1] === "/") {
      state.push("text", "", 0).content = " ";
    }
  }
  state.pos += found[0].length;
  return true;
}

// From tokens to nodes

class Reader {
  private at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  /** The first line of the next token, which stays to be read; null where the token has no lines. */
  get line(): number | null {
    return this.tokens[this.at]?.map?.[0] ?? null;
  }

  /** The next token; null at the end of the block that is being read. */
  next(): Token | null {
    const token = this.tokens[this.at++];
    return token === undefined || token.nesting < 0 ? null : token;
  }
}

function blocksOf(reader: Reader, page: string, others: readonly Span[]): Block[] {
  const blocks: Block[] = [];
  for (let token = reader.next(); token !== null; token = reader.next()) {
    const lines: Span = token.map ?? [0, 0];
    const children = () => blocksOf(reader, page, others);
    const titleOf = (text: string) => inlineOf(new Reader(parser.parseInline(text, {})[0]?.children ?? []), page);
    switch (token.type) {
      case "heading_open":
      case "paragraph_open": {
        const inline = inlineOf(new Reader(reader.next()?.children ?? []), page);
        reader.next();
        if (hasText(inline)) {
          blocks.push({ kind: token.type === "heading_open" ? "heading" : "paragraph", lines, inline });
        }
        break;
      }
      case "fence":
      case "code_block":
        if (token.content.trim() !== "") {
          // The first line of a fence is its mark.
          const start = lines[0] + (token.type === "fence" ? 1 : 0);
          const text = token.content.replace(/\n$/, "");
          const language = /^[\w+#.-]{1,40}/.exec(token.info.trim())?.[0] ?? "";
          blocks.push({ kind: "code", lines: [start, start + text.split("\n").length], language, text, skip: 0 });
        }
        break;
      case "hr":
        blocks.push({ kind: "rule", lines });
        break;
      case "table_open":
        blocks.push({ kind: "table", lines, children: rowsOf(reader, page) });
        break;
      case "bullet_list_open":
        pushFilled(blocks, { kind: "list", lines, first: null, children: children() });
        break;
      case "ordered_list_open":
        pushFilled(blocks, { kind: "list", lines, first: Number(token.attrGet("start") ?? 1), children: children() });
        break;
      case "list_item_open":
        pushFilled(blocks, { kind: "item", lines, children: children() });
        break;
      case "note_open": {
        const title = titleOf(token.info);
        pushFilled(blocks, { kind: "note", lines, note: token.markup.toLowerCase(), title, children: children() });
        break;
      }
      case "tab_open": {
        // The lines for other readers may begin below the tab's mark. A nested tab of theirs hides only itself.
        const begin = reader.line ?? lines[0];
        const other = others.some(([start, end]) => start <= begin && lines[1] <= end);
        pushFilled(blocks, { kind: "tab", lines, title: textOf(titleOf(token.info)), other, children: children() });
        break;
      }
      default:
        // A quotation, and any block that is not known here.
        if (token.nesting > 0) {
          pushFilled(blocks, { kind: "quote", lines, children: children() });
        }
    }
  }
  return blocks;
}

/** A block whose only content was left out is left out, too. */
function pushFilled(blocks: Block[], block: Container): void {
  if (block.children.length > 0) {
    blocks.push(block);
  }
}

/** The rows of a table, whose sections do not matter. */
function rowsOf(reader: Reader, page: string): Block[] {
  const rows: Block[] = [];
  for (let section = reader.next(); section !== null; section = reader.next()) {
    for (let row = reader.next(); row !== null; row = reader.next()) {
      const cells: Inline[][] = [];
      for (let cell = reader.next(); cell !== null; cell = reader.next()) {
        cells.push(inlineOf(new Reader(reader.next()?.children ?? []), page));
        reader.next();
      }
      // The parser fills short rows up.
      const filled = cells.slice(0, cells.findLastIndex(hasText) + 1);
      const lines = row.map ?? section.map ?? [0, 0];
      rows.push({ kind: "row", lines, head: section.type === "thead_open", cells: filled });
    }
  }
  return rows;
}

function inlineOf(reader: Reader, page: string): Inline[] {
  const parts: Inline[] = [];
  for (let token = reader.next(); token !== null; token = reader.next()) {
    switch (token.type) {
      case "softbreak":
        parts.push({ kind: "text", text: " " });
        break;
      case "hardbreak":
        parts.push({ kind: "break" });
        break;
      case "code_inline":
        parts.push({ kind: "code", text: token.content });
        break;
      case "image":
        parts.push(...inlineOf(new Reader(token.children ?? []), page));
        break;
      case "strong_open":
        parts.push({ kind: "strong", children: inlineOf(reader, page) });
        break;
      case "em_open":
        parts.push({ kind: "emphasis", children: inlineOf(reader, page) });
        break;
      case "s_open":
        parts.push({ kind: "strike", children: inlineOf(reader, page) });
        break;
      case "link_open": {
        const href = addressOf(token.attrGet("href") ?? "", page);
        const children = inlineOf(reader, page);
        // An address that the page does not open stays readable by its words.
        parts.push(...(href === null ? children : [{ kind: "link" as const, href, children }]));
        break;
      }
      default:
        if (token.nesting > 0) {
          parts.push(...inlineOf(reader, page));
        } else {
          parts.push({ kind: "text", text: token.content });
        }
    }
  }
  return parts;
}

/** An address over https, without a name or password in it; null for any other. */
function addressOf(href: string, page: string): string | null {
  const base = page.startsWith("https://") && URL.canParse(page) ? page : undefined;
  // Files of the docs have other addresses on the site.
  if (!URL.canParse(href, base) || (!URL.canParse(href) && /\.mdx?(?:[?#]|$)/.test(href))) {
    return null;
  }
  const url = new URL(href, base);
  return url.protocol === "https:" && url.username === "" && url.password === "" ? url.href : null;
}

function hasText(inline: readonly Inline[]): boolean {
  return textOf(inline).trim() !== "";
}

/** The words of a line without its marks. */
export function textOf(inline: readonly Inline[]): string {
  return inline
    .map((part) => {
      switch (part.kind) {
        case "text":
        case "code":
          return part.text;
        case "break":
          return "\n";
        default:
          return textOf(part.children);
      }
    })
    .join("");
}

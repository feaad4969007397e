/** As much of markdown-it as the page uses; the package brings no types of its own. */
declare module "markdown-it" {
  export interface Token {
    type: string;
    nesting: -1 | 0 | 1;
    /** The first line of a block, and the line after its last. */
    map: [number, number] | null;
    attrGet(name: string): string | null;
    children: Token[] | null;
    content: string;
    markup: string;
    info: string;
  }

  export interface BlockState {
    src: string;
    md: MarkdownIt;
    bMarks: number[];
    eMarks: number[];
    tShift: number[];
    sCount: number[];
    blkIndent: number;
    lineMax: number;
    line: number;
    isEmpty(line: number): boolean;
    push(type: string, tag: string, nesting: -1 | 0 | 1): Token;
  }

  export interface InlineState {
    src: string;
    pos: number;
    push(type: string, tag: string, nesting: -1 | 0 | 1): Token;
  }

  type BlockRule = (state: BlockState, start: number, end: number, silent: boolean) => boolean;
  type InlineRule = (state: InlineState, silent: boolean) => boolean;

  export default class MarkdownIt {
    constructor(preset: "default", options: { html: boolean; linkify: boolean; maxNesting: number });
    readonly block: {
      ruler: { before(beside: string, name: string, rule: BlockRule, options: { alt: string[] }): void };
      tokenize(state: BlockState, start: number, end: number): void;
    };
    readonly inline: { ruler: { before(beside: string, name: string, rule: InlineRule): void } };
    parse(text: string, environment: object): Token[];
    parseInline(text: string, environment: object): Token[];
  }
}

/** From a text to a tree of spans: tokens of its language, its matched terms, its control characters. */

import type { Element, ElementContent, Root } from "hast";
import bash from "highlight.js/lib/languages/bash";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { splitHidden } from "../../text/untrusted";
import { splitTerms, type Terms } from "./terms";

const lowlight = createLowlight({
  bash,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  python,
  r,
  typescript,
  xml,
  yaml,
});

/** Languages as chunks name them: mostly a file's ending. */
const LANGUAGES = new Map([
  ["py", "python"],
  ["pyi", "python"],
  ["md", "markdown"],
  ["mdx", "markdown"],
  ["yml", "yaml"],
  ["ts", "typescript"],
  ["tsx", "typescript"],
  ["js", "javascript"],
  ["jsx", "javascript"],
  ["sh", "bash"],
  ["shell", "bash"],
  ["console", "bash"],
  ["kt", "kotlin"],
  ["toml", "ini"],
  ["html", "xml"],
]);

/** Beyond this a text stays plain: highlighting takes time, and nobody reads that much of it. */
const LONGEST_HIGHLIGHTED = 30_000;

/** The text from its line `skip` on as a tree that holds nothing but spans and marks of our own making, and text. */
export function highlight(text: string, language: string, terms: Terms, skip = 0): Root {
  const named = language.toLowerCase();
  const known = LANGUAGES.get(named) ?? named;
  const tree: Root =
    text.length <= LONGEST_HIGHLIGHTED && lowlight.registered(known)
      ? lowlight.highlight(known, text)
      : { type: "root", children: [{ type: "text", value: text }] };
  const shown = skip === 0 ? tree.children : withoutLines(tree.children, { skip });
  return { type: "root", children: shown.flatMap((child) => decorate(child, terms)) };
}

/** The nodes without their first lines; `left` counts the lines that are still to be taken away. */
function withoutLines(nodes: Root["children"], left: { skip: number }): ElementContent[] {
  return nodes.flatMap((node): ElementContent[] => {
    if (node.type === "element") {
      const children = withoutLines(node.children, left);
      return children.length === 0 ? [] : [{ ...node, children }];
    }
    if (node.type !== "text") {
      return [];
    }
    let at = 0;
    while (left.skip > 0) {
      const end = node.value.indexOf("\n", at);
      if (end < 0) {
        return [];
      }
      at = end + 1;
      left.skip--;
    }
    return [{ type: "text", value: node.value.slice(at) }];
  });
}

function decorate(node: Root["children"][number], terms: Terms): ElementContent[] {
  if (node.type === "element") {
    return [{ ...node, children: node.children.flatMap((child) => decorate(child, terms)) }];
  }
  return node.type === "text" ? splitHidden(node.value).flatMap((piece) => nodesOf(piece, terms)) : [];
}

function nodesOf(piece: ReturnType<typeof splitHidden>[number], terms: Terms): ElementContent[] {
  if (piece.kind === "hidden") {
    return [element("span", { className: ["control"], title: piece.description }, piece.label)];
  }
  return splitTerms(piece.text, terms).map((part) =>
    part.matched ? element("mark", {}, part.text) : { type: "text", value: part.text },
  );
}

function element(tagName: string, properties: Element["properties"], value: string): Element {
  return { type: "element", tagName, properties, children: [{ type: "text", value }] };
}

import { t } from "@vscode/l10n";
import type { ComponentChildren } from "preact";
import { namedLine, splitHidden } from "../../text/untrusted";
import { CodeText } from "./CodeText";
import type { Block, Container, Inline } from "./docsText";
import { languageLabel } from "./labels";
import { splitTerms, type Terms } from "./terms";

interface Props {
  blocks: readonly Block[];
  terms: Terms;
  /** Of links and of what folds out. */
  tab: number;
}

/** The docs as they read, made of elements of the page's own: no text of theirs becomes an element or an attribute. */
export function Markdown(props: Props) {
  return (
    <div class="prose">
      <Blocks {...props} />
    </div>
  );
}

function Blocks({ blocks, terms, tab }: Props) {
  return tabsTogether(blocks).map((group, index) =>
    Array.isArray(group) ? (
      <Tabs key={index} tabs={group} terms={terms} tab={tab} />
    ) : (
      <One key={index} block={group} terms={terms} tab={tab} />
    ),
  );
}

function One({ block, terms, tab }: Omit<Props, "blocks"> & { block: Block }) {
  const children = "children" in block && <Blocks blocks={block.children} terms={terms} tab={tab} />;
  switch (block.kind) {
    case "heading":
      // The card has the heading; this is a line of its text.
      return (
        <p class="prose-heading">
          <Line inline={block.inline} terms={terms} tab={tab} />
        </p>
      );
    case "paragraph":
      return (
        <p>
          <Line inline={block.inline} terms={terms} tab={tab} />
        </p>
      );
    case "code":
      return <CodeText text={block.text} skip={block.skip} language={block.language} terms={terms} />;
    case "rule":
      return <hr />;
    case "quote":
      return <blockquote>{children}</blockquote>;
    case "table":
      return (
        <table>
          <tbody>{children}</tbody>
        </table>
      );
    case "row":
      return (
        <tr>
          {block.cells.map((cell, index) => {
            const content = <Line inline={cell} terms={terms} tab={tab} />;
            return block.head ? (
              <th key={index} scope="col">
                {content}
              </th>
            ) : (
              <td key={index}>{content}</td>
            );
          })}
        </tr>
      );
    case "list":
      return block.first === null ? <ul>{children}</ul> : <ol start={block.first}>{children}</ol>;
    case "item":
      return <li>{children}</li>;
    case "note":
      return (
        <div class={`note note-${NOTES.has(block.note) ? block.note : "note"}`}>
          <p class="note-title">
            {block.title.length > 0 ? <Line inline={block.title} terms={terms} tab={tab} /> : noteTitle(block.note)}
          </p>
          {children}
        </div>
      );
    case "tab":
      return <Tabs tabs={[block]} terms={terms} tab={tab} />;
  }
}

type Tab = Extract<Container, { kind: "tab" }>;

/** Tabs side by side on the page, here one below the other; those for other readers are closed until asked for. */
function Tabs({ tabs, terms, tab }: Omit<Props, "blocks"> & { tabs: readonly Tab[] }) {
  const mine = tabs.filter(({ other }) => !other);
  const others = tabs.filter(({ other }) => other);
  const one = ({ title, children }: Tab, index: number) => (
    <div key={index} class="tab">
      <p class="tab-title">
        <Text text={title} />
      </p>
      <Blocks blocks={children} terms={terms} tab={tab} />
    </div>
  );
  return (
    <>
      {mine.map(one)}
      {others.length > 0 && (
        <details class="other-languages">
          <summary tabIndex={tab}>
            {t("Other languages: {0}", others.map(({ title }) => namedLine(languageLabel(title), 40)).join(", "))}
          </summary>
          {others.map(one)}
        </details>
      )}
    </>
  );
}

function Line({ inline, terms, tab }: { inline: readonly Inline[]; terms: Terms; tab: number }) {
  return (
    <bdi>
      <Parts inline={inline} terms={terms} tab={tab} />
    </bdi>
  );
}

function Parts({ inline, terms, tab }: { inline: readonly Inline[]; terms: Terms; tab: number }): ComponentChildren {
  return inline.map((part, index) => {
    switch (part.kind) {
      case "text":
        return <Text key={index} text={part.text} terms={terms} />;
      case "code":
        return (
          <code key={index}>
            <Text text={part.text} terms={terms} />
          </code>
        );
      case "break":
        return <br key={index} />;
      case "link":
        return (
          <a key={index} href={part.href} title={namedLine(part.href, 300)} tabIndex={tab} rel="noreferrer">
            <Parts inline={part.children} terms={terms} tab={tab} />
          </a>
        );
      default: {
        const Tag = ({ strong: "strong", emphasis: "em", strike: "s" } as const)[part.kind];
        return (
          <Tag key={index}>
            <Parts inline={part.children} terms={terms} tab={tab} />
          </Tag>
        );
      }
    }
  });
}

/** A text with its hidden characters named and its terms marked. */
function Text({ text, terms }: { text: string; terms?: Terms }): ComponentChildren {
  return splitHidden(text).map((piece, index) => {
    if (piece.kind === "hidden") {
      return (
        <span key={index} class="control" title={piece.description}>
          {piece.label}
        </span>
      );
    }
    return terms === undefined
      ? piece.text
      : splitTerms(piece.text, terms).map((part) => (part.matched ? <mark>{part.text}</mark> : part.text));
  });
}

/** The blocks in turn, with tabs that stand side by side in one group. */
function tabsTogether(blocks: readonly Block[]): (Block | Tab[])[] {
  const groups: (Block | Tab[])[] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    if (block.kind !== "tab") {
      groups.push(block);
    } else if (Array.isArray(last)) {
      last.push(block);
    } else {
      groups.push([block]);
    }
  }
  return groups;
}

const NOTES: ReadonlySet<string> = new Set(["note", "info", "tip", "example", "warning", "caution", "danger"]);

function noteTitle(note: string): string {
  switch (note) {
    case "tip":
      return t("Tip");
    case "example":
      return t("Example");
    case "warning":
    case "caution":
      return t("Warning");
    case "danger":
      return t("Danger");
    default:
      return t("Note");
  }
}

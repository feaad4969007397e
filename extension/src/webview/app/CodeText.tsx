import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { useMemo } from "preact/hooks";
import { Fragment, jsx, jsxs } from "preact/jsx-runtime";
import { highlight } from "./highlight";
import type { Terms } from "./terms";

interface Props {
  text: string;
  /** Lines at the beginning that are not shown. */
  skip?: number;
  /** It is no code, but the words of a string. */
  words?: boolean;
  language: string;
  terms: Terms;
}

/** A text in the colours of its language, or plain; every character of it is a character. */
export function CodeText({ text, skip = 0, words = false, language, terms }: Props) {
  const content = useMemo(() => {
    const root = highlight(text, words ? "" : language, terms, skip);
    return toJsxRuntime(root, { Fragment, jsx, jsxs, elementAttributeNameCase: "html" });
  }, [text, skip, words, language, terms]);
  if (words) {
    return <p class="docstring">{content}</p>;
  }
  return (
    <pre class="code" dir="ltr">
      <code>{content}</code>
    </pre>
  );
}

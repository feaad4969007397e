import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { useMemo } from "preact/hooks";
import { Fragment, jsx, jsxs } from "preact/jsx-runtime";
import { highlight } from "./highlight";
import type { Terms } from "./terms";

interface Props {
  text: string;
  /** Lines at the beginning that are not shown. */
  skip?: number;
  language: string;
  terms: Terms;
}

/** A text in the colours of its language; every character of it is a character. */
export function CodeText({ text, skip = 0, language, terms }: Props) {
  const content = useMemo(
    () =>
      toJsxRuntime(highlight(text, language, terms, skip), { Fragment, jsx, jsxs, elementAttributeNameCase: "html" }),
    [text, skip, language, terms],
  );
  return (
    <pre class="code" dir="ltr">
      <code>{content}</code>
    </pre>
  );
}

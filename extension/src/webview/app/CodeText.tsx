import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { useMemo } from "preact/hooks";
import { Fragment, jsx, jsxs } from "preact/jsx-runtime";
import { highlight } from "./highlight";

interface Props {
  text: string;
  language: string;
  terms: RegExp | null;
}

/** A text in the colours of its language; every character of it is a character. */
export function CodeText({ text, language, terms }: Props) {
  const content = useMemo(
    () => toJsxRuntime(highlight(text, language, terms), { Fragment, jsx, jsxs, elementAttributeNameCase: "html" }),
    [text, language, terms],
  );
  return (
    <pre class="code" dir="ltr">
      <code>{content}</code>
    </pre>
  );
}

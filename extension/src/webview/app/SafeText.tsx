/** A sentence that is not trusted; what it has between backticks is code. */
export function Sentence({ text, longest = 1000 }: { text: string; longest?: number }) {
  const parts = clip(text, longest).split(/(?<!`)`([^`\n]+)`(?!`)/);
  const pieces = parts.map((part, at) => {
    const safe = <SafeText key={at} text={part} />;
    return at % 2 === 1 ? <code key={at}>{safe}</code> : safe;
  });
  return <span>{pieces}</span>;
}

/** Text that is not trusted, isolated from the text around it, with its hidden characters named. */
export function SafeText({ text, longest = 2000 }: { text: string; longest?: number }) {
  return (
    <bdi>
      {splitHidden(clip(text, longest)).map((piece, index) =>
        piece.kind === "text" ? (
          piece.text
        ) : (
          <span key={index} class="control" title={piece.description}>
            {piece.label}
          </span>
        ),
      )}
    </bdi>
  );
}

import { clip, splitHidden } from "../../text/untrusted";

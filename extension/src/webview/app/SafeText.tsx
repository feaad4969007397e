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

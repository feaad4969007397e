import { trailOf } from "../evidence/trail";
import { markdownLine } from "../text/untrusted";
import { type AnswerStream, writeCitation } from "./answer";
import type { Citation } from "./citation";

/** Lists citations with what they are about, best first: what is left to show where no model writes. */
export function listCitations(citations: Iterable<Citation>, stream: AnswerStream): void {
  stream.markdown("\n\n");
  for (const citation of citations) {
    stream.markdown("- ");
    writeCitation(citation, stream);
    stream.markdown(` ${markdownLine(trailOf(citation.candidate).join(" \u203a "))}\n`);
  }
  stream.markdown("\n");
}

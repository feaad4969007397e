import { t } from "@vscode/l10n";
import type { EvidenceResult, PastedError } from "../../protocol/generated";
import { namedLine } from "../../text/untrusted";
import { SafeText } from "./SafeText";

const LONGEST_MESSAGE = 300;
const LONGEST_PATH = 300;

/** The errors that the question quotes, with those of their calls that are in the searched code. */
export function ErrorTrace({ pack, open }: { pack: EvidenceResult; open(citation: string): void }) {
  return pack.errors
    .filter(({ frames }) => frames.length > 0)
    .map((error, index) => <Calls key={index} error={error} open={open} />);
}

/** One error: a line until its calls are asked for, in the order of the traceback. */
function Calls({ error, open }: { error: PastedError; open(citation: string): void }) {
  const { type, message, calls, frames } = error;
  return (
    <details class="error-trace">
      <summary>
        <strong>
          <SafeText text={type || t("An error")} longest={200} />
        </strong>{" "}
        <SafeText text={message} longest={LONGEST_MESSAGE} />{" "}
        <span class="hint">{frames.length < calls && t("{0} of {1} calls can be opened", frames.length, calls)}</span>
      </summary>
      <ol>
        {frames.map((frame, index) => {
          const place = frame.line === null ? frame.path : `${frame.path}:${frame.line}`;
          return (
            <li key={index} value={frame.number}>
              <button
                type="button"
                class="inline-link"
                aria-label={t("Open {0}", namedLine(place, LONGEST_PATH))}
                onClick={() => open(frame.citation)}
              >
                <SafeText text={place} longest={LONGEST_PATH} />
              </button>{" "}
              {frame.function !== null && (
                <code>
                  <SafeText text={frame.function} longest={120} />
                </code>
              )}{" "}
              {frame.line === null && <span class="error-remark">{t("This version has other code there.")}</span>}
              {frame.verification !== "exact" && <span class="error-remark">{t("The source has changed.")}</span>}
              {frame.text.trim() !== "" && (
                <code class="error-line">
                  <SafeText text={frame.text.trim()} longest={300} />
                </code>
              )}
            </li>
          );
        })}
      </ol>
    </details>
  );
}

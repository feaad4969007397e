/** The card on setting up: what the user consents to, how far it is, or what is missing. */

import { t } from "@vscode/l10n";
import { JOB_ACTION, type ViewJob } from "../messages";
import { SafeText, Sentence } from "./SafeText";

interface GetStartedProps {
  job: ViewJob;
  /** The question that waits; null where none does, empty while the server has yet to make one of the selection. */
  awaited: string | null;
  /** There is an answer below, which wants the room. */
  brief: boolean;
  onAction(id: string): void;
}

export function GetStarted({ job, awaited, brief, onAction }: GetStartedProps) {
  const { title, lines, fraction, left, actions } = job;
  const buttons = actions.map((action, index) => (
    <button
      key={action}
      type="button"
      class={index === 0 && fraction === null ? "primary" : "secondary"}
      onClick={() => onAction(`${JOB_ACTION}${action}`)}
    >
      {action}
    </button>
  ));
  return (
    <section
      class={`get-started${fraction === null ? "" : " running"}${brief ? " brief" : ""}`}
      aria-labelledby="get-started-title"
    >
      <h2 id="get-started-title" class={brief && lines.length > 0 ? "hidden" : ""}>
        {title}
      </h2>
      {lines.map((line) => (
        <p key={line}>
          <Sentence text={line} />
        </p>
      ))}
      {awaited !== null && (
        <p class="hint">
          {t("Your question is answered as soon as the index can answer.")} <SafeText text={awaited} longest={300} />
        </p>
      )}
      <div class="get-started-actions">
        {fraction !== null && <Bar fraction={fraction} left={left} label={title} />}
        {buttons}
      </div>
    </section>
  );
}

/** The bar of the whole job. The value changes often, so that only its words are read out, and not each change. */
function Bar({ fraction, left, label }: { fraction: number; left: string; label: string }) {
  const percent = Math.floor(100 * fraction);
  return (
    <>
      <progress max={100} value={percent} aria-label={label} />
      <span>{left === "" ? `${percent} %` : `${percent} %, ${left}`}</span>
    </>
  );
}

/** Keeps the panel's card on setting up as things are. */

import type { GetStarted } from "./getStarted";
import { asksForConsent, type JobView, jobView } from "./getStartedCard";
import type { Situation } from "./statusText";

export interface JobCardParts {
  readonly job: Pick<GetStarted, "state" | "begun">;
  /** What the user consents to, a sentence a line. Finding them reads the disk. */
  consent(situation: Situation): Promise<string[]>;
  /** What the consent depends on besides the situation. */
  dependsOn(): readonly unknown[];
  show(card: JobView | null): void;
}

export class JobCard {
  private looks = 0;
  /** The latest consent, with what it depends on. */
  private kept: { readonly of: string; readonly lines: Promise<string[]> } | undefined;

  constructor(private readonly parts: JobCardParts) {}

  /** Shows the card for a situation. A later call wins, whichever of the two is faster. */
  async show(situation: Situation): Promise<void> {
    const { job } = this.parts;
    const look = ++this.looks;
    const lines = asksForConsent(job.state, situation, job.begun) ? await this.consent(situation) : [];
    if (look === this.looks) {
      this.parts.show(jobView(job.state, situation, job.begun, lines));
    }
  }

  private consent(situation: Situation): Promise<string[]> {
    const { state, project } = situation;
    const problem = state.kind === "down" ? state.problem.code : "";
    const of = JSON.stringify([this.parts.dependsOn(), state.kind, problem, project?.version, project?.taken_from]);
    if (this.kept?.of !== of) {
      this.kept = { of, lines: this.parts.consent(situation) };
    }
    return this.kept.lines;
  }
}

/** A failure that a user can do something about: one sentence, and commands that fix it. */

export interface Fix {
  /** The button's text. */
  title: string;
  command: string;
  arguments?: unknown[];
}

/** The other fixes: those that run another command than a fix does. */
export function beside({ command }: Fix, fixes: readonly Fix[]): Fix[] {
  return fixes.filter((fix) => fix.command !== command);
}

export class Problem extends Error {
  /**
   * @param message One sentence: what is wrong and what to do.
   * @param code Stable and machine-readable, e.g. `no_environment`, `no_index`, `cancelled`.
   * @param fixes What can be offered as buttons, the best first.
   */
  constructor(
    message: string,
    readonly code: string,
    readonly fixes: readonly Fix[] = [],
  ) {
    super(message);
    this.name = "Problem";
  }
}

/** Numbers and times for people. */

import { t } from "@vscode/l10n";
import { isNumbers } from "../../protocol/check";

/** What retrieval took, as its steps say; null if they do not. */
export function retrievalTime(debug: Record<string, unknown>): string | null {
  const timings = debug.timings_ms;
  if (!isNumbers(timings)) {
    return null;
  }
  const total = Object.values(timings).reduce((sum, each) => sum + each, 0);
  return total >= 1000 ? t("{0} s", (total / 1000).toFixed(1)) : t("{0} ms", Math.round(total));
}

/** A part of a whole, 0 to 1, in per cent. */
export function percent(part: number): string {
  return t("{0} %", Math.round(part * 100));
}

/** A commit as people write it: a hash's first characters, a tag as it is. */
export function shortCommit(commit: string): string {
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, 7) : commit;
}

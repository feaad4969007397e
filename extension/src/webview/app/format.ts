/** Numbers and times for people. */

import { t } from "@vscode/l10n";
import { isNumbers } from "../../protocol/check";

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** How long ago something was, e.g. "2 hours ago"; null if it is not a time. */
export function age(iso: string, now: number, language: string): string | null {
  const then = Date.parse(iso);
  if (Number.isNaN(then)) {
    return null;
  }
  const seconds = (now - then) / 1000;
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit === undefined ? t("just now") : format.format(-Math.round(seconds / unit[1]), unit[0]);
}

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

/** A score with as many digits as tell it from others. */
export function scoreText(value: number): string {
  return Math.abs(value) < 1 ? value.toFixed(3) : value.toFixed(2);
}

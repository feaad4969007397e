const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago a time was, in words of a language; null if the text is not a time. */
export function ageOf(time: string, now: number, language: string): string | null {
  const then = Date.parse(time);
  if (Number.isNaN(then)) {
    return null;
  }
  const seconds = Math.round((then - now) / 1000);
  const words = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const [unit, length] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ["minute", Number.POSITIVE_INFINITY];
  return words.format(Math.round(seconds / length) || 0, unit);
}

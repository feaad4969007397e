const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago a time was, in words of a language; the time as it is if it is none. */
export function ageOf(time: string, now: number, language: string): string {
  const then = Date.parse(time);
  if (Number.isNaN(then)) {
    return time;
  }
  const seconds = Math.round((then - now) / 1000);
  const words = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) {
      return words.format(Math.round(seconds / length), unit);
    }
  }
  return words.format(0, "minute");
}

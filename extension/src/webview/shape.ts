/** Checks of data that came from elsewhere: small guards that make larger ones. */

export type Guard<T> = (value: unknown) => value is T;
type Guards<T> = { [K in keyof T]-?: Guard<T[K]> };

export const anything: Guard<unknown> = (_value): _value is unknown => true;

export const finite: Guard<number> = (value): value is number => typeof value === "number" && Number.isFinite(value);
export const text: Guard<string> = (value) => typeof value === "string";

/**
 * A word of a list that newer servers may lengthen. Whoever shows it says "unknown" of those that are not of `T`: a
 * pack is not worth nothing because of one of them.
 */
export function word<T extends string>(): Guard<T> {
  return (value): value is T =>
    // A word such as `constructor` would find in every table what all objects have.
    typeof value === "string" && /^[a-z0-9_-]{1,40}$/i.test(value) && !(value in Object.prototype);
}

/** A string of at most `longest` characters. */
export function textUpTo(longest: number): Guard<string> {
  return (value): value is string => typeof value === "string" && value.length <= longest;
}

/** One of some strings or numbers. */
export function oneOf<const T extends string | number>(...values: readonly T[]): Guard<T> {
  const known = new Set<unknown>(values);
  return (value): value is T => known.has(value);
}

/** What `guard` takes, or null. */
export function orNull<T>(guard: Guard<T>): Guard<T | null> {
  return (value): value is T | null => value === null || guard(value);
}

/** What `guard` takes, or nothing at all. */
export function optional<T>(guard: Guard<T>): Guard<T | undefined> {
  return (value): value is T | undefined => value === undefined || guard(value);
}

/** An array of at most `most` elements. */
export function listOf<T>(guard: Guard<T>, most = Number.POSITIVE_INFINITY): Guard<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.length <= most && value.every(guard);
}

/** An object with any keys. */
export function recordOf<T>(guard: Guard<T>): Guard<Record<string, T>> {
  return (value): value is Record<string, T> => isObject(value) && Object.values(value).every(guard);
}

/** An object that has these members as its own, unless they are optional; others are no concern. */
export function shapeOf<T>(guards: Guards<T>): Guard<T> {
  const members = Object.entries<Guard<unknown>>(guards);
  return (value): value is T =>
    isObject(value) && members.every(([key, guard]) => guard(Object.hasOwn(value, key) ? value[key] : undefined));
}

/** One of several shapes. */
export function anyOf<T>(...guards: readonly Guard<T>[]): Guard<T> {
  return (value): value is T => guards.some((guard) => guard(value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

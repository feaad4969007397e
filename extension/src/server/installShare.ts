/** How far the installation of packages is, read from what pip and uv print. */

/** What a line says: the share that is done, from 0 to 1 and never less than before, and the package it names. */
export interface Seen {
  readonly share: number;
  readonly name?: string;
}

/** pip names each package when it finds it, and then installs all. */
const PIP_PACKAGES = 110;
const PIP_FOUND = 0.75;
/** What is done after lines of which each comes once. The order is that of the program. */
const MARKS: readonly (readonly [RegExp, number])[] = [
  [/^Resolved \d+ packages? in/, 0.1],
  [/^Prepared \d+ packages? in/, 0.85],
  [/^Installed \d+ packages? in/, 1],
  [/^Installing collected packages/, PIP_FOUND],
  [/^Successfully installed/, 1],
];
const NAMED = /^(Collecting|Downloading|Using cached) ([A-Za-z0-9._-]+)/;

export function installShare(line: string, before: number): Seen {
  const text = line.trim();
  const [, mark] = MARKS.find(([pattern]) => pattern.test(text)) ?? [];
  if (mark !== undefined) {
    return { share: Math.max(before, mark) };
  }
  const [, verb, name] = NAMED.exec(text) ?? [];
  if (name === undefined) {
    return { share: before };
  }
  const share = verb === "Collecting" ? Math.min(PIP_FOUND, before + PIP_FOUND / PIP_PACKAGES) : before;
  return { share: Math.max(before, share), name: name.replace(/-\d.*$/, "") };
}

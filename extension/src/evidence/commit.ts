import { messageLine } from "../text/untrusted";

/** A commit as people write it: the first characters of a hash; a tag as it is. */
export function shortCommit(commit: string): string {
  return messageLine(/^[0-9a-f]{40}$/.test(commit) ? commit.slice(0, 12) : commit);
}

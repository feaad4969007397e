/** Packs in files: written for others and for later, and read again. Anybody may have edited such a file. */

import path from "node:path";
import { env, FileSystemError, l10n, type Uri, workspace } from "vscode";
import { Problem } from "../problem";
import { isPack } from "../protocol/check";
import type { CheckResult, EvidenceResult } from "../protocol/generated";
import { clip } from "../text/untrusted";

/** The largest packs, with a hundred results in whole texts, take some 2 MB. */
export const MAX_PACK_BYTES = 32_000_000;

/** Where a pack that was checked again keeps the states of its citations as they were: its id was made of those. */
const STATES_THEN = "verification_then";

/** The pack as it was made, in the same form as on every other surface. */
export function packAsJson(shown: EvidenceResult): string {
  const { queryUsed: _, ...pack } = asItWas(shown);
  return `${JSON.stringify(pack, null, 2)}\n`;
}

/**
 * Reads a pack that was saved as JSON.
 *
 * @throws Problem if the file cannot be read, is too large or holds no pack.
 */
export async function readSavedPack(file: Uri): Promise<EvidenceResult> {
  const name = path.posix.basename(file.path);
  const { size } = await reading(name, workspace.fs.stat(file));
  if (size > MAX_PACK_BYTES) {
    throw wrongFile(l10n.t("{0} is too large for a saved answer.", name));
  }
  const text = new TextDecoder().decode(await reading(name, workspace.fs.readFile(file)));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrongFile(l10n.t("{0} is not JSON. Answers that were saved as Markdown cannot be opened again.", name));
  }
  const pack = typeof value === "object" && value !== null ? withQuestion(value) : value;
  if (!isPack(pack)) {
    throw wrongFile(l10n.t("{0} is not a saved answer of ADK Evidence.", name));
  }
  return pack;
}

/** The pack with the states of its citations as they are now. */
export function withStates(pack: EvidenceResult, { candidates: checked }: CheckResult): EvidenceResult {
  const states = new Map(checked.map(({ candidate_id, verification }) => [candidate_id, verification]));
  const candidates = pack.candidates.map((candidate) => ({
    ...candidate,
    verification: states.get(candidate.candidate_id) ?? candidate.verification,
  }));
  const then = pack.candidates.map(({ verification }) => verification);
  return { ...pack, candidates, debug: { ...pack.debug, [STATES_THEN]: then } };
}

function asItWas(pack: EvidenceResult): EvidenceResult {
  const { [STATES_THEN]: then, ...debug } = pack.debug;
  if (!Array.isArray(then) || then.length !== pack.candidates.length) {
    return pack;
  }
  const candidates = pack.candidates.map((candidate, index) => ({ ...candidate, verification: then[index] }));
  const before: unknown = { ...pack, candidates, debug };
  return isPack(before) ? before : pack;
}

/** The date of the index that a pack was made from, in words; null where that is not known. */
export function indexDate({ index }: EvidenceResult): string | null {
  // The time of the file itself is that of a download or a checkout as often as not.
  const built = Date.parse(index?.created_at ?? "");
  return Number.isNaN(built) ? null : new Intl.DateTimeFormat(env.language, { dateStyle: "medium" }).format(built);
}

/** A name for the file of a pack, made of its question. */
export function fileNameOf({ query }: EvidenceResult): string {
  const words = clip(query, 200)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  const name = clip(words, 50).replaceAll(/^-+|[-…]+$/g, "");
  return `evidence-${name || "pack"}.json`;
}

async function reading<T>(name: string, read: Thenable<T>): Promise<T> {
  try {
    return await read;
  } catch (reason) {
    if (reason instanceof FileSystemError) {
      throw wrongFile(l10n.t("{0} cannot be read.", name));
    }
    throw reason;
  }
}

/** A file holds the pack alone; the panel shows the question beside it. */
function withQuestion(value: object): unknown {
  const query = "query" in value && typeof value.query === "string" ? value.query : "";
  return { ...value, queryUsed: { text: query, origin: "given", selection: null, enclosing: null, symbols: [] } };
}

function wrongFile(message: string): Problem {
  return new Problem(message, "not_a_pack");
}

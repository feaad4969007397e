/**
 * Which google-adk a project uses, as far as that can be said before there is a server: for the text that the user
 * consents to. The server looks more closely, in the same order. Nothing is run; only names and lock files are read.
 */

import path from "node:path";
import { Uri, workspace } from "vscode";
import { type Files, installedAdk } from "./adkFiles";
import { lockedVersion } from "./adkText";

export interface UsedVersion {
  readonly version: string;
  readonly taken_from: string;
}

/** No text of a stranger becomes part of what the user is asked. */
const RELEASE = /^\d+(?:\.\d+){1,3}(?:(?:a|b|rc)\d+)?(?:\.post\d+)?$/;
const LOCK_FILES = ["uv.lock", "poetry.lock", "pdm.lock"];
const LARGEST_LOCK = 4_000_000;

/**
 * @param folder The path of the project's folder.
 * @param interpreter The interpreter that is used there.
 */
export async function projectVersion(
  folder: string | undefined,
  interpreter: string | undefined,
  files: Files = workspace.fs,
): Promise<UsedVersion | null> {
  const root = folder === undefined ? undefined : Uri.file(folder);
  for await (const { prefix, version } of installedAdk(root, interpreter, files)) {
    if (RELEASE.test(version)) {
      return { version, taken_from: folder === undefined ? prefix : path.relative(folder, prefix) || prefix };
    }
  }
  if (root === undefined) {
    return null;
  }
  for (const name of LOCK_FILES) {
    const version = await lockedIn(Uri.joinPath(root, name), files);
    if (version !== undefined && RELEASE.test(version)) {
      return { version, taken_from: name };
    }
  }
  return null;
}

async function lockedIn(file: Uri, files: Files): Promise<string | undefined> {
  try {
    const { size } = await files.stat(file);
    return size > LARGEST_LOCK ? undefined : lockedVersion(new TextDecoder().decode(await files.readFile(file)));
  } catch {
    return undefined; // There is none.
  }
}

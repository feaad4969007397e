/** Paths as users write them in settings, and programs on PATH. */

import { constants } from "node:fs";
import fs from "node:fs/promises";
import path from "node:path";

// biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written in settings.
const FOLDER = "${workspaceFolder}";

/**
 * A path of a setting with `~` and `${workspaceFolder}` written out; a relative one counts from the folder.
 *
 * @returns undefined where the folder is needed and there is none on a disk.
 */
export function expandPath(text: string, folder: string | undefined, home: string): string | undefined {
  if (text.includes(FOLDER) && folder === undefined) return undefined;
  const written = text.replaceAll(FOLDER, folder ?? "").replace(/^~(?=$|[\\/])/, home);
  if (path.isAbsolute(written)) return path.normalize(written);
  return folder === undefined ? undefined : path.resolve(folder, written);
}

/**
 * The full path of a program, looked for in the absolute folders of PATH alone: the folder that the editor was
 * started in is not one of them.
 */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const windows = process.platform === "win32";
  for (const folder of (env.PATH ?? env.Path ?? "").split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, windows ? `${name}.exe` : name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await fs.access(file, constants.X_OK);
    return (await fs.stat(file)).isFile();
  } catch {
    return false;
  }
}

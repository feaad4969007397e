/** Paths as users write them in settings, and programs on PATH. */

import { constants } from "node:fs";
import fs from "node:fs/promises";
import path from "node:path";

/** The values of the variables in settings. */
export interface SettingVariables {
  /** The workspace folder on this machine's disk; undefined where there is none. */
  readonly folder: string | undefined;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Expands `~`, `${userHome}`, `${env:NAME}` and `${workspaceFolder}` in a setting. An environment variable that is not
 * set becomes empty, as elsewhere in the editor.
 *
 * @returns undefined where the folder is needed and there is none.
 */
export function expandVariables(text: string, { folder, home, env }: SettingVariables): string | undefined {
  let lacksFolder = false;
  const written = text
    .replace(/^~(?=$|[\\/])/, () => home)
    .replaceAll(/\$\{(workspaceFolder|userHome|env:([^}]+))\}/g, (_whole, variable: string, name?: string) => {
      if (name !== undefined) {
        return env[name] ?? "";
      }
      if (variable === "userHome") {
        return home;
      }
      lacksFolder ||= folder === undefined;
      return folder ?? "";
    });
  return lacksFolder ? undefined : written;
}

/**
 * Expands the variables of a setting that is a path, and resolves a relative path from the folder.
 *
 * @returns undefined where the folder is needed and there is none.
 */
export function expandPath(text: string, variables: SettingVariables): string | undefined {
  const written = expandVariables(text, variables);
  if (written === undefined) {
    return undefined;
  }
  if (path.isAbsolute(written)) {
    return path.normalize(written);
  }
  return variables.folder === undefined ? undefined : path.resolve(variables.folder, written);
}

/**
 * The full path of a program. Only the absolute folders of PATH are searched, never the folder that the editor was
 * started in.
 */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const windows = process.platform === "win32";
  for (const folder of (env.PATH ?? env.Path ?? "").split(path.delimiter)) {
    if (!path.isAbsolute(folder)) {
      continue;
    }
    const file = path.join(folder, windows ? `${name}.exe` : name);
    if (await isExecutable(file)) {
      return file;
    }
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

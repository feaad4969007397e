/**
 * Whether a folder's files say that its project uses google-adk: files of dependencies near the top of the folder, and
 * what the project's Python environments have installed. Files are read, within bounds; no program is run.
 */

import path from "node:path";
import { FileType, Uri } from "vscode";
import { readerOf } from "./adkText";

/** As much of the editor's file system as is needed here. */
export interface Files {
  readDirectory(folder: Uri): Thenable<[string, FileType][]>;
  readFile(file: Uri): Thenable<Uint8Array>;
  stat(file: Uri): Thenable<{ readonly type: FileType; readonly size: number }>;
}

/** Files of dependencies count in the folder itself, and one and two levels down. */
const DEPTH = 2;
const MAX_FOLDERS = 200;
const MAX_FILES = 200;
const MAX_BYTES = 4_000_000;
/** What a look at a folder may read in all. */
const MAX_TOTAL_BYTES = 16_000_000;

/** Folders of tools, builds and packages of others. */
const PASSED_OVER = /^(?:\..*|__.*__|node_modules|site-packages|venv|env|build|dist|target|vendor)$/i;

/** What tools call the environment that they make in a project. */
const ENVIRONMENTS = [".venv", "venv", "env", ".conda", ".pixi/envs/default"];

/** The path of the first file of a folder that names google-adk as a dependency, relative to the folder. */
export async function dependencyIn(folder: Uri, files: Files): Promise<string | undefined> {
  // Other folders may lie at the end of a slow line.
  const depth = folder.scheme === "file" ? DEPTH : 0;
  const left = { folders: MAX_FOLDERS, files: MAX_FILES, bytes: MAX_TOTAL_BYTES };
  let level: string[][] = [[]];
  for (let deep = 0; deep <= depth; deep++) {
    const below: string[][] = [];
    for (const segments of level) {
      if (left.folders-- <= 0) {
        return undefined;
      }
      const entries = await listed(Uri.joinPath(folder, ...segments), files);
      for (const [name, type] of entries) {
        const here = [...segments, name];
        // A link to a folder may lead in a circle.
        if (type === FileType.Directory && !PASSED_OVER.test(name)) {
          below.push(here);
        } else if ((type & FileType.File) !== 0 && readerOf(here) && left.files-- > 0) {
          if (await namesAdk(folder, here, files, left)) {
            return here.join("/");
          }
        }
      }
    }
    level = below;
  }
  return undefined;
}

/** Whether a file, which has changed, is one of a folder's files of dependencies and names google-adk. */
export async function isDependency(folder: Uri, file: Uri, files: Files): Promise<boolean> {
  const segments = segmentsBelow(folder, file);
  const near = segments.length > 0 && segments.length <= DEPTH + 1;
  return near && !segments.slice(0, -1).some((name) => PASSED_OVER.test(name)) && namesAdk(folder, segments, files);
}

/** A google-adk that is installed: where its environment begins, and its version. */
export interface InstalledAdk {
  readonly prefix: string;
  readonly version: string;
}

/**
 * The versions of google-adk that the environments of a project have: the environment that is chosen comes first, and
 * those in the project's folder follow.
 *
 * @param folder The project's folder; undefined where there is none.
 * @param chosen An interpreter or an environment.
 */
export async function* installedAdk(
  folder: Uri | undefined,
  chosen: string | undefined,
  files: Files,
): AsyncGenerator<InstalledAdk> {
  const root = folder?.scheme === "file" ? folder.fsPath : undefined;
  const inside = root === undefined ? [] : ENVIRONMENTS.map((name) => path.join(root, ...name.split("/")));
  for (const prefix of [...prefixesOf(chosen), ...inside]) {
    for (const version of await versionsIn(Uri.file(prefix), files)) {
      yield { prefix, version };
    }
  }
}

/** The names on the way from a folder to what is in it; empty for what is not. */
function segmentsBelow(folder: Uri, file: Uri): string[] {
  const above = folder.path.endsWith("/") ? folder.path : `${folder.path}/`;
  return file.path.startsWith(above) ? file.path.slice(above.length).split("/") : [];
}

async function namesAdk(
  folder: Uri,
  segments: readonly string[],
  files: Files,
  left = { bytes: MAX_BYTES },
): Promise<boolean> {
  const reads = readerOf(segments);
  if (!reads) {
    return false;
  }
  const file = Uri.joinPath(folder, ...segments);
  try {
    const { type, size } = await files.stat(file);
    // Reading a pipe would never end.
    if ((type & FileType.File) === 0 || size > Math.min(MAX_BYTES, left.bytes)) {
      return false;
    }
    left.bytes -= size;
    return reads(new TextDecoder().decode(await files.readFile(file)));
  } catch {
    return false; // It is gone, or nobody may read it.
  }
}

/** The folders in which an environment may begin. The Python extension names the environment's interpreter or folder. */
function prefixesOf(chosen: string | undefined): string[] {
  if (chosen === undefined || !path.isAbsolute(chosen)) {
    return [];
  }
  const around = path.dirname(chosen);
  // On Windows, conda keeps the interpreter at the top of the environment.
  return [/^(?:bin|scripts)$/i.test(path.basename(around)) ? path.dirname(around) : around, chosen];
}

/** The versions of google-adk that are installed in an environment. */
async function versionsIn(prefix: Uri, files: Files): Promise<string[]> {
  const pythons = (await listed(Uri.joinPath(prefix, "lib"), files)).filter(([name]) => name.startsWith("python3"));
  const packages = ["site-packages", "dist-packages"];
  const places = pythons.flatMap(([name]) => packages.map((last) => Uri.joinPath(prefix, "lib", name, last)));
  const versions: string[] = [];
  for (const place of [...places, Uri.joinPath(prefix, "Lib", "site-packages")]) {
    for (const [name] of await listed(place, files)) {
      versions.push(...(/^google_adk-([^/]*)\.dist-info$/i.exec(name)?.slice(1) ?? []));
    }
  }
  return versions;
}

/** What is in a folder, by name; nothing where there is no folder. */
async function listed(folder: Uri, files: Files): Promise<[string, FileType][]> {
  try {
    return [...(await files.readDirectory(folder))].sort(([one], [other]) => (one < other ? -1 : 1));
  } catch {
    return [];
  }
}

/**
 * The least that must be known before anything starts: whether Python code imports google.adk, and whether a file of
 * dependencies near the top of a folder names google-adk. What a project really uses, the server says. Texts are read
 * by patterns in linear time, since most are strangers' and many are being typed.
 */

import { FileType, Uri } from "vscode";

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
/** Larger than the lock files of large projects. */
const MAX_BYTES = 4_000_000;

/** Folders of tools, builds and packages of others. */
const PASSED_OVER = /^(?:\..*|__.*__|node_modules|site-packages|venv|env|build|dist|target|vendor)$/i;

const DEPENDENCIES =
  /(?:^|\/)(?:pyproject\.toml|requirements[^/]*\.(?:txt|in)|requirements\/[^/]+\.(?:txt|in)|(?:uv|poetry|pdm)\.lock|pylock[^/]*\.toml|Pipfile(?:\.lock)?|setup\.(?:cfg|py)|environment\.ya?ml)$/;

/** The same files, as the editor's watchers name them. */
export const DEPENDENCY_FILES =
  "**/{pyproject.toml,requirements*.txt,requirements*.in,requirements/*.txt,requirements/*.in,*.lock,pylock*.toml," +
  "Pipfile,setup.cfg,setup.py,environment.yml,environment.yaml}";

/**
 * The name before any comment; packaging tools take google-adk, google_adk and Google.ADK for one. Like every pattern
 * that begins with ^, it goes past none of the four ends of lines that ^ knows: it would take quadratic time.
 */
const NAMED =
  /^[^#\r\n\u2028\u2029]*(?:(?<![\w-])google[-_.]+adk(?![\w-])|\bgithub\.com[/:]google\/adk-python(?![\w-]))/im;

/** A requirement of one release, `google-adk[eval]==1.18.0`, or the entry of a lock file. */
const PINNED =
  /^[^#\r\n\u2028\u2029]*?(?:(?<![\w-])google[-_.]+adk(?:\[[\w, \t-]{0,100}\])?[ \t]*==[ \t]*|\bname = "google-adk"\r?\nversion = ")(\d{1,9}(?:\.\d{1,9}){1,3}(?:(?:a|b|rc|\.post|\.dev)\d{1,9})?)(?![\w.*+-])/im;
const LOCK = /lock/i;

const IMPORTED =
  /^[ \t]*(?:from[ \t]+google[ \t]*\.[ \t]*adk(?!\w)|import[ \t](?:[^#\r\n\u2028\u2029]*[, \t])?google[ \t]*\.[ \t]*adk(?!\w)|from[ \t]+google[ \t]+import[ \t(][^#\r\n\u2028\u2029]*(?<!\w|as[ \t])adk(?!\w))/m;

/** Whether Python code imports google.adk at the start of a line. */
export function importsAdk(code: string): boolean {
  return IMPORTED.test(code);
}

/** Whether a path is that of a file of dependencies, by its name. */
export function isDependencyFile(path: string): boolean {
  return DEPENDENCIES.test(path);
}

/** Whether the text of a file of dependencies names google-adk. */
export function namesAdk(text: string): boolean {
  return NAMED.test(text);
}

/** The path of the first file of a folder that names google-adk as a dependency, relative to the folder. */
export async function dependencyIn(folder: Uri, files: Files): Promise<string | undefined> {
  const left = { folders: MAX_FOLDERS, files: MAX_FILES };
  // Other folders may lie at the end of a slow line.
  const depth = folder.scheme === "file" ? DEPTH : 0;
  let level: string[][] = [[]];
  for (let deep = 0; deep <= depth; deep++) {
    const below: string[][] = [];
    for (const segments of level) {
      if (left.folders-- <= 0) {
        return undefined;
      }
      for (const [name, type] of await listed(Uri.joinPath(folder, ...segments), files)) {
        const here = [...segments, name];
        // A link to a folder may lead in a circle.
        if (type === FileType.Directory && !PASSED_OVER.test(name)) {
          below.push(here);
        } else if (isDependencyFile(here.join("/")) && left.files-- > 0 && (await fileNamesAdk(folder, here, files))) {
          return here.join("/");
        }
      }
    }
    level = below;
  }
  return undefined;
}

/** The release that a file of dependencies pins; undefined where the file pins none. */
export function pinnedVersion(text: string): string | undefined {
  return PINNED.exec(text)?.[1];
}

/** The release of google-adk that a file of the folder itself pins, lock files first, and the file's name. */
export async function pinIn(folder: Uri, files: Files): Promise<{ version: string; file: string } | undefined> {
  const names = (await listed(folder, files)).map(([name]) => name).filter(isDependencyFile);
  names.sort((one, other) => Number(LOCK.test(other)) - Number(LOCK.test(one)));
  for (const file of names.slice(0, MAX_FILES)) {
    const version = pinnedVersion(await textOf(folder, [file], files));
    if (version !== undefined) {
      return { version, file };
    }
  }
  return undefined;
}

/** Whether a file, which has changed, is one of a folder's files of dependencies and names google-adk. */
export async function isDependency(folder: Uri, file: Uri, files: Files): Promise<boolean> {
  const above = folder.path.endsWith("/") ? folder.path : `${folder.path}/`;
  const segments = file.path.startsWith(above) ? file.path.slice(above.length).split("/") : [];
  const isNear = segments.length <= DEPTH + 1 && !segments.slice(0, -1).some((name) => PASSED_OVER.test(name));
  return isNear && isDependencyFile(segments.join("/")) && fileNamesAdk(folder, segments, files);
}

async function fileNamesAdk(folder: Uri, segments: readonly string[], files: Files): Promise<boolean> {
  return namesAdk(await textOf(folder, segments, files));
}

/** The text of a file; empty where nobody may read it, or should. */
async function textOf(folder: Uri, segments: readonly string[], files: Files): Promise<string> {
  const file = Uri.joinPath(folder, ...segments);
  try {
    const { type, size } = await files.stat(file);
    // Reading a pipe would never end.
    const mayBeRead = (type & FileType.File) !== 0 && size <= MAX_BYTES;
    return mayBeRead ? new TextDecoder().decode(await files.readFile(file)) : "";
  } catch {
    return "";
  }
}

/** What is in a folder, by name; nothing where there is no folder. */
async function listed(folder: Uri, files: Files): Promise<[string, FileType][]> {
  try {
    return [...(await files.readDirectory(folder))].sort(([one], [other]) => (one < other ? -1 : 1));
  } catch {
    return [];
  }
}

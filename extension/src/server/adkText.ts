/**
 * What texts say of google-adk: whether Python code imports it, and whether a file of a project names it as a
 * dependency. The texts are read by patterns in linear time: most are strangers', and many are being typed. A pattern
 * that begins with ^ goes past none of the four ends of lines that ^ knows.
 */

/** As packaging tools compare names: google-adk, google_adk and Google.ADK are one. */
const NAME = "google[-_.]+adk";

/** What follows the name where a requirement names it: a version, an extra, an address, or nothing. */
const END = String.raw`(?=[ \t]*(?:$|[\[<>=!~;@#\\(]))`;

const IMPORTED = /^[ \t]*(?:from[ \t]+|import[ \t](?:[^#\r\n\u2028\u2029]*[, \t])?)google[ \t]*\.[ \t]*adk(?!\w)/m;
const FROM_GOOGLE = /^[ \t]*from[ \t]+google[ \t]+import[ \t]*(\([^()]{0,1000}|[^\n]{0,1000})/gm;
const COMMENT_OR_ALIAS = /#[^\n]*|\bas[ \t]+\w+/g;
const ADK = /(?<!\w)adk(?!\w)/;

/** Whether Python code imports google.adk at the start of a line. */
export function importsAdk(code: string): boolean {
  const text = code.includes("\\") ? code.replace(/\\\r?\n/g, " ") : code;
  if (IMPORTED.test(text)) {
    return true;
  }
  for (const [, names = ""] of text.matchAll(FROM_GOOGLE)) {
    if (ADK.test(names.replace(COMMENT_OR_ALIAS, ""))) {
      return true;
    }
  }
  return false;
}

type Reader = (text: string) => boolean;

/** A requirement on a line of its own, as in requirements.txt, or as the first of a value in setup.cfg. */
const LINE = new RegExp(String.raw`^[ \t]*(?:[\w.-]+[ \t]*=[ \t]*)?${NAME}${END}`, "im");
const REPOSITORY = /^[^#\r\n\u2028\u2029]*\bgithub\.com[/:]google\/adk-python(?![\w-])/im;

const lines: Reader = (text) => LINE.test(text) || REPOSITORY.test(text);

const ITEM = new RegExp(String.raw`^[ \t]*-[ \t]*["']?(?:[\w.-]+::)?${NAME}(?:${END}|["'])`, "im");

const conda: Reader = (text) => ITEM.test(text) || REPOSITORY.test(text);

/** A string may lack its end: if a search for the end could fail, each quote would begin another one. */
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|#[^\n]*/g;
const REQUIREMENT = new RegExp(String.raw`^["'][ \t]*${NAME}(?:${END}|["'])`, "i");
const KEY = new RegExp(String.raw`[{,][ \t]*${NAME}[ \t]*=`, "i");
const TABLE = new RegExp(String.raw`^[ \t]*\[[^\]\r\n\u2028\u2029]*\.["']?${NAME}["']?[ \t]*\]`, "im");

/** TOML and Python: a quoted requirement, a key, or a table of that name. */
const quoted: Reader = (text) => {
  let named = false;
  const code = text.replace(STRING_OR_COMMENT, (found) => {
    named ||= REQUIREMENT.test(found);
    return found.startsWith("#") ? "" : found;
  });
  return named || LINE.test(code) || KEY.test(code) || TABLE.test(code);
};

const LOCKED = new RegExp(String.raw`\bname[ \t]*=[ \t]*"${NAME}"`, "i");
const LOCKED_VERSION = new RegExp(String.raw`^name = "${NAME}"\r?\nversion = "([^"\r\n]{1,40})"`, "im");
const LOCKED_KEY = new RegExp(String.raw`"${NAME}"[ \t]*:`, "i");

const KINDS: readonly (readonly [RegExp, Reader])[] = [
  [/^pyproject\.toml$/, quoted],
  [/^requirements[^/]*\.(?:txt|in)$/, lines],
  [/^requirements\/[^/]+\.(?:txt|in)$/, lines],
  [/^(?:uv|poetry|pdm)\.lock$/, (text) => LOCKED.test(text)],
  [/^pylock[^/]*\.toml$/, (text) => LOCKED.test(text)],
  [/^Pipfile$/, quoted],
  [/^Pipfile\.lock$/, (text) => LOCKED_KEY.test(text)],
  [/^setup\.cfg$/, lines],
  [/^setup\.py$/, quoted],
  [/^environment\.ya?ml$/, conda],
];

/** The version of google-adk that a lock file of uv, poetry or pdm names. */
export function lockedVersion(text: string): string | undefined {
  return LOCKED_VERSION.exec(text)?.[1];
}

/** The files that `readerOf` knows, as the editor's watchers name them. */
export const DEPENDENCY_FILES =
  "**/{pyproject.toml,requirements*.txt,requirements*.in,requirements/*.txt,requirements/*.in,*.lock,pylock*.toml," +
  "Pipfile,setup.cfg,setup.py,environment.yml,environment.yaml}";

/**
 * What tells whether a file of dependencies names google-adk as one; undefined for other files.
 *
 * @param segments The path, of which the last two segments count.
 */
export function readerOf(segments: readonly string[]): Reader | undefined {
  const name = segments.at(-1) ?? "";
  const inFolder = segments.slice(-2).join("/");
  return KINDS.find(([pattern]) => pattern.test(name) || pattern.test(inFolder))?.[1];
}

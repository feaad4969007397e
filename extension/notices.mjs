// The licences of the packages that the extension holds.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { SetupError } from "../.ci/setup.mjs";

/** SPDX expressions under which a package may be shipped in a product under the Apache Licence. */
const ALLOWED = new Set(["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT"]);
// Licence texts of packages whose releases on the registry leave them out, from their repositories.
const OWN_COPIES = path.join(path.dirname(fileURLToPath(import.meta.url)), "licenses");
const LICENSE_FILE = /^(licen[cs]e|copying)([.-].*)?$/i;
const NOTICE_FILE = /^notice(\..*)?$/i;

const PREAMBLE = `This extension contains the following third-party software, each under its own licence. The other Python
packages that its server needs are not part of it; they are installed from the registry, each with its licence.
`;

/**
 * The text of the notices file.
 *
 * @param files The files that were bundled, relative to `base`.
 * @param besides What else the extension holds: {title, license, text} of each.
 * @throws SetupError where a package has no licence text, or a licence that is not on the list.
 */
export function thirdPartyNotices(files, base, besides) {
  const folders = [...new Set(files.map((file) => packageFolder(path.resolve(base, file))).filter(Boolean))];
  const packages = [...folders.map(describe), ...besides].sort((a, b) => a.title.localeCompare(b.title, "en"));
  const unique = [...new Map(packages.map((one) => [one.title, one])).values()];
  return [
    PREAMBLE,
    ...unique.map(({ title, license, text }) => `${"-".repeat(80)}\n${title} (${license})\n\n${text}\n`),
  ].join("\n");
}

/** The folder of the npm package that a file belongs to; null for a file of this repository. */
function packageFolder(file) {
  const match = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file);
  return match ? match[1] : null;
}

function describe(folder) {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  if (!ALLOWED.has(license)) {
    throw new SetupError(
      `${name} ${version} has the licence "${license}"; extension/notices.mjs says which are allowed.`,
    );
  }
  const names = fs.readdirSync(folder).sort();
  const found = (pattern) => names.filter((file) => pattern.test(file)).map((file) => path.join(folder, file));
  const own = path.join(OWN_COPIES, `${name}.txt`);
  const licenses = fs.existsSync(own) ? [own] : found(LICENSE_FILE);
  if (licenses.length === 0) {
    throw new SetupError(`${name} ${version} brings no licence text; put that of its repository into ${own}.`);
  }
  const texts = [...licenses, ...found(NOTICE_FILE)].map((file) => fs.readFileSync(file, "utf8"));
  return {
    title: `${name} ${version}`,
    license,
    text: texts.map((text) => text.replaceAll("\r\n", "\n").trim()).join("\n\n"),
  };
}

"""Files of JavaScript that say what another file says: which of them an index lacks, and what is said of that."""

from __future__ import annotations

from adk_evidence.models.chunk import sha256_text
from adk_ingest.chunking.base import SourceFile
from adk_ingest.corpora.twins import find_twins

SOURCE = """
import { trim } from "./text";
/** Signs a user in. */
export interface Session { user: string; expires: number }
export function logIn(token: string, secret: string): Session {
  const user = trim(token);
  return { user, expires: Date.now() + secret.length };
}
"""
BUILT = """
import { trim } from "./text.js";
/** Signs a user in. */
export function logIn(token, secret) {
    const user = trim(token);
    return { user, expires: Date.now() + secret.length };
}
"""
REQUIRED = """
"use strict";
var __importStar = (this && this.__importStar) || function (mod) { return mod; };
Object.defineProperty(exports, "__esModule", { value: true });
exports.logIn = void 0;
const text_js_1 = require("./text.cjs");
/** Signs a user in. */
function logIn(token, secret) {
    const user = (0, text_js_1.trim)(token);
    return { user, expires: Date.now() + secret.length };
}
exports.logIn = logIn;
"""
DECLARED = """
/** Signs a user in. */
export interface Session { user: string; expires: number }
export declare function logIn(token: string, secret: string): Session;
"""


def twins(**files: str) -> dict[str, str]:
    """The twins among files whose paths have `__` for a slash and `_` for a dot."""
    named = {path.replace("__", "/").replace("_", "."): text for path, text in files.items()}
    made = [SourceFile(path, text, sha256_text(text)) for path, text in named.items()]
    return dict(find_twins(made))


def test_what_is_built_of_a_source_is_its_twin() -> None:
    found = twins(src__login_ts=SOURCE, login_js=BUILT, login_cjs=REQUIRED, login_d_ts=DECLARED, login_d_cts=DECLARED)
    assert found == dict.fromkeys(("login.js", "login.cjs", "login.d.ts", "login.d.cts"), "src/login.ts")


def test_without_a_source_the_build_and_what_is_declared_of_it_stay() -> None:
    files = {
        "dist__esm__a_js": BUILT,
        "dist__cjs__a_cjs": REQUIRED,
        "dist__a_d_ts": DECLARED,
        "dist__a_d_cts": DECLARED,
    }
    assert twins(**files) == {"dist/cjs/a.cjs": "dist/esm/a.js", "dist/a.d.cts": "dist/a.d.ts"}


def test_a_file_that_says_something_else_is_no_twin() -> None:
    other = "export function logOut(session) {\n  session.close(); audit.write(reason); queue.flush(pending);\n}\n"
    assert twins(src__login_ts=SOURCE, lib__login_js=other) == {}


def test_types_that_people_wrote_are_no_twins_of_the_code_that_uses_them() -> None:
    types = "export type Session = {\n  user: string;\n  expires: number;\n};\n"
    assert twins(src__login_ts=SOURCE, src__types__login_ts=types) == {}
    assert twins(src__login_ts=SOURCE, lib__login_ts=SOURCE) == {"lib/login.ts": "src/login.ts"}
    lines = [f"  option{number}: 'value',\n" for number in range(30)]
    one, other = "".join(lines), "".join([*lines[:-1], "  option29: 'other',\n"])
    assert twins(config__development__a_ts=one, config__production__a_ts=other) == {}, "settings differ in a line"


def test_files_of_two_packages_folders_or_names_are_no_twins() -> None:
    assert twins(packages__one__src__a_ts=SOURCE, packages__two__src__a_ts=SOURCE) == {}
    assert twins(src__node__a_ts=SOURCE, src__browser__a_ts=SOURCE) == {}
    assert twins(src__a_ts=SOURCE, src__b_ts=SOURCE) == twins(src__a_py=SOURCE, lib__a_py=SOURCE) == {}

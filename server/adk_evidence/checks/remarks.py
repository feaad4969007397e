"""Where an open document does not fit a version of the ADK: names, calls and overrides, and what is near them."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from adk_evidence.api.history import read_call
from adk_evidence.checks.calls import Remark, RemarkKind, uses_in
from adk_evidence.checks.drift import LACKING, Code, Deviation, DriftChecker
from adk_evidence.documents.document import Mention, PythonDocument
from adk_evidence.readers.python import dotted_name
from adk_evidence.text.identifiers import is_private

# By what name people set, and leave out, what is told of each kind, and what that is.
RULES: Mapping[RemarkKind, tuple[str, str]] = {
    "import": ("unknown-import", "The code imports what the checked version does not have."),
    "name": ("unknown-name", "The code uses an attribute that the checked version does not have."),
    "keyword": ("unknown-keyword", "A call has a keyword that the checked version does not take."),
    "argument": ("missing-argument", "A call lacks an argument that the checked version requires."),
    "extra": ("extra-argument", "A call gives arguments by position that the checked version does not take so."),
    "override": ("unfit-override", "A method does not fit the method that it overrides."),
    "callback": ("unfit-callback", "An agent cannot call a callback: its parameters do not fit."),
    "method": ("uncalled-method", "The code asks whether a method is true, and does not call the method."),
    "await": ("missing-await", "A call of an asynchronous function lacks `await` or `async for`."),
    "deprecated": ("deprecated-name", "The code uses what the checked version calls deprecated."),
}
CODES: Mapping[RemarkKind, str] = {kind: code for kind, (code, _) in RULES.items()}
# How alike a name must be to be named in place of another one.
ALIKE = 0.75
MAX_KEPT = 2000
_IGNORE = re.compile(r"#[ \t]*adk:[ \t]*ignore(?:\[([^\]]*)\]|(?![\w\[-]))")
_HAS_ALIAS = re.compile(r"[\s\\]+as\b")


def remarks_on(
    checker: DriftChecker, document: PythonDocument, first: int = 0, last: int | None = None
) -> Iterator[Remark]:
    """The remarks on the names of a document, in the order of the text; `first` and `last` limit the lines."""
    for each, code in checker.checks_of(document):
        for deviation, mention in each.review(code, first, last)[0]:
            # What is only read, such as an annotation, and what is deprecated are left to the editor's own tools.
            if deviation.kind not in ("deprecated", "await") and mention.use in ("call", "keyword", "import"):
                yield remark(each, document, deviation, mention)


def all_remarks(checker: DriftChecker, document: PythonDocument) -> Iterator[Remark]:
    """The remarks on the names of a document, and then those on its calls and overrides, in no particular order.

    These are the problems of `check_code`, but for code that cannot be read.
    """
    found = (one for each, code in checker.checks_of(document) for one in reviewed(each, code)[0])
    return (one for one in found if not is_ignored(document.lines[one.line], one.kind))


def reviewed(checker: DriftChecker, code: Code, *, shortened: bool = False) -> tuple[list[Remark], set[str]]:
    """The remarks of one checker, also those that comments leave out, and the names that fit; see `uses_in`."""
    told, has = checker.review(code)
    remarks = [remark(checker, code.document, *one) for one in told]
    meant: dict[int, list[str]] = {}
    for (_, mention), said in zip(told, remarks, strict=True):
        if said.kind == "keyword" and said.replacement and not is_ignored(code.document.lines[said.line], "keyword"):
            meant.setdefault(id(mention.keyword_of), []).append(said.replacement)
    uses = list(uses_in(checker, code, meant, shortened=shortened))
    return [*remarks, *(use for use in uses if use.text)], {*has, *(use.symbol for use in uses if not use.text)}


def is_ignored(line: str, kind: RemarkKind) -> bool:
    """Whether a comment in a line leaves out remarks of a kind: `# adk: ignore[unknown-name]`, or without brackets."""
    return any(
        found[1] is None or CODES[kind] in re.split(r"[,\s]+", found[1].strip()) for found in _IGNORE.finditer(line)
    )


def remark_at(checker: DriftChecker, document: PythonDocument, line: int, column: int) -> Remark | None:
    """The remark on the name at a line and column of a document."""
    found = remarks_on(checker, document, line, line)
    return next((remark for remark in found if remark.start <= column <= remark.end), None)


def renamed(document: PythonDocument, line: int, column: int, name: str) -> list[tuple[Mention, str]]:
    """What changes the name at a place to another one: the names to write over, each with its new text.

    An imported name changes wherever the document uses the import. Where the document may use the import in ways that
    are not seen, such as in a string, the import keeps the old name as its alias.
    """
    wrong = document.mention_at(line, column)
    if wrong is None:
        return []
    if wrong.imported is None or _HAS_ALIAS.match(document.text_in((line, wrong.end), (line + 2, 0))):
        return [(wrong, name)]
    uses = [each for each in document.mentions_in() if each.name == wrong.name and _path(each) == wrong.imported]
    # A later part of a path, as in `import a.b`, binds no name.
    if not _is_in_path(document, wrong):
        written = len(re.findall(rf"\b{re.escape(wrong.name)}\b", "\n".join(document.lines)))
        if written > len(uses) + 1:
            return [(wrong, f"{name} as {wrong.name}")]
    return [(wrong, name), *((each, name) for each in uses)]


def _path(mention: Mention) -> str | None:
    """The path of what an expression names by way of an import."""
    root, dot, rest = (dotted_name(mention.expression) or "").partition(".")
    known = mention.scope.lookup(root, mention.line) if root else None
    return f"{known[0].imported}{dot}{rest}" if known and known[0].imported else None


def _is_in_path(document: PythonDocument, mention: Mention) -> bool:
    return document.lines[mention.line][: mention.start].endswith(".")


def remark(checker: DriftChecker, document: PythonDocument, deviation: Deviation, mention: Mention) -> Remark:
    """A deviation as a remark on the name that shows it, with what is near the name."""
    text, cited = deviation.brief, deviation.instead or ("" if deviation.kind in LACKING else deviation.symbol)
    owner, near = "", None
    if (call := read_call(deviation.symbol)) is not None:
        owner = cited = call.callable
    elif deviation.kind in ("import", "name") and deviation.instead is None:
        owner = deviation.symbol.rpartition(".")[0]
    # What a later version has is no slip of the pen, and what is deprecated is there.
    if owner and deviation.since is None and deviation.kind in LACKING:
        modules_only = mention.imported is not None and _is_in_path(document, mention)
        near = _nearest(checker, owner, mention.name, "keywords" if call else "modules" if modules_only else "names")
    if call and near in document.given_to(mention.keyword_of):
        # What the call has already was not meant, and what is less near even less.
        near = None
    if near is not None:
        shown = owner if deviation.kind == "import" else owner.rpartition(".")[2]
        told = f"The nearest keyword is `{near}`." if call else f"`{shown}` has `{near}`."
        text, cited = f"{text} {told}", f"{owner}.{near}"
    place = (mention.line, mention.start, mention.end)
    return Remark(deviation.kind, deviation.symbol, text, *place, near, cited, deviation.instead)


# The same names come again in one document.
@functools.lru_cache(MAX_KEPT)
def _nearest(
    checker: DriftChecker, owner: str, name: str, among: Literal["keywords", "modules", "names"]
) -> str | None:
    """The nearest keyword of a call, module of a package (as `import a.b` names), or name of a module or class."""
    api = checker.api
    if among == "keywords":
        known = api.keywords(owner)
        return _near(name, known.shown if known else [])
    modules = api.modules_in(owner)
    if among == "modules":
        return _near(name, modules)
    return _near(name, sorted({*modules, *api.names_in(owner), *api.members_of(owner)}))


def _near(name: str, names: list[str]) -> str | None:
    """The name that is most alike but for case and underscores, or the only one that adds or lacks words at its end."""
    known = {folded(each): each for each in reversed(names) if not is_private(each)}
    alike = difflib.get_close_matches(folded(name), known, 1, ALIKE)
    if alike:
        return known[alike[0]]
    begun = [each for each in known.values() if each.startswith(f"{name}_") or name.startswith(f"{each}_")]
    return begun[0] if len(begun) == 1 else None


def folded(name: str) -> str:
    """A name without what people confuse in its spelling."""
    return name.replace("_", "").lower()

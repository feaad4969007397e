"""What an open document names and a version of the ADK lacks, with what the version has in place of the name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from adk_evidence.identifiers import is_private
from adk_evidence.readers.python import dotted_name
from adk_evidence.symbols.document import Mention, PythonDocument
from adk_evidence.symbols.drift import Deviation, DriftChecker, DriftKind
from adk_evidence.symbols.history import read_call

# How alike a name must be to be named in place of another one.
ALIKE = 0.75
_HAS_ALIAS = re.compile(r"[\s\\]+as\b")


@dataclass(frozen=True)
class Remark:
    """A name of a document that the version lacks.

    `line`, `start` and `end` are where the name stands, in lines and characters from 0. `symbol` is as in `Deviation`.
    `replacement` is the name that the version has in its place, where one is near enough. `cited` is the path of what
    shows that: of the replacement, or else of what lacks the name; empty where neither is in the version.
    """

    kind: DriftKind
    symbol: str
    text: str
    line: int
    start: int
    end: int
    replacement: str | None = None
    cited: str = ""


def remarks_on(
    checker: DriftChecker, document: PythonDocument, first: int = 0, last: int | None = None
) -> Iterator[Remark]:
    """The remarks on a document, in the order of the text; `first` and `last` limit the lines."""
    for deviation, mention in checker.in_document(document, first, last):
        # What is only read, such as an annotation, and what is deprecated are left to the editor's own tools.
        if deviation.kind != "deprecated" and mention.use in ("call", "keyword", "import"):
            yield _remark(checker, document, deviation, mention)


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
    everywhere = document.mentions_in((0, 0), (len(document.lines), 0))
    uses = [each for each in everywhere if each.name == wrong.name and _path(each) == wrong.imported]
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


def _remark(checker: DriftChecker, document: PythonDocument, deviation: Deviation, mention: Mention) -> Remark:
    text, cited = deviation.brief, deviation.instead or ""
    owner, near = "", None
    if (call := read_call(deviation.symbol)) is not None:
        owner = cited = call.callable
    elif deviation.kind == "import" and deviation.instead is None:
        owner = deviation.symbol.rpartition(".")[0]
    # What a later version has is no slip of the pen.
    if owner and deviation.since is None:
        near = _near(mention.name, _keywords(checker, owner) if call else _names(checker, document, owner, mention))
    if call and near in _given(document, mention):
        # What the call has already was not meant, and what is less near even less.
        near = None
    if near is not None:
        told = f"The nearest keyword is `{near}`." if call else f"`{owner}` has `{near}`."
        text, cited = f"{text} {told}", f"{owner}.{near}"
    return Remark(deviation.kind, deviation.symbol, text, mention.line, mention.start, mention.end, near, cited)


def _keywords(checker: DriftChecker, called: str) -> list[str]:
    known = checker.history.keywords_at(checker.number, called)
    return sorted(known.names) if known else []


def _given(document: PythonDocument, mention: Mention) -> set[str]:
    """The keywords that the call of a keyword has."""
    return {other.name for other in document.mentions if other.keyword_of is mention.keyword_of}


def _names(checker: DriftChecker, document: PythonDocument, module: str, mention: Mention) -> list[str]:
    """What an import could name in a module: `import a.b` names modules alone."""
    history, number = checker.history, checker.number
    modules = history.modules_in(number, module)
    return modules if _is_in_path(document, mention) else sorted({*modules, *history.names_in(number, module)})


def _near(name: str, names: list[str]) -> str | None:
    """The name that is most alike but for case and underscores, or the only one that adds or lacks words at its end."""
    folded = {_folded(each): each for each in reversed(names) if not is_private(each)}
    alike = difflib.get_close_matches(_folded(name), folded, 1, ALIKE)
    if alike:
        return folded[alike[0]]
    begun = [each for each in folded.values() if _begins(each, name) or _begins(name, each)]
    return begun[0] if len(begun) == 1 else None


def _begins(name: str, longer: str) -> bool:
    """Whether one name begins with the words of another one."""
    return longer.startswith(f"{name}_")


def _folded(name: str) -> str:
    return name.replace("_", "").lower()

"""What Python code of a page shows and a version of the ADK lacks: imports, attributes and keywords of calls.

Calls of asynchronous functions that lack an `await` are told, too.

Nothing is imported or run. Code is checked against the table of released versions (`history.py`), and only what is
sure is told: callables that take any keyword, members that another distribution may bring and values whose class is
not known are left out.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from adk_evidence.api.history import History, VersionApi
from adk_evidence.api.lacks import find_lack
from adk_evidence.checks.awaits import tested_values, used_without_await
from adk_evidence.checks.callbacks import given_to_functions
from adk_evidence.documents.document import Binding, Mention, PythonDocument
from adk_evidence.documents.meaning import NameKind, Names, Uncertain, uncertain_in
from adk_evidence.errors import EvidenceError
from adk_evidence.index.neighbours import Environment, environment_of, neighbours
from adk_evidence.readers.python import last_line
from adk_evidence.text.identifiers import without_module

# A check of code opens no index.
if TYPE_CHECKING:
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.readers.pages.snippets import Snippet

DriftKind = NameKind | Literal["await", "deprecated"]
_IMPORT: DriftKind = "import"
# What a version does not have at all.
LACKING: Collection[DriftKind] = ("import", "name", "keyword")
MAX_KEPT_NAMES = 5000
MAX_KNOWN_NAMES = 200
# Of a page: each name that the version lacks is looked for in all versions.
MAX_LACKING_NAMES = 100
# A snippet that parsing part by part would take longer for was not written by a person.
MAX_SNIPPET_CHARS = 200_000
_NAME = r"[A-Za-z_]\w*"
_BROKEN_IMPORT = re.compile(rf"[ \t]*from[ \t]+({_NAME}(?:\.{_NAME})*)[ \t]+import[ \t]*\(?([^\n();#]*)")


@dataclass(frozen=True)
class Deviation:
    """A name in code that a version lacks or calls deprecated, or whose call lacks an `await`.

    `first` and `last` are lines of the page, from 0; `included` is the path of the included file that holds the code.
    `symbol` is an import path, or a keyword as `google.adk.runners.Runner(app=)`. See `Lack` for `until`, `since` and
    `instead`. `text` says all this in a sentence, and `brief` says the same to a reader who sees the code.
    """

    kind: DriftKind
    symbol: str
    text: str
    first: int = 0
    last: int = 0
    until: str | None = None
    since: str | None = None
    instead: str | None = None
    included: str = ""
    brief: str = ""


@dataclass(frozen=True)
class Checked:
    """What is to say of the code of a page.

    `imports` counts the imports from the ADK, once for each name of each statement, `missing` those of them that the
    version lacks. `by_snippet` has the deviations of each snippet by its first and its last line of the page, from 0.
    """

    imports: int
    missing: int
    by_snippet: tuple[tuple[int, int, tuple[Deviation, ...]], ...]

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        return self.within(0, sys.maxsize)

    def within(self, first: int, last: int) -> tuple[Deviation, ...]:
        """What the snippets in some lines of the page show, also in their other lines; all lines from 0."""
        shown = [one for begin, end, found in self.by_snippet if begin <= last and first <= end for one in found]
        # A name is told once in a line, of a page or of an included file.
        once = {(one.symbol, one.kind == "await", one.first, one.included): one for one in reversed(shown)}
        return tuple(sorted(once.values(), key=lambda one: (one.first, one.included, one.symbol)))


class DriftChecker:
    """Checks code against one released version. What is known of a name is kept between pages.

    Args:
        api: What the version has.
        parameters: What it calls deprecated among its parameters, as `google.adk.runners.Runner(plugins=)`.
        environment: What a project has installed beside the version; None where that is not known.
    """

    def __init__(
        self, api: VersionApi, parameters: frozenset[str] = frozenset(), environment: Environment | None = None
    ) -> None:
        self._parameters, self._environment = parameters, environment
        self.api, self.history, self.version = api, api.history, api.version
        self.label = f"{self.history.table.distribution} {api.version}"
        self._top = self.history.package.partition(".")[0]
        modules = self.history.table.modules
        self._tops = tuple(f"{name}." for name in modules if name.rpartition(".")[0] not in modules)
        self.of_name = functools.lru_cache(MAX_KEPT_NAMES)(self._read_name)
        # What is to say of a name, wherever it stands.
        self._judged = functools.lru_cache(MAX_KEPT_NAMES)(self._judge)

    def check(self, snippets: Iterable[Snippet]) -> Checked:
        """Check the code of one page. Names that a snippet imports are known in those that follow.

        Of the names that the version lacks, the first `MAX_LACKING_NAMES` are told.
        """
        imports: list[bool | None] = []
        found: list[tuple[int, int, tuple[Deviation, ...]]] = []
        known: dict[str, str] = {}
        lacking: set[str] = set()
        for snippet in snippets:
            # Most snippets name nothing of the ADK.
            if len(snippet.text) > MAX_SNIPPET_CHARS or not self.may_concern((snippet.text,), known):
                continue
            code = Code(PythonDocument(snippet.text), known, self._top)
            imports += (self.api.has(path) for path, _ in code.imports if self.is_own(path))
            deviations = (
                replace(one, first=lines[0], last=lines[1], included=snippet.included)
                for one, _ in self._deviating(self._told(code), lacking)
                if (lines := snippet.lines(one.first, one.last))
            )
            begin, end = snippet.lines(0, snippet.text.count("\n"))
            found.append((begin, end, tuple(deviations)))
        return Checked(len(imports), imports.count(False), tuple(found))

    def with_neighbours(self, document: PythonDocument) -> list[DriftChecker]:
        """This checker, and one for each other package that a document imports and the project has."""
        found = neighbours(self._environment, document.imported) if self._environment else []
        return [self, *(_kept_checker(one.api) for one in found)]

    def checks_of(self, document: PythonDocument) -> list[tuple[DriftChecker, Code]]:
        """The checkers of a document, each with the document as code; none where it names nothing to check."""
        code = Code(document, {}, self._top)
        return [(one, code) for one in self.with_neighbours(document) if one.may_concern(document.lines, {})]

    def review(
        self, code: Code, first: int = 0, last: int | None = None
    ) -> tuple[list[tuple[Deviation, Mention]], frozenset[str]]:
        """What is to say of the names in code, in the order of the text, and the names that the version surely has.

        These are paths, and keywords of calls. Of the names that the version lacks, the first `MAX_LACKING_NAMES` are
        told. `first` and `last` limit the lines.
        """
        told = list(self._told(code, first, last))
        found = ((deviation, mention) for deviation, mention in self._deviating(told, set()) if mention is not None)
        in_order = sorted(found, key=lambda one: (one[1].line, one[1].start))
        return in_order, frozenset(one.symbol for one in told if self.api.has(one.symbol))

    def _deviating(self, told: Iterable[_Told], lacking: set[str]) -> Iterator[tuple[Deviation, Mention | None]]:
        """What is to say of names; `lacking` gets those that the version lacks, and no more than a page may have."""
        for symbol, kind, line, mention in told:
            if len(lacking) >= MAX_LACKING_NAMES and symbol not in lacking:
                continue
            deviation = self._judged(symbol, kind)
            if deviation is not None:
                lacking |= {symbol} if deviation.kind in LACKING else set()
                yield replace(deviation, first=line, last=line), mention

    def at(self, document: PythonDocument, line: int, column: int) -> Deviation | None:
        """What is to say of the name at a line and column of a document; None of what the version has."""
        symbol, kind = self.named_at(document, line, column)
        return self._judged(symbol, kind) if symbol is not None else None

    def named_at(self, document: PythonDocument, line: int, column: int) -> tuple[str | None, DriftKind]:
        """The path of the name at a line and column, or its keyword; None of what is not of the checked package."""
        mention = document.mention_at(line, column)
        if mention is None:
            return None, _IMPORT
        names = Names(self.api, typed=False)
        symbol, kind = names.symbol(mention) if mention.imported is None else (mention.imported, _IMPORT)
        return (symbol if symbol is not None and self.is_own(symbol) else None), kind

    def _told(self, code: Code, first: int = 0, last: int | None = None) -> Iterator[_Told]:
        """The names of the ADK that code shows, each with the kind that it has where the version lacks it.

        Among them are the asynchronous functions whose calls lack an `await`.
        """
        last = len(code.document.lines) - 1 if last is None else last
        mentions = list(code.document.mentions_in((first, 0), (last + 1, 0)))
        # An alias stands behind the name that it is for.
        imported = {(each.line, each.imported): each for each in reversed(mentions) if each.imported}
        for path, line in code.imports:
            is_sure = line not in code.uncertain.imports and line not in code.uncertain.lines
            if first <= line <= last and self.is_own(path) and is_sure:
                yield _Told(path, "import", line, imported.get((line, path)))
        names = code.names(self.api)
        for mention in mentions:
            if mention.line in code.uncertain.lines:
                continue
            # What an imported name lacks was told where it is imported.
            is_told = mention.keyword_of is not None or isinstance(mention.expression, ast.Attribute)
            symbol, kind = names.symbol(mention) if is_told or mention.use == "call" else (None, _IMPORT)
            if symbol is not None and is_told:
                yield _Told(symbol, kind, mention.line, mention)
            # Objects of several classes, whose functions may all be asynchronous.
            paths = [symbol] if symbol else names.methods(mention) if mention.use == "call" else []
            is_async = bool(paths) and all(self.api.kind(path) == "a" for path in paths)
            if is_async and mention.expression in code.unawaited:
                yield _Told(paths[0], "await", mention.line, mention)

    def may_concern(self, texts: Iterable[str], known: Mapping[str, str]) -> bool:
        """Whether code can name anything of the ADK; most snippets of a page do not, and need not be parsed.

        `known` are the names that code above imports from there, by their paths.
        """
        return any(self._top in text or any(name in text for name in known) for text in texts)

    def _judge(self, symbol: str, kind: DriftKind) -> Deviation | None:
        if kind == "await":
            is_generator = self.api.yields(symbol)
            what, lacking = ("generator", "async for") if is_generator else ("function", "await")
            text = f"{self.label} has `{symbol}` as an asynchronous {what}: the code lacks `{lacking}`."
            brief = text.replace(f"`{symbol}`", f"`{without_module(symbol)}`")
            return Deviation(kind, symbol, text, brief=brief)
        has = self.api.has(symbol)
        if has:
            use = self.deprecated(symbol)
            if use is None:
                return None
            instead = f": use `{use}`" if use else ""
            text = f"{self.label} calls `{symbol}` deprecated{instead}."
            return Deviation("deprecated", symbol, text, instead=use or None, brief=text)
        lack = find_lack(self.history, self.version, symbol) if has is False else None
        if lack is None:
            return None
        # An import shows the whole path; a call, or an attribute, the last parts of it.
        brief = lack.sentence if kind == "import" else replace(lack, name=without_module(lack.name)).sentence
        return Deviation(kind, symbol, lack.sentence, 0, 0, lack.until, lack.since, lack.instead, brief=brief)

    def _read_name(self, name: str) -> Deviation | None:
        """What is to say of a bare name in prose that another version defines, and that this version has nowhere."""
        if not self.history.may_know(name) or self.api.says(name):
            return None
        lack = find_lack(self.history, self.version, name)
        having = self.history.exactly(lack.until or lack.since) if lack is not None else None
        if lack is None or having is None:
            return None
        places = map(having.definition, self.history.paths(name))
        # What modules import from other packages is no name of the ADK, and other things have fields of many names.
        if not any(place is not None and place.name and "." not in place.name for place in places):
            return None
        text = lack.sentence
        return Deviation("name", name, text, 0, 0, lack.until, lack.since, lack.instead, brief=text)

    def deprecated(self, symbol: str) -> str | None:
        """What to use in place of a deprecated name, empty where that is not known; None of other names.

        Of a deprecated class or module, the class or module alone is told, not each of its members and keywords.
        """
        path, _, keyword = symbol.rstrip("=)").partition("(")
        owner = path if keyword else path.rpartition(".")[0]
        told = self.api.deprecation(f"{path}.{keyword}" if keyword else path)
        place = self.api.definition(owner)
        is_class = place is not None and bool(place.name)
        if is_class and self.api.deprecation(owner) is not None:
            return None
        if told is None and place is not None and f"{place.path}({keyword}=)" in self._parameters:
            return ""
        return told[0] if told is not None else None

    def is_own(self, path: str) -> bool:
        """Whether a path begins with the package that is checked."""
        return f"{path}.".startswith(self._tops)


# Each keeps what it knows of names.
_kept_checker = functools.lru_cache(maxsize=16)(DriftChecker)


def checker_for(
    version: str | None, parameters: frozenset[str] = frozenset(), environment: Environment | None = None
) -> DriftChecker | None:
    """A checker for a version of the ADK, or None where the table of released versions does not know the version.

    `parameters` are those that the version calls deprecated; see `DriftChecker`.
    """
    with suppress(EvidenceError):
        api = History.load().exactly(version)
        return _kept_checker(api, parameters, environment) if api is not None else None
    return None


def checker_of(chosen: ChosenIndex) -> DriftChecker | None:
    """A checker for the version that a project uses, else for the version of the index; None of unknown versions."""
    if chosen.wanted is None:
        return checker_for(chosen.version)
    return checker_for(chosen.wanted.version, environment=environment_of(chosen.wanted, chosen.settings))


class _Told(NamedTuple):
    """A name of the ADK in code; an import in a line that does not parse may have no mention."""

    symbol: str
    kind: DriftKind
    line: int
    mention: Mention | None


class Code:
    """One snippet. `known` maps names that earlier snippets import to their paths; this snippet's own are added.

    Only what is imported from below `top` is kept, and not more than any page needs.
    """

    def __init__(self, document: PythonDocument, known: dict[str, str], top: str) -> None:
        self.document = document
        self._top = top
        self._names: dict[VersionApi, Names] = {}
        module = document.module
        for name, path in known.items():
            module.bindings.setdefault(name, []).insert(0, Binding(-1, imported=path))
        for name, bindings in module.bindings.items():
            path = bindings[-1].imported or ""
            known.pop(name, None)
            if path.partition(".")[0] == top and len(known) < MAX_KNOWN_NAMES:
                known[name] = path

    def names(self, api: VersionApi) -> Names:
        """What the expressions mean in a version, as far as anybody has asked."""
        if api not in self._names:
            self._names[api] = Names(api, self.uncertain, self.given)
        return self._names[api]

    # Of most snippets above the lines that are asked for, only the imported names are.
    @functools.cached_property
    def imports(self) -> list[tuple[str, int]]:
        """The paths that statements import, each with its line."""
        broken = _broken_imports(self.document) if self.document.is_broken else ()
        return [*_imports(self.document), *broken]

    @functools.cached_property
    def uncertain(self) -> Uncertain:
        return uncertain_in(self.document)

    @functools.cached_property
    def stored(self) -> dict[int, ast.expr]:
        """What statements give to attributes, by the ids of the attributes."""
        given = (node for node in self.document.nodes if isinstance(node, ast.Assign))
        return {id(one): node.value for node in given for one in node.targets if isinstance(one, ast.Attribute)}

    @functools.cached_property
    def given(self) -> dict[int, str]:
        """The classes of what agents give to the functions of the code that are their tools; see `Names`."""
        return given_to_functions(self.document, self._top)

    # Few snippets name anything asynchronous.
    @functools.cached_property
    def unawaited(self) -> frozenset[ast.expr]:
        """The functions whose calls lack an `await` if the functions are asynchronous."""
        # A text that does not parse may lack the beginning of a statement.
        calls = () if self.document.is_broken else used_without_await(self.document, self.tested)
        return frozenset(call.func for call in calls)

    @functools.cached_property
    def tested(self) -> frozenset[ast.expr]:
        """The values of which the code only asks whether they are true."""
        return frozenset(tested_values(self.document))


def _imports(document: PythonDocument) -> Iterator[tuple[str, int]]:
    for node in document.nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                yield node.module if alias.name == "*" else f"{node.module}.{alias.name}", alias.lineno - 1
        elif isinstance(node, ast.Import):
            yield from ((alias.name, alias.lineno - 1) for alias in node.names)


def _broken_imports(document: PythonDocument) -> Iterator[tuple[str, int]]:
    """Imports in lines that do not parse."""
    read = {
        line
        for node in document.nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for line in range(node.lineno - 1, last_line(node))
    }
    for number, line in enumerate(document.lines):
        match = _BROKEN_IMPORT.match(line) if number not in read and len(line) < MAX_SNIPPET_CHARS else None
        for item in match[2].split(",") if match else ():
            name = (item.split() or [""])[0]
            if match and name.isidentifier():
                yield f"{match[1]}.{name}", number

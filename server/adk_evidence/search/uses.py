"""Where a definition is used: what derives from it, overrides, calls, imports or mentions it, in the code of an index.

The sparse terms say which files may have the name, and these are read. In Python, imports, classes and types tell a
definition from its namesakes as far as the index knows; beyond that, and in other languages, the name alone tells.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from adk_evidence.documents.document import PythonDocument
from adk_evidence.errors import InvalidRequestError, SourceError
from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import KINDS, ChunkPayload
from adk_evidence.models.citation import code_citation
from adk_evidence.readers.definitions import read_definition
from adk_evidence.readers.python import clip
from adk_evidence.search.read import CitedSource, chunk_at
from adk_evidence.search.rerankers.files import is_aside
from adk_evidence.store.base import Filter, Fusion, HasId, Match, Prefetch, scroll_all
from adk_evidence.symbols.resolution import uses_of
from adk_evidence.text.identifiers import ends_with

if TYPE_CHECKING:
    from adk_evidence.search.session import Session
    from adk_evidence.symbols.table import SymbolEntry

UseKind = Literal["subclass", "override", "call", "import", "mention"]
USE_KINDS: tuple[UseKind, ...] = get_args(UseKind)
_TITLES = ("Derive from it", "Override it", "Call it", "Import it", "Mention it")
MAX_CHUNKS = 10_000
# To read a Python file takes some 10 ms.
MAX_FILES = 300
MAX_NAMESAKES = 3
# Programs in one of these use what the others define.
_FAMILY = {"c": "cpp", "tsx": "ts", "js": "ts", "jsx": "ts"}

# Comments and strings. A single quote stands around one character in most languages, and before a lifetime in Rust.
_QUIET = r'/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*(?:"|$)|`(?:\\.|[^`\\])*(?:`|\Z)|'
_QUOTED = {"ts": r"'(?:\\.|[^'\\\n])*(?:'|$)", "r": r"'(?:\\.|[^'\\])*(?:'|\Z)|#[^\n]*"}
_IMPORT = re.compile(
    r"^[ \t]*(?:import|export)\b[^;()={}\n]*(?:\{[^;()={}]*\}[^;()={}\n]*)?\bfrom\b|^[^\n]*\brequire[ \t]*\("
    r"|^[ \t]*(?:pub[ \t]+)?(?:import|use|using)\b[^;\n]*",
    re.MULTILINE,
)
# These look at a language and one of its lines, with a null in the place of the name.
_DERIVES = re.compile(
    r"\b(?:class|struct|interface|protocol)\s+\w+\s*(?:<[^{}()=;]*>\s*)?(?:\([^()]*\)\s*)?:[^{}()=;]*\0"
    r"|(?:\bclass|\b(?:class|interface|enum|record)\s+\w+\s*(?:<[^{}()=;]*>)?|^\w+)\s+(?:extends|implements)\b[^{}()=;]*\0"
    r"|^rust \s*impl\b[^{]*\0[^{]*\sfor\b|^go \s*\*?(?:\w+\.)?\0\s*$"
)
_CALLS = re.compile(r"\bnew\s+\0|\0(?:<[^<>()]{0,200}>)?!?[ \t]*\(|\0\{")


@dataclass(frozen=True)
class Use:
    """A line that uses a definition; `text`, the line itself, is data.

    `by_name`: nothing but the name says that this definition is meant. `changed`: the file is not as it was indexed,
    and the line is one of the file as it is now.
    """

    kind: UseKind
    path: str
    line: int
    citation: str
    text: str
    inside: str
    by_name: bool
    changed: bool


class Uses(Frozen):
    """The most telling uses of each kind, how many there are, and how many files with the name were not read."""

    symbol: str
    totals: dict[UseKind, int]
    uses: tuple[Use, ...]
    namesakes: tuple[str, ...]
    unread: int


class Defined(NamedTuple):
    """A definition: the chunk that it begins in, its name within the module, and its entry where that is Python."""

    payload: ChunkPayload
    symbol: str
    entry: SymbolEntry | None

    def __str__(self) -> str:
        of = self.payload
        return self.entry.fqn if self.entry else f"{self.symbol} ({of.path}:{of.start_line}-{of.end_line})"


# The number of a line from 1, what it does, whether that is by the name alone, and the definition around it.
_Place = tuple[int, UseKind, bool, str]


def defined_as(session: Session, name: str) -> Defined:
    """The likeliest definition of a bare or dotted name; raises `InvalidRequestError` where the index has none."""
    name, symbols = name.strip().removesuffix("()"), session.symbols
    entry = symbols.resolve(name) or next(iter(symbols.table.find(name)), None)
    entry = entry and (symbols.resolve(entry.fqn) or entry)
    found = [Defined(symbols.chunk(entry), entry.symbol or entry.fqn, entry)] if entry else _defining(session, name)
    if not found:
        raise InvalidRequestError("The index has no definition of this name.", "Check the spelling.")
    return found[0]


def defined_at(session: Session, source: CitedSource) -> Defined | None:
    """The definition that cited lines begin with, or that they are a part of."""
    lines = source.cited_lines
    of = chunk_at(session.index, session.settings.store, "code", source.path, source.commit, lines, None)
    if of is None or lines is None:
        return None
    own = of.symbol if of.symbol_kind != "module" else None
    starts = {symbol: read_definition(of, symbol).lines.start for symbol in of.symbols}
    begun = [symbol for symbol, start in starts.items() if lines.start <= start <= lines.end]
    above = [symbol for symbol, start in starts.items() if start <= lines.start]
    symbol = min(begun, key=starts.__getitem__) if begun else max(above, key=starts.__getitem__, default=own)
    return _defined(session, of, symbol) if symbol else None


def find_uses(session: Session, wanted: Defined, limit: int) -> Uses:
    """Where a definition is used, with at most `limit` uses of a kind; raises `CollectionUnavailableError`."""
    names = [wanted.symbol.rpartition(".")[2]]
    others = [one for one in _defining(session, names[0]) if str(one) != str(wanted)]
    # More names come up: a module may give the definition another one.
    for name in names if wanted.entry else ():
        renamed = re.compile(rf"^(\w+)(?:[ \t]*:[^=\n]*)?[ \t]*=[ \t]*(?:\w+\.)*{name}[ \t]*$", re.MULTILINE)
        for source, payload in _files(session, wanted, [name]):
            same = (f"{payload.module}.{other}" for other in {*renamed.findall(source.text)} - {*names})
            names += [one.rpartition(".")[2] for one in same if session.symbols.resolve(one) == wanted.entry]
    files, found = _files(session, wanted, names), list[tuple[bool, bool, int, str, int, Use]]()
    for source, payload in files[:MAX_FILES]:
        if wanted.entry is not None:
            places = _in_python(session, wanted.entry, names, source, payload.module)
        else:
            places = _in_other(wanted, others, source, payload.lang)
        telling = {place[0]: place for place in sorted(places, key=lambda one: (-USE_KINDS.index(one[1]), not one[2]))}
        lines, counted = source.text.split("\n"), Counter[UseKind]()
        for line, kind, by_name, inside in sorted(telling.values()):
            counted[kind] += 1
            cited = code_citation(source.repo, source.commit, source.path, line, line)
            text, changed = clip(lines[line - 1].strip(), 160), not source.matches_index
            use = Use(kind, source.path, line, cited, text, inside, by_name, changed)
            # One use of each file stands before the second of any.
            found.append((by_name, is_aside(source.path), counted[kind], source.path, line, use))
    ordered = [one[-1] for one in sorted(found, key=lambda one: one[:-1])]
    of_kind = {kind: [use for use in ordered if use.kind == kind] for kind in USE_KINDS}
    return Uses(
        symbol=str(wanted),
        totals={kind: len(uses) for kind, uses in of_kind.items() if uses},
        uses=tuple(use for uses in of_kind.values() for use in uses[:limit]),
        namesakes=tuple(dict.fromkeys(map(str, others))),
        unread=max(0, len(files) - MAX_FILES),
    )


def told(uses: Uses) -> Iterator[tuple[str, str]]:
    """An answer for people: sentences, and places each with its line of code."""
    yield f"Uses of {uses.symbol}:" if uses.uses else f"Nothing that is indexed uses {uses.symbol}.", ""
    for kind, title in zip(USE_KINDS, _TITLES, strict=True):
        shown = [use for use in uses.uses if use.kind == kind]
        if shown:
            yield f"{title} ({f'{len(shown)} of ' * (len(shown) < uses.totals[kind])}{uses.totals[kind]}):", ""
        for use in shown:
            notes = ("in " + use.inside) * bool(use.inside), "by name alone" * use.by_name, "file changed" * use.changed
            yield "; ".join(filter(None, (use.citation, *notes))), use.text
    if uses.namesakes:
        more = f" and {len(uses.namesakes) - MAX_NAMESAKES} more" * (len(uses.namesakes) > MAX_NAMESAKES)
        yield f"Others with this name: {', '.join(uses.namesakes[:MAX_NAMESAKES])}{more}.", ""
    if uses.unread:
        yield f"{uses.unread} more files may use it, and were not read.", ""


def _defined(session: Session, of: ChunkPayload, symbol: str) -> Defined:
    return Defined(of, symbol, session.symbols.table.entries.get(f"{of.module}.{symbol}") if of.lang == "py" else None)


def _defining(session: Session, name: str) -> list[Defined]:
    """The definitions of a name, the likeliest first, those of tests and samples last."""
    wanted = Filter(must=(Match("names", (name.rpartition(".")[2],)),))
    records = scroll_all(session.index.store, session.settings.store.code_collection, filter=wanted)
    chunks = [ChunkPayload.model_validate(record.payload) for record in records]
    found = [_defined(session, one, symbol) for one in chunks for symbol in one.symbols if ends_with(symbol, name)]

    def order(one: Defined) -> tuple[object, ...]:
        of, symbol = one.payload, one.symbol
        return is_aside(of.path), symbol.count("."), of.symbol != symbol, of.path, of.start_line, symbol

    return sorted(found, key=order)


def _files(session: Session, wanted: Defined, names: Sequence[str]) -> list[tuple[CitedSource, ChunkPayload]]:
    """The files of the definition's language that have one of some names, each with a chunk; tests and samples last."""
    store, index, sparse, among = session.settings.store, session.index.store, session.models.sparse, None
    chunks: dict[tuple[bool, str, str, str], ChunkPayload] = {}
    for kind in KINDS:
        # A name may be no term, and terms need not be the words of a text: then every file may have it.
        if sparse.exact_terms and all(map(sparse.has_terms, names)):
            branch = Prefetch(store.sparse_vector, sparse.encode_query(" ".join(names)), MAX_CHUNKS)
            hits = index.hybrid_query(store.collection(kind), [branch], Fusion(), limit=0).branches[0]
            among = Filter(must=(HasId(tuple(hit.id for hit in hits)),))
        fields = ("path", "repo", "commit", "lang", "fqn", "symbol")
        for record in scroll_all(index, store.collection(kind), filter=among, with_payload=fields):
            of = ChunkPayload.model_construct(**record.payload)
            if _FAMILY.get(of.lang, of.lang) == _FAMILY.get(wanted.payload.lang, wanted.payload.lang):
                chunks.setdefault((is_aside(of.path), of.path, of.repo, of.commit), of)
    found = []
    for key in sorted(chunks):
        # What is gone uses nothing.
        with suppress(SourceError):
            source = session.read_file(*key[1:])
            found += [(source, chunks[key])] if _word(*names).search(source.text) else []
    return found


def _word(*names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, names))})(?![\w$])")


def _in_python(
    session: Session, target: SymbolEntry, names: Sequence[str], source: CitedSource, module: str | None
) -> Iterator[_Place]:
    is_package, parent = source.path.endswith("/__init__.py"), (module or "").rpartition(".")[0]
    document = PythonDocument(source.text, package=(module or "") if is_package else parent)
    classes = [scope.node for scope in document.scopes if isinstance(scope.node, ast.ClassDef)]
    bases = {id(base.value if isinstance(base, ast.Subscript) else base) for one in classes for base in one.bases}
    for mention, sure in uses_of(document, session.symbols, target, names, module):
        kind: UseKind = "import" if mention.use == "import" else "mention"
        if mention.use in ("call", "keyword"):
            # The document makes up what an override mentions, so that this has no place.
            overrides = mention.expression is not None and not hasattr(mention.expression, "lineno")
            kind = "subclass" if id(mention.expression) in bases else "override" if overrides else "call"
        yield mention.line + 1, kind, not sure, document.enclosing(mention.line)


def _in_other(wanted: Defined, others: Sequence[Defined], source: CitedSource, lang: str) -> Iterator[_Place]:
    name, family = wanted.symbol.rpartition(".")[2], _FAMILY.get(lang, lang)
    quiet = re.compile(_QUIET + _QUOTED.get(family, r"'(?:\\[^\n]{1,10}?|[^'\\\n])'"), re.DOTALL | re.MULTILINE)
    text = quiet.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source.text)
    begins = [0, *(found.end() for found in re.finditer("\n", text))]
    imported = {at for found in _IMPORT.finditer(text) for at in range(*found.span())}
    places = [found.span() for found in _word(name).finditer(text)]
    is_imported = any(start in imported for start, _ in places)
    # In a file with its own definition at the top, that one is meant.
    own = {one.payload.path for one in others if "." not in one.symbol} - {wanted.payload.path}
    defining = [one.payload for one in (wanted, *others) if one.payload.path == source.path and not is_imported]
    for start, end in places if is_imported or "." in wanted.symbol or source.path not in own else ():
        line = bisect_right(begins, start)
        # The first place of the name in a chunk that defines it is the definition.
        if begun := [one for one in defining if one.start_line <= line <= one.end_line]:
            defining.remove(begun[0])
            continue
        # No person writes longer lines.
        before, after = text[max(begins[line - 1], start - 500) : start], text[end : end + 500].partition("\n")[0]
        seen = f"{lang} {before}\0{after}"
        kind: UseKind = "subclass" if _DERIVES.search(seen) else "call" if _CALLS.search(seen) else "mention"
        yield line, "import" if start in imported else kind, True, ""

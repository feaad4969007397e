"""Files that belong to what was found: those that it imports, those that use it, and pages that mention it.

Cheap and for any language: imports are read from the found files by their form and resolved to indexed files; users
and pages are what the sparse branch finds for a name, if the name stands there as a call, in an import or as a word.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest

from adk_evidence.errors import CollectionUnavailableError, SourceError
from adk_evidence.identifiers import is_code_like, query_lexical_text
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.search.session import Session
from adk_evidence.store.base import Filter, Fusion, Match, Prefetch
from adk_evidence_agents.operations.responses import RelatedFile
from adk_evidence_agents.operations.searching import Found

MAX_FILES = 6
MAX_NAMES = 6
MAX_USERS = 12
MAX_EACH = 8
MAX_SCANNED_CHARS = 200_000
MIN_NAME_CHARS = 3

# `from a.b import c`, `import a.b as c`; relative ones begin with dots.
_PYTHON = re.compile(r"^[ \t]*(?:from[ \t]+(?P<source>\.*[\w.]*)[ \t]+import\b|import[ \t]+(?P<module>[\w.]+))", re.M)
# `import x from "./a"`, `export * from "./a"`, `require("./a")`, `import("./a")`.
_SCRIPT = re.compile(
    r"(?:\bfrom[ \t]+|\brequire[ \t]*\([ \t]*|\bimport[ \t]*\(?[ \t]*)[\"'](?P<source>\.{1,2}/[^\"'\n]+)[\"']"
)
# `source("a.R")`
_R = re.compile(r"\bsource[ \t]*\([ \t]*[\"'](?P<source>[^\"'\n]+)[\"']")
_SCRIPT_EXTENSIONS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_TAILS = ("", *_SCRIPT_EXTENSIONS, *(f"/index{extension}" for extension in _SCRIPT_EXTENSIONS))
_IMPORT_LINE = r"^[ \t]*(?:from\b[^\n]*\bimport\b|import\b|export\b)[^\n]*"


def related_files(found: Sequence[Found]) -> list[RelatedFile]:
    """The files related to the best results of one index, the closest relation first, each once.

    Args:
        found: Results of one index, best first.
    """
    if not found:
        return []
    name, session = found[0].name, found[0].session
    own = {item.payload.path for item in found}
    code = [item.payload for item in found if item.hit.kind == "code"]
    relations = [*_imports(session.index, name, code), *_uses(session, name, code, own)]
    return _chosen(file for file in relations if file.file_path not in own)


def imported_paths(path: str, text: str, indexed: frozenset[str]) -> list[str]:
    """The indexed files that a file imports, in its order.

    Args:
        path: Of the file, within the repository.
        text: Its text.
        indexed: Paths of the indexed code.
    """
    text = text[:MAX_SCANNED_CHARS]
    found: dict[str, None] = {}
    for match in _PYTHON.finditer(text):
        for target in _python_targets(path, match["source"] or match["module"] or "", indexed):
            found.setdefault(target)
    for match in _SCRIPT.finditer(text):
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(path), match["source"]))
        # TypeScript writes the extension that the compiled file will have.
        stems = (stem, re.sub(r"\.[cm]?jsx?\Z", "", stem))
        for target in [stem + tail for stem in stems for tail in _TAILS if stem + tail in indexed][:1]:
            found.setdefault(target)
    for match in _R.finditer(text):
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), match["source"]))
        for target in [name for name in (beside, posixpath.normpath(match["source"])) if name in indexed][:1]:
            found.setdefault(target)
    found.pop(path, None)
    return list(found)


def _chosen(relations: Iterable[RelatedFile]) -> list[RelatedFile]:
    """Each file once; the relations take turns, so that none crowds out the others."""
    by_relation: dict[str, dict[str, RelatedFile]] = {}
    seen: set[str] = set()
    for file in relations:
        if file.file_path not in seen:
            seen.add(file.file_path)
            by_relation.setdefault(file.relation, {})[file.file_path] = file
    turns = zip_longest(*(list(files.values())[:MAX_EACH] for files in by_relation.values()))
    return [file for turn in turns for file in turn if file is not None]


def _imports(index: Index, name: str, code: Sequence[ChunkPayload]) -> Iterator[RelatedFile]:
    indexed = frozenset(index.paths("code"))
    for path, payload in _first_of_each_path(code).items():
        reader = index.source_of(payload)
        try:
            text = reader.read(path) if reader else None
        except SourceError:
            continue
        for target in imported_paths(path, text or "", indexed):
            yield RelatedFile(file_path=target, relation="imports", name=path, collection_name=name)


def _uses(session: Session, name: str, code: Sequence[ChunkPayload], own: Collection[str]) -> Iterator[RelatedFile]:
    for symbol in _defined_names(code):
        word = re.compile(rf"(?<![\w$]){re.escape(symbol)}(?![\w$])")
        imported = re.compile(rf"{_IMPORT_LINE}{word.pattern}", re.M)
        called = re.compile(rf"(?<![\w$]){re.escape(symbol)}[ \t]*\(")
        users = _users(session, "code", symbol, own)
        calling = {payload.path for payload in users if called.search(payload.body)}
        for payload in users:
            # A file that imports a name in one chunk and calls it in another calls it.
            if payload.path in calling:
                yield RelatedFile(file_path=payload.path, relation="calls", name=symbol, collection_name=name)
            elif imported.search(payload.body):
                yield RelatedFile(file_path=payload.path, relation="imported_by", name=symbol, collection_name=name)
        for payload in _users(session, "doc", symbol, own):
            if word.search(payload.body):
                yield RelatedFile(file_path=payload.path, relation="mentions", name=symbol, collection_name=name)


def _users(session: Session, kind: Kind, symbol: str, own: Collection[str]) -> list[ChunkPayload]:
    """The chunks of other files whose words are nearest to a name."""
    store = session.settings.store
    query = session.service.sparse.encode_query(query_lexical_text(symbol))
    if not query:
        return []
    branch = Prefetch(store.sparse_vector, query, MAX_USERS)
    elsewhere = Filter(must_not=(Match("path", tuple(own)), Match("origin", ("api-reference",))))
    try:
        answer = session.index.store.hybrid_query(
            store.collection(kind), [branch], Fusion(), limit=MAX_USERS, filter=elsewhere
        )
    except CollectionUnavailableError:
        # The search itself has said so.
        return []
    return [ChunkPayload.model_validate(hit.payload) for hit in answer.fused]


def _first_of_each_path(code: Sequence[ChunkPayload]) -> dict[str, ChunkPayload]:
    paths: dict[str, ChunkPayload] = {}
    for payload in code:
        paths.setdefault(payload.path, payload)
    return dict(list(paths.items())[:MAX_FILES])


def _defined_names(code: Sequence[ChunkPayload]) -> list[str]:
    """The names that the results define and that are worth looking for, most relevant first."""
    names: dict[str, None] = {}
    for payload in code:
        for name in _names_of(payload):
            if len(name) >= MIN_NAME_CHARS and not name.startswith("__"):
                names.setdefault(name)
    return list(names)[:MAX_NAMES]


def _names_of(payload: ChunkPayload) -> Iterator[str]:
    if payload.symbol is None or payload.symbol_kind == "module":
        yield from payload.names[:1]
        return
    owner, _, own = payload.symbol.rpartition(".")
    # A plain word such as `run` is the name of many methods; who uses the class says more.
    if not owner or is_code_like(own):
        yield own
    if owner:
        yield owner.rpartition(".")[2]


def _python_targets(path: str, source: str, indexed: frozenset[str]) -> Iterator[str]:
    if not path.endswith((".py", ".pyi")) or not source:
        return
    dots = len(source) - len(source.lstrip("."))
    module = source.lstrip(".").replace(".", "/")
    if dots:
        folder = posixpath.dirname(path)
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        roots = [folder]
    else:
        roots = _roots(path)
    for root in roots:
        stem = posixpath.join(root, module).rstrip("/")
        for target in (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi"):
            if target in indexed:
                yield target
                return


def _roots(path: str) -> list[str]:
    """The folders above a file, from which a dotted path may be counted: the outermost first."""
    folders = [""]
    for part in path.split("/")[:-1]:
        folders.append(posixpath.join(folders[-1], part))
    return folders

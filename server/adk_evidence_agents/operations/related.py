"""Files that belong to what was found: those that it imports, those that use it, and pages that mention it.

Cheap and for any language: imports are read from the found files by their form and resolved to indexed files; users
and pages are what the sparse branch finds for a name, if the name stands there as a call, in an import or as a word.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice, zip_longest
from pathlib import PurePosixPath

from adk_evidence.errors import CollectionUnavailableError, SourceError
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.search.session import Session
from adk_evidence.store.base import Filter, Fusion, Match, Prefetch
from adk_evidence.text.identifiers import is_code_like, query_lexical_text
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
_R = re.compile(r"\bsource[ \t]*\([ \t]*[\"'](?P<source>[^\"'\n]+)[\"']")
_SCRIPT_EXTENSIONS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_TAILS = ("", *_SCRIPT_EXTENSIONS, *(f"/index{extension}" for extension in _SCRIPT_EXTENSIONS))
_IMPORT_LINE = r"^[ \t]*(?:from\b[^\n]*\bimport\b|import\b|export\b)[^\n]*"


def related_files(found: Sequence[Found]) -> list[RelatedFile]:
    """The files related to results of one index, which are best first; the closest relation first, each file once."""
    if not found:
        return []
    name, session = found[0].name, found[0].session
    own = {item.payload.path for item in found}
    code = [item.payload for item in found if item.hit.kind == "code"]
    relations = [*_imports(session.index, name, code)]
    # Once a collection is gone, it is not asked for the next name. The search has already warned of this.
    with suppress(CollectionUnavailableError):
        relations.extend(_uses(session, name, code, own))
    return _in_turns(file for file in relations if file.file_path not in own)


def imported_paths(path: str, text: str, indexed: frozenset[str]) -> list[str]:
    """The indexed files that the file at a path of the repository imports, in its order."""
    imports = _imports_in(path, text[:MAX_SCANNED_CHARS])
    targets = [next((one for one in candidates if one in indexed), path) for candidates in imports]
    return [target for target in dict.fromkeys(targets) if target != path]


def _imports_in(path: str, text: str) -> Iterator[Iterable[str]]:
    """The paths that each import of a file may mean, the likeliest first."""
    folder = posixpath.dirname(path)
    if path.endswith((".py", ".pyi")):
        for match in _PYTHON.finditer(text):
            yield _python_paths(path, match["source"] or match["module"] or "")
    for match in _SCRIPT.finditer(text):
        stem = posixpath.normpath(posixpath.join(folder, match["source"]))
        # TypeScript writes the extension that the compiled file will have.
        stems = (stem, re.sub(r"\.[cm]?jsx?\Z", "", stem))
        yield [stem + tail for stem in stems for tail in _TAILS]
    for match in _R.finditer(text):
        source = match["source"]
        yield (posixpath.normpath(posixpath.join(folder, source)), posixpath.normpath(source))


def _python_paths(path: str, source: str) -> Iterator[str]:
    module = source.lstrip(".")
    dots = len(source) - len(module)
    above = PurePosixPath(path).parents
    # A dotted path may be counted from any folder above the file: the outermost first.
    folders = [above[min(dots, len(above)) - 1]] if dots else reversed(above)
    for folder in folders if source else ():
        stem = folder / module.replace(".", "/")
        yield from (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi")


def _in_turns(relations: Iterable[RelatedFile]) -> list[RelatedFile]:
    """Each file once. The relations take turns, so that no relation crowds out the others."""
    closest: dict[str, RelatedFile] = {}
    for file in relations:
        closest.setdefault(file.file_path, file)
    by_relation: dict[str, list[RelatedFile]] = {}
    for file in closest.values():
        by_relation.setdefault(file.relation, []).append(file)
    turns = zip_longest(*(files[:MAX_EACH] for files in by_relation.values()))
    return [file for turn in turns for file in turn if file is not None]


def _imports(index: Index, name: str, code: Sequence[ChunkPayload]) -> Iterator[RelatedFile]:
    indexed = frozenset(index.paths["code"])
    first_of_each: dict[str, ChunkPayload] = {}
    for payload in code:
        first_of_each.setdefault(payload.path, payload)
    for path, payload in islice(first_of_each.items(), MAX_FILES):
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
        related = partial(RelatedFile, name=symbol, collection_name=name)
        users = _users(session, "code", symbol, own)
        # A file that imports a name in one chunk and calls it in another calls it.
        calling = {payload.path for payload in users if called.search(payload.body)}
        for payload in users:
            if payload.path in calling:
                yield related(file_path=payload.path, relation="calls")
            elif imported.search(payload.body):
                yield related(file_path=payload.path, relation="imported_by")
        for payload in _users(session, "doc", symbol, own):
            if word.search(payload.body):
                yield related(file_path=payload.path, relation="mentions")


def _users(session: Session, kind: Kind, symbol: str, own: Collection[str]) -> list[ChunkPayload]:
    """The chunks of other files whose words are nearest to a name."""
    store = session.settings.store
    query = session.service.models.sparse.encode_query(query_lexical_text(symbol))
    if not query:
        return []
    branch = Prefetch(store.sparse_vector, query, MAX_USERS)
    elsewhere = Filter(must_not=(Match("path", tuple(own)), Match("origin", ("api-reference",))))
    answer = session.index.store.hybrid_query(
        store.collection(kind), [branch], Fusion(), limit=MAX_USERS, filter=elsewhere
    )
    return [ChunkPayload.model_validate(hit.payload) for hit in answer.fused]


def _defined_names(code: Sequence[ChunkPayload]) -> list[str]:
    """The names that the results define and that are worth looking for, most relevant first."""
    names = dict.fromkeys(name for payload in code for name in _names_of(payload))
    return [name for name in names if len(name) >= MIN_NAME_CHARS and not name.startswith("__")][:MAX_NAMES]


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

"""The symbols of the published index, as every surface asks for them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from adk_evidence.api.lacks import Import, import_at, lack_at
from adk_evidence.commands import with_options
from adk_evidence.embedding.base import DenseEmbedder
from adk_evidence.errors import EvidenceError, IndexMissingError, InvalidRequestError
from adk_evidence.index.opened import Index
from adk_evidence.models.citation import code_citation
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.manifest import IndexManifest, is_uncommitted
from adk_evidence.symbols.lookup import Symbols
from adk_evidence.symbols.table import kept_table
from adk_evidence.targets.about import About, about_index, has_vectors, make_target_embedder
from adk_evidence.targets.imports import PublicImports, type_imports
from adk_evidence.targets.installation import availability, find_installed
from adk_evidence.targets.internals import standing
from adk_evidence.targets.search import Scored, TargetSearch, typed_as
from adk_evidence.targets.sets import find_set, load_set
from adk_evidence.targets.target import (
    MAX_QUERY_CHARS,
    MAX_TARGETS,
    RankedTarget,
    SearchMode,
    Target,
    TargetAnswer,
)

STALE = "The targets are of an earlier state of the indexed files; `{command}` builds them anew."
# The `score` of a target is its rank's; the `score` of a result is the search's.
_COPIED = RankedTarget.model_fields.keys() & Target.model_fields.keys() - {"score", "alias_of"}


class CurrentSymbols:
    """The definitions and the ranked targets of the published index.

    Each part is read when it is first asked for, and again when the index or the targets change. Methods may be called
    from several threads.

    Args:
        settings: Validated settings.
        dense: Dense model of the profile, to share a model that is loaded; `targets.embedding` may name another model.
    """

    def __init__(self, settings: Settings, dense: DenseEmbedder | None = None) -> None:
        self._settings = settings
        shared = dense if settings.targets.embedding == "profile" else None
        self._embedder: DenseEmbedder = shared or make_target_embedder(settings)
        self._generations = open_generations(settings)
        self._lock = threading.Lock()
        self._symbols: tuple[Index, Symbols] | None = None
        self._targets_lock = threading.Lock()
        self._wanted: tuple[IndexManifest, About] | None = None
        self._targets: tuple[tuple[str, Path, bool], TargetSearch] | None = None

    def of(self, index: Index) -> Symbols:
        """The definitions of an open index.

        Raises:
            CollectionUnavailableError: A collection cannot answer.
        """
        with self._lock:
            if self._symbols is None or self._symbols[0] is not index:
                code, docs = self._settings.store.code_collection, self._settings.store.docs_collection
                self._symbols = (index, Symbols(kept_table(index.folder, index.store, code, docs), index.store, code))
            return self._symbols[1]

    def targets(self) -> TargetSearch:
        """The targets of the index that is published now. They do not need the index itself to be opened.

        Raises:
            IndexMissingError: Nothing was ingested yet.
            TargetsMissingError: The targets were not built yet.
            StoreError: The targets cannot be read.
        """
        return self._load_targets()[1]

    def known(self) -> TargetSearch | None:
        """The targets of the index that is published now; None where they were not built or cannot be read."""
        try:
            return self.targets()
        except EvidenceError:
            return None

    def imports(self) -> PublicImports | None:
        """The public import paths of the index that is published now; None where the targets do not know them."""
        search = self.known()
        return search.imports() if search is not None else None

    def find(self, query: str, limit: int = 10, mode: SearchMode = "auto", python: Path | None = None) -> TargetAnswer:
        """Search for targets.

        Args:
            query: A name, the beginning of one, or what the symbol is for.
            limit: How many at most, 1 to 100.
            mode: `auto` is the hybrid search, or words alone where the dense model or the vectors are missing.
            python: Interpreter or virtual environment of the user; see `find_installed`.

        Raises:
            InvalidRequestError: The query is empty or too long, the limit is out of range, or `python` is none.
            TargetsMissingError: The targets, or the vectors that the mode needs, were not built yet.
            ModelError: The dense model that the mode needs cannot answer.
            StoreError: There is no index, or it cannot be read.
        """
        query = _checked(query, limit)
        manifest, search = self._load_targets()
        about = search.set.about
        warnings = [with_options(STALE.format(command=self._settings.ingest_command))] if search.set.stale else []
        found, answered = search.find(query, limit, mode, warnings)
        imported = None
        if mode != "vector" and typed_as(query) == "name" and not any(item.why.match == "exact" for item in found):
            imported = self._imported(query, about)
            for path in imported.paths if imported else ():
                meant = [item for item in search.find(path, limit, "lexical", warnings)[0] if item.why.match == "exact"]
                if meant:
                    found, answered = meant, "lookup"
                    break
        installed = find_installed(python) if self._settings.corpora["code"].distribution is not None else None
        results = []
        for item in found:
            member = item.member
            target = member.target if member else search.targets[item.place]
            is_exact = item.why.match == "exact"
            known_as = standing(target, search.by_fqn)
            alias = search.by_fqn.get(target.alias_of) if target.alias_of else None
            result = RankedTarget(
                **{name: getattr(target, name) for name in _COPIED},
                alias_of=alias.import_path if alias else target.alias_of,
                inherited_from=member.inherited_from if member else None,
                inherited_by=member.inherited_by if member else (),
                standing=known_as,
                import_statement=target.import_statement if known_as != "private" else "",
                signature=target.signatures[0],
                fields=search.fields.of(target) if is_exact else (),
                field_notes=search.fields.notes(target) if is_exact else (),
                methods=search.members.methods(target) if is_exact else (),
                taken_by=search.takers().of(target) if is_exact else (),
                type_imports=type_imports(target) if is_exact else (),
                citation=_citation(target, about, manifest),
                rank_score=target.score,
                deprecated=target.parts.deprecated,
                score=round(item.score, 4),
                why=item.why,
                available=availability(target, installed, about.ref, _as_asked(query, item)),
            )
            results.append(result)
        return TargetAnswer(
            query=query,
            typed=typed_as(query),
            mode=answered,
            results=tuple(results),
            lacking="" if answered == "vector" else self._lacking(query, search, results, imported),
            ref=about.ref,
            installed=installed.version if installed else None,
            warnings=tuple(warnings),
        )

    def _imported(self, query: str, about: About) -> Import | None:
        """What an import path leads to that no target goes by: packages hand on what others define."""
        is_adk = about.repo == self._settings.corpora["code"].repo
        return import_at(about.ref, query) if is_adk else None

    def _lacking(
        self, query: str, search: TargetSearch, results: Sequence[RankedTarget], imported: Import | None
    ) -> str:
        """What is to say of a name that no public symbol has: what other versions say of the name comes first."""
        if imported is not None:
            is_found = not results or any(one.why.match == "exact" for one in results)
            return "" if is_found else _OTHERWISE[imported.leads_to].format(name=query)
        about, told = search.set.about, None
        exact = [one for one in results if one.why.match == "exact"]
        own = query.removesuffix("()").rpartition(".")[2]
        # What was public once may be private now.
        if about.repo == self._settings.corpora["code"].repo and all(one.standing != "public" for one in exact):
            is_name = typed_as(query) == "name"
            told = lack_at(about.ref, query) if is_name else None
        if told is not None:
            return f"{told} The nearest:" if results else told
        names = {one.symbol.rpartition(".")[2] for one in exact}
        # `Content` finds fields called `content`, and may be a class of another package.
        is_spelled_otherwise = own not in names and {name.lower() for name in names} == {own.lower()}
        return search.lacking(query) if results and (not exact or is_spelled_otherwise) else ""

    def _load_targets(self) -> tuple[IndexManifest, TargetSearch]:
        current = self._generations.current()
        if current is None:
            raise IndexMissingError(
                f"There is no index at {self._settings.index_path}.", f"Run `{self._settings.ingest_command}`."
            )
        with self._targets_lock:
            manifest, model = current.manifest, self._embedder
            # Kept: to hash the entries of all indexed files takes longer than a search.
            if self._wanted is None or self._wanted[0] is not manifest:
                self._wanted = (manifest, about_index(manifest, model.model, model.dimension))
            wanted = self._wanted[1]
            folder = find_set(self._settings.paths.targets, wanted, self._settings.ingest_command)
            key = (current.id, folder, has_vectors(folder))
            if self._targets is None or self._targets[0] != key:
                found = load_set(folder, wanted)
                self._targets = (key, TargetSearch(found, self._settings, model.embed_query))
            return manifest, self._targets[1]


# What the path of a name leads to that is not listed itself.
_OTHERWISE = {
    "module": "`{name}` is a module, and modules are not listed; the nearest symbols:",
    "definition": "`{name}` can be imported, and is not listed; the nearest:",
    "elsewhere": "`{name}` can be imported, and comes from another package; the nearest:",
}


def _as_asked(query: str, found: Scored) -> Sequence[str]:
    """The names by which a member was asked for, or else is known: those of classes that inherit it."""
    if found.why.match == "exact":
        return (query,) if "." in query else ()
    return [f"{heir}.{found.member.target.name}" for heir in found.member.inherited_by] if found.member else ()


def _checked(query: str, limit: int) -> str:
    wanted = " ".join(query.split())
    if not wanted:
        raise InvalidRequestError("The query is empty.", "Type a name or what the symbol is for.")
    if len(wanted) > MAX_QUERY_CHARS:
        raise InvalidRequestError(f"The query is longer than {MAX_QUERY_CHARS} characters.", "Shorten it.")
    if not 1 <= limit <= MAX_TARGETS:
        raise InvalidRequestError(f"The limit must be from 1 to {MAX_TARGETS}.")
    return wanted


def _citation(target: Target, about: About, manifest: IndexManifest) -> str:
    uncommitted = (
        corpus.commit
        for name, corpus in manifest.corpora.items()
        if corpus.kind == "code" and is_uncommitted(name) and target.path in corpus.files
    )
    commit = next(uncommitted, about.commit)
    return code_citation(about.repo, commit, target.path, target.lines.start, target.lines.end)

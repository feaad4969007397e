"""The search for targets as every surface calls it, on the published index."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from adk_evidence.commands import with_options
from adk_evidence.errors import IndexMissingError, InvalidRequestError, ModelError, TargetsMissingError
from adk_evidence.models.citation import code_citation
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.manifest import IndexManifest, is_uncommitted
from adk_evidence.symbols.targets.availability import availability, find_installed
from adk_evidence.symbols.targets.embedder import make_target_embedder
from adk_evidence.symbols.targets.files import TargetSet, about_index, find_set, has_vectors, load_set
from adk_evidence.symbols.targets.model import (
    MAX_QUERY_CHARS,
    MAX_TARGETS,
    AnswerMode,
    RankedTarget,
    Scored,
    SearchMode,
    TargetAnswer,
)
from adk_evidence.symbols.targets.names import TargetNames, typed_as
from adk_evidence.symbols.targets.search import (
    HybridSearchProvider,
    LexicalSearchProvider,
    SearchProvider,
    VectorSearchProvider,
)

NO_VECTORS = "The targets have no vectors yet, so they are searched by words alone; `adk-ingest targets` adds them."
STALE = "The targets are of an earlier state of the indexed files; `adk-ingest targets` builds them anew."


class QueryEmbedder(Protocol):
    """What a search asks of the dense model."""

    @property
    def model(self) -> str:
        """Name of the model with all that changes its vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed_query(self, text: str) -> list[float]:
        """Encode one query."""


class LoadedTargets:
    """A set of targets with its searches; each is made when it is first asked for."""

    def __init__(
        self,
        found: TargetSet,
        settings: Settings,
        embedder: QueryEmbedder,
        uncommitted: Mapping[str, str] | None = None,
    ) -> None:
        self.about = found.about
        self._uncommitted = uncommitted or {}
        self.targets = found.targets
        self.stale = found.stale
        self.has_vectors = found.vectors is not None
        self.names = TargetNames(found.targets)
        self._vectors = found.vectors
        self._settings = settings
        self._embedder = embedder
        self._lock = threading.RLock()

    def provider(self, mode: SearchMode) -> SearchProvider:
        """The search of a mode; `auto` is the hybrid one where there are vectors.

        Raises:
            TargetsMissingError: The mode needs vectors, and there are none yet.
        """
        with self._lock:
            if mode == "lexical" or (mode == "auto" and not self.has_vectors):
                return self._lexical
            return self._vector if mode == "vector" else self._hybrid

    def present(self, found: Sequence[Scored]) -> list[RankedTarget]:
        """Results without their availability."""
        return [self._present(item) for item in found]

    def _present(self, item: Scored) -> RankedTarget:
        target = self.targets[item.place]
        commit = self._uncommitted.get(target.path, self.about.commit)
        citation = code_citation(self.about.repo, commit, target.path, target.lines.start, target.lines.end)
        return RankedTarget(
            fqn=target.fqn,
            name=target.name,
            symbol=target.symbol,
            type=target.type,
            import_path=target.import_path,
            import_statement=target.import_statement,
            summary=target.summary,
            signature=target.signatures[0],
            path=target.path,
            lines=target.lines,
            citation=citation,
            rank=target.rank,
            rank_score=target.score,
            deprecated=target.parts.deprecated,
            alias_of=target.alias_of,
            score=round(item.score, 4),
            why=item.why,
        )

    @cached_property
    def _lexical(self) -> LexicalSearchProvider:
        return LexicalSearchProvider(self.targets, self.names, self._settings.embedding.sparse, self.present)

    @cached_property
    def _vector(self) -> VectorSearchProvider:
        if self._vectors is None:
            raise TargetsMissingError("The targets have no vectors yet.", "Run `adk-ingest targets`.")
        return VectorSearchProvider(self._vectors, self._embedder.embed_query, self.present)

    @cached_property
    def _hybrid(self) -> HybridSearchProvider:
        rrf_k = self._settings.retrieval.rrf_k
        return HybridSearchProvider(self.targets, self.names, self._lexical, self._vector, rrf_k, self.present)


class CurrentTargets:
    """The targets of the published index, loaded when first asked for and once more when they change.

    Methods may be called from several threads.

    Args:
        settings: Validated settings.
        embedder: Dense model of queries, to share one that is loaded; by default the one that the settings name.
    """

    def __init__(self, settings: Settings, embedder: QueryEmbedder | None = None) -> None:
        self._settings = settings
        self._embedder: QueryEmbedder = embedder or make_target_embedder(settings)
        self._generations = open_generations(settings)
        self._lock = threading.Lock()
        self._manifest: IndexManifest | None = None
        self._folder: Path | None = None
        self._known: tuple[tuple[str, Path, bool], LoadedTargets] | None = None

    @classmethod
    def beside(cls, settings: Settings, dense: QueryEmbedder) -> CurrentTargets:
        """The targets next to a service of the same settings, whose dense model is shared where both use it."""
        return cls(settings, dense if settings.targets.embedding == "profile" else None)

    def load(self) -> LoadedTargets:
        """The targets of the index that is published now.

        Raises:
            IndexMissingError: Nothing was ingested yet.
            TargetsMissingError: The targets were not built yet.
            StoreError: They cannot be read.
        """
        current = self._generations.current()
        if current is None:
            raise IndexMissingError(f"There is no index at {self._settings.index_path}.", "Run `adk-ingest all`.")
        with self._lock:
            root = self._settings.paths.targets
            if self._manifest is not current.manifest:
                self._wanted = about_index(current.manifest, self._embedder.model, self._embedder.dimension)
                self._manifest = current.manifest
            folder = find_set(root, self._wanted)
            key = (current.id, folder, has_vectors(folder))
            if self._known is None or self._known[0] != key:
                uncommitted = {
                    path: corpus.commit
                    for name, corpus in current.manifest.corpora.items()
                    if corpus.kind == "code" and is_uncommitted(name)
                    for path in corpus.files
                }
                found = load_set(root, self._wanted)
                self._known = (key, LoadedTargets(found, self._settings, self._embedder, uncommitted))
            return self._known[1]

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
        loaded = self.load()
        warnings = [with_options(STALE)] if loaded.stale else []
        if mode == "auto" and not loaded.has_vectors:
            warnings.append(with_options(NO_VECTORS))
        found, answered = self._search(loaded, query, limit, mode, warnings)
        installed = find_installed(self._settings.corpora["code"].distribution, python)
        results = tuple(
            shown.model_copy(
                update={"available": availability(loaded.targets[item.place], installed, loaded.about.ref)}
            )
            for item, shown in zip(found, loaded.present(found), strict=True)
        )
        return TargetAnswer(
            query=query,
            typed=typed_as(query),
            mode=answered,
            results=results,
            ref=loaded.about.ref,
            installed=installed.version if installed else None,
            warnings=tuple(warnings),
        )

    def _search(
        self, loaded: LoadedTargets, query: str, limit: int, mode: SearchMode, warnings: list[str]
    ) -> tuple[list[Scored], AnswerMode]:
        if mode != "vector" and typed_as(query) == "name":
            by_name = loaded.names.look_up(query, limit)
            if by_name.is_enough(limit):
                return by_name.scored(), "lookup"
        provider = loaded.provider(mode)
        answered: AnswerMode = mode if mode != "auto" else "hybrid" if loaded.has_vectors else "lexical"
        try:
            return provider.rank(query, limit), answered
        except ModelError as exc:
            if mode != "auto":
                raise
            warnings.append(f"{exc.message} The targets are searched by words alone.")
            return loaded.provider("lexical").rank(query, limit), "lexical"


async def search_ranked_targets(
    targets: CurrentTargets, query: str, limit: int = 10, mode: SearchMode = "auto", python: Path | None = None
) -> TargetAnswer:
    """`CurrentTargets.find` off the event loop: the tool that agents call (ranked-target-search section 4)."""
    return await asyncio.to_thread(targets.find, query, limit, mode, python)


def _checked(query: str, limit: int) -> str:
    wanted = " ".join(query.split())
    if not wanted:
        raise InvalidRequestError("The query is empty.", "Type a name or what the symbol is for.")
    if len(wanted) > MAX_QUERY_CHARS:
        raise InvalidRequestError(f"The query is longer than {MAX_QUERY_CHARS} characters.", "Shorten it.")
    if not 1 <= limit <= MAX_TARGETS:
        raise InvalidRequestError(f"The limit must be from 1 to {MAX_TARGETS}.")
    return wanted

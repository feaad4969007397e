"""Builds the ranked targets of the published index: read, rank, write, embed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from packaging.utils import canonicalize_name

from adk_evidence.api.links import build_export_map
from adk_evidence.api.module import ModuleText
from adk_evidence.embedding.base import DenseEmbedder
from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.embedding.shipped import shipped_vectors
from adk_evidence.errors import SourceError
from adk_evidence.index.sources import SourceReader
from adk_evidence.index.versions import distribution_name
from adk_evidence.models.chunk import sha256_text
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.manifest import CorpusEntry, IndexManifest
from adk_evidence.targets.about import About, about_index, code_corpus_name, has_vectors, make_target_embedder
from adk_evidence.targets.sets import Contents, load_set, remove_old, write_set, write_vectors
from adk_evidence.targets.target import Target, rich_text
from adk_ingest.chunking.python import module_name
from adk_ingest.progress import Progress
from adk_ingest.targets.extract import public_symbols
from adk_ingest.targets.extras import Declared, NeededExtras, declared_at
from adk_ingest.targets.hidden import hidden_symbols
from adk_ingest.targets.outside import outside_imports
from adk_ingest.targets.rank import FORMULA, rank_targets
from adk_ingest.targets.references import ReferenceGraph, public_paths, shown_paths
from adk_ingest.vectors.compute import Work
from adk_ingest.vectors.costs import cap_of, refuse_above_the_cap

SOURCE_FOLDER = "src/"
# Of a checkout without a `src` folder: what stands in one of these is not part of the package.
NOT_SHIPPED = frozenset({"tests", "test", "testing", "examples", "samples", "benchmarks", "contributing", "scripts"})


def build_targets(
    settings: Settings,
    progress: Progress,
    *,
    dense: DenseEmbedder | None = None,
    vectors: bool = True,
) -> Path:
    """Build the targets of the published index, or the part of them that is missing; returns their folder.

    Args:
        settings: Validated settings.
        progress: Receives the steps.
        dense: Dense embedder; by default the one that the settings name.
        vectors: False leaves out the vectors, which take longest.

    Raises:
        IndexMissingError: Nothing was ingested yet.
        SourceError: The code cannot be read, or is no longer what was indexed.
        ModelError: The dense model cannot be had.
        StoreError: The set cannot be written.
        CostCapError: To embed the targets would cost more than the settings allow; nothing was spent.
    """
    model: DenseEmbedder = dense or make_target_embedder(settings, report=progress.note)
    about, folder, contents = _targets(settings, model, progress)
    if not folder.is_dir():
        write_set(settings.paths.targets, about, contents, FORMULA)
    if vectors and not has_vectors(folder):
        _embed(settings, folder, contents.targets, model, progress)
    remove_old(settings.paths.targets, keep=folder)
    return folder


def _targets(settings: Settings, model: DenseEmbedder, progress: Progress) -> tuple[About, Path, Contents]:
    """The targets of the published index, read from their folder if they were written before.

    What few answers need is only read where the folder is to be written.
    """
    from adk_evidence.index.opened import source_readers

    with open_generations(settings).open_current() as lease:
        about = about_index(lease.manifest, model.model, model.dimension)
        folder = settings.paths.targets / about.key
        if folder.is_dir():
            return about, folder, Contents(load_set(folder, about).targets)
        declared = _declared(settings, lease.manifest, lease.folder)
        contents = _read(lease.manifest, source_readers(lease.manifest, lease.folder), declared, progress)
    return about.model_copy(update={"targets": len(contents.targets)}), folder, contents


def _read(
    manifest: IndexManifest, readers: dict[str, SourceReader], declared: Declared | None, progress: Progress
) -> Contents:
    progress.stage("targets")
    texts: dict[str, str] = {}
    pages: list[str] = []
    for name, corpus in manifest.corpora.items():
        if corpus.kind == "code":
            texts.update(_code(corpus, readers[name]))
        elif corpus.source != "api-reference":
            pages += filter(None, map(readers[name].read, corpus.files))
    modules = [
        ModuleText(dotted, path, text) for path, text in texts.items() if (dotted := module_name(path)) is not None
    ]
    return read_targets(modules, build_export_map(texts), pages, declared)


def _declared(settings: Settings, manifest: IndexManifest, folder: Path) -> Declared | None:
    """What the distribution of the indexed code requires, where its source tells."""
    root = folder / manifest.corpora[code_corpus_name(manifest)].location.root
    return declared_at(root, canonicalize_name(distribution_name(settings)))


def read_targets(
    modules: Sequence[ModuleText],
    exports: Mapping[str, str],
    pages: Sequence[str],
    declared: Declared | None = None,
) -> Contents:
    """The ranked targets of modules, what is defined beside them, and what they import from other packages.

    Args:
        modules: The code.
        exports: What `build_export_map` returned for it.
        pages: Texts of the documentation in Markdown.
        declared: What the distribution of the code requires; without this, no extras are told.
    """
    graph = ReferenceGraph(modules, exports)
    elsewhere = public_paths(modules, pages, graph)
    shown = shown_paths(modules, pages, graph, exports)
    symbols = [
        symbol.imported_from(shown) for symbol in public_symbols(modules, exports, elsewhere, graph.class_aliases)
    ]
    extras = NeededExtras(modules, declared) if declared is not None else None
    targets = rank_targets(symbols, graph, pages, extras)
    hidden = hidden_symbols(modules, {symbol.definition for symbol in symbols})
    return Contents(targets, hidden, extras.by_import() if extras is not None else {}, outside_imports(modules))


def _code(corpus: CorpusEntry, reader: SourceReader) -> Iterator[tuple[str, str]]:
    """Paths and texts of the modules that the package ships, as they were indexed."""
    paths = [path for path in corpus.files if module_name(path) is not None]
    below_source = [path for path in paths if path.startswith(SOURCE_FOLDER)]
    for path in below_source or [path for path in paths if not NOT_SHIPPED & set(path.split("/"))]:
        text = reader.read(path)
        if text is None or sha256_text(text) != corpus.files[path].sha256:
            text = reader.read_at_commit(path)
        if text is None or sha256_text(text) != corpus.files[path].sha256:
            raise SourceError(f"{path} is no longer what was indexed.", "Run `adk-ingest code` first.")
        yield path, text


def _embed(
    settings: Settings, folder: Path, targets: Sequence[Target], model: DenseEmbedder, progress: Progress
) -> None:
    """Write the vectors of a set; those that were computed before come from the cache."""
    keys = [sha256_text(rich_text(target)) for target in targets]
    texts = dict(zip(keys, map(rich_text, targets), strict=True))
    with closing(EmbeddingCache(settings.paths.embedding_cache, shipped_vectors())) as cache:
        work = Work(model, cache, texts, texts.items)
        instead = "find symbols by name and words alone"
        refuse_above_the_cap("Embedding the symbols", work.cost(), cap_of((model,)), instead)
        progress.stage("embed", work.missing, "symbols")
        for count in work.compute():
            progress.advance(count)
        known = work.of(texts)
        cache.need(folder, {(model.model, model.dimension): {"targets": list(texts)}})
    rows = [known[key] for key in keys]
    write_vectors(folder, np.stack(rows) if rows else np.zeros((0, model.dimension), dtype=np.float32))

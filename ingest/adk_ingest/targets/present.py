"""Whether the symbols of the published code were ranked; apart from ranking them, which imports much more."""

from __future__ import annotations

from adk_evidence.embedding.base import DenseEmbedder
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.targets.about import about_index, built_sets, has_vectors, make_target_embedder


def has_targets(settings: Settings, *, dense: DenseEmbedder | None = None, vectors: bool = True) -> bool:
    """Whether there are targets of the published code as it is, with vectors where these are asked for.

    Raises:
        IndexMissingError: Nothing was ingested yet.
        TargetsMissingError: The index holds no code.
    """
    with open_generations(settings).open_current() as lease:
        model: DenseEmbedder = dense or make_target_embedder(settings)
        wanted = about_index(lease.manifest, model.model, model.dimension)
    return any(
        about.is_similar(wanted) and about.code == wanted.code and (has_vectors(folder) or not vectors)
        for folder, about in built_sets(settings.paths.targets)
    )

"""What grows with every run, and what keeps it small: the embedding cache and the manifests of runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import adk_ingest.publishing.manifest as manifest
import adk_ingest.vectors.caches as caches
from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.models.chunk import sha256_text
from adk_ingest.commands.cli import app
from adk_ingest.commands.doctor import examine
from adk_ingest.vectors.caches import prune_cache
from tests.corpora import HashEmbedder, Workplace, change

pytestmark = pytest.mark.slow

RETRY = "docs/tools/retry.md"


@pytest.fixture
def keep_nothing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, vectors that no index needs are too many."""
    return lambda: monkeypatch.setattr(caches, "MAX_BYTES", 0)


def kept(workplace: Workplace, texts: list[str]) -> set[str]:
    with closing(EmbeddingCache(workplace.settings.paths.embedding_cache)) as cache:
        found = cache.get_many(HashEmbedder.model, HashEmbedder.dimension, [sha256_text(text) for text in texts])
    return {text for text in texts if sha256_text(text) in found}


def edit(workplace: Workplace, number: int) -> str:
    """Another text of one section; returns what is embedded of it by the next run."""
    page = workplace.docs / RETRY
    page.write_text(f"# Retry\n\nThe runner waits {'longer ' * number} before it asks again.\n")
    embedder = HashEmbedder()
    workplace.ingest(dense=embedder)
    (text,) = embedder.embedded
    return text


def test_a_run_removes_what_no_index_needs_and_nothing_else(
    workplace: Workplace, keep_nothing: Callable[[], None]
) -> None:
    keep_nothing()
    first = HashEmbedder()
    workplace.ingest(dense=first)
    assert kept(workplace, first.embedded) == set(first.embedded)
    one, two, three = (edit(workplace, number) for number in (1, 2, 3))
    # The current generation's and that of the one before it, to which `rollback` goes.
    assert kept(workplace, [one, two, three]) == {two, three}
    unchanged = [text for text in first.embedded if "Retry" not in text]
    assert unchanged and kept(workplace, unchanged) == set(unchanged)
    # So an index that must be built anew takes all vectors from the cache.
    workplace.overrides = {"ingestion": {"api_reference": True, "chunking": {"min_chunk_chars": 399}}}
    assert workplace.ingest().vectors_embedded == 0


def test_a_home_folder_that_was_moved_keeps_the_vectors_of_its_index(
    workplace: Workplace, keep_nothing: Callable[[], None]
) -> None:
    first = HashEmbedder()
    workplace.ingest(dense=first)
    workplace.home.rename(workplace.root / "moved")
    workplace.overrides = {"home": workplace.root / "moved"}
    changed = edit(workplace, 1)
    keep_nothing()
    prune_cache(workplace.settings)
    unchanged = [text for text in first.embedded if "Retry" not in text]
    assert kept(workplace, [*unchanged, changed]) == {*unchanged, changed}


def test_nothing_is_removed_where_not_all_that_an_index_needs_is_known(
    workplace: Workplace, keep_nothing: Callable[[], None]
) -> None:
    first = HashEmbedder()
    workplace.ingest(dense=first)
    cache = EmbeddingCache(workplace.settings.paths.embedding_cache)
    # A process was killed, or the disk was full, before the notes were taken.
    cache._db().execute("DELETE FROM needs").connection.commit()
    cache.close()
    edit(workplace, 1)
    keep_nothing()
    assert prune_cache(workplace.settings) == 0
    assert kept(workplace, first.embedded) == set(first.embedded)


def test_nothing_is_removed_while_an_index_of_the_home_is_written(
    workplace: Workplace, keep_nothing: Callable[[], None]
) -> None:
    workplace.ingest()
    texts = [edit(workplace, number) for number in (1, 2, 3)]
    keep_nothing()
    with workplace.generations.writing("another run"):
        assert prune_cache(workplace.settings) == 0
    assert kept(workplace, texts) == set(texts)


def test_the_vectors_of_another_index_of_the_home_stay(
    workplace: Workplace, tmp_path: Path, keep_nothing: Callable[[], None]
) -> None:
    first = HashEmbedder()
    workplace.ingest(dense=first)
    keep_nothing()
    # An index elsewhere that shares the cache.
    workplace.overrides = {"store": {"path": tmp_path / "elsewhere"}}
    change(workplace.docs / RETRY, "busy service", "tired service")
    workplace.ingest()
    assert kept(workplace, first.embedded) == set(first.embedded)


def test_a_status_and_the_doctor_say_the_size_of_the_cache(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(workplace.root / "config"))

    def size() -> Any:
        result = CliRunner().invoke(app, ["status", "--json", "--home", str(workplace.home)])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["cache"]

    assert size()["bytes"] == 0 and not workplace.home.exists()
    workplace.ingest()
    assert size()["bytes"] > 0 and size()["max_bytes"] == 2_000_000_000
    shown = next(finding for finding in examine(workplace.settings) if finding.what == "cache")
    assert shown.state == "ok" and str(workplace.settings.paths.embedding_cache) in shown.found


def test_manifests_of_old_runs_go(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "KEPT_RUNS", 3)
    runs = [workplace.ingest().run_id for _ in range(5)]
    assert {path.name for path in workplace.settings.paths.runs.iterdir()} == {f"{run_id}.json" for run_id in runs[-3:]}

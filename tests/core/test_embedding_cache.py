from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from adk_evidence.embedding import cache as cache_module
from adk_evidence.embedding.cache import EmbeddingCache, Vector
from adk_evidence.embedding.shipped import ShippedVectors, packed
from adk_evidence.models.chunk import sha256_text

DAY = 86_400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


def vectors(count: int, dimension: int = 4, start: int = 0) -> dict[str, Vector]:
    return {f"hash-{i}": np.full(dimension, i, dtype=np.float32) for i in range(start, start + count)}


def test_vectors_come_back_as_they_were_kept(path: Path) -> None:
    kept = vectors(2500)  # more than one statement may name
    EmbeddingCache(path).put_many("m", 4, kept)
    found = EmbeddingCache(path).get_many("m", 4, [*kept, "unknown"])
    assert found.keys() == kept.keys()
    assert all(np.array_equal(found[key], kept[key]) and found[key].dtype == np.float32 for key in kept)


def test_models_and_dimensions_are_kept_apart(path: Path) -> None:
    cache = EmbeddingCache(path)
    cache.put_many("a", 4, vectors(1))
    assert cache.get_many("b", 4, ["hash-0"]) == {}
    assert cache.get_many("a", 8, ["hash-0"]) == {}


def test_vectors_that_ship_stand_in_for_those_that_nobody_kept(path: Path) -> None:
    rows = np.random.default_rng(5).normal(size=(400, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    known = {sha256_text(str(number)): row for number, row in enumerate(rows)}
    file = path.parent.parent / "vectors.safetensors"
    file.write_bytes(save(packed(known), {"model": "m"}))
    cache, first, *_ = EmbeddingCache(path, ShippedVectors(file)), *known
    keys = [*known, sha256_text("unknown")]
    assert cache.present("m", 8, keys) == known.keys()
    found = cache.get_many("m", 8, keys)
    assert found.keys() == known.keys() and all(vector.dtype == np.float32 for vector in found.values())
    assert min(found[key] @ row for key, row in known.items()) > 0.97
    assert np.linalg.norm([*found.values()], axis=1) == pytest.approx(np.ones(400), abs=1e-6)
    # Of another model, nothing ships; what was computed here is exact; and a cache without a file has nothing.
    assert cache.present("n", 8, keys) == cache.get_many("m", 4, keys).keys() == set()
    cache.put_many("m", 8, {first: known[first]})
    assert np.array_equal(cache.get_many("m", 8, keys)[first], known[first])
    assert EmbeddingCache(path).present("m", 8, keys) == {first}


def _garble_all(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [_garble_all, _cut])
def test_a_damaged_file_is_begun_anew(damage: object, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = EmbeddingCache(path)
    cache.put_many("m", 4, vectors(500))
    cache.close()
    assert callable(damage)
    damage(path)
    with caplog.at_level(logging.WARNING):
        assert cache.get_many("m", 4, ["hash-499"]) == {}
    assert "damaged" in caplog.text
    cache.put_many("m", 4, vectors(2))
    assert EmbeddingCache(path).get_many("m", 4, list(vectors(2))).keys() == vectors(2).keys()


def test_a_place_that_cannot_be_written_costs_only_the_caching(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = EmbeddingCache(tmp_path / "file" / "embeddings.sqlite")
    with caplog.at_level(logging.WARNING):
        cache.put_many("m", 4, vectors(1))
        assert cache.get_many("m", 4, ["hash-0"]) == {}
        assert cache.size() == (0, 0)
    assert caplog.text.count("cannot be used") == 1


def test_pruning_keeps_what_was_used_last(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = EmbeddingCache(path)
    monkeypatch.setattr(cache_module.time, "time", lambda: 100 * DAY)
    cache.put_many("m", 4, vectors(10))
    monkeypatch.setattr(cache_module.time, "time", lambda: 200 * DAY)
    cache.get_many("m", 4, ["hash-3"])
    cache.put_many("m", 4, vectors(2, start=20))
    assert cache.size() == (12, 12 * 16)
    assert cache.prune(max_bytes=3 * 16) == 9
    assert cache.size() == (3, 3 * 16)
    every = [*vectors(10), *vectors(2, start=20)]
    assert cache.get_many("m", 4, every).keys() == {"hash-3", "hash-20", "hash-21"}
    assert cache.prune(max_bytes=1000) == 0


def test_processes_share_one_file(path: Path) -> None:
    script = (
        "import sys, pathlib, numpy as np\n"
        "from adk_evidence.embedding.cache import EmbeddingCache\n"
        "cache, start = EmbeddingCache(pathlib.Path(sys.argv[1])), int(sys.argv[2])\n"
        "for i in range(start, start + 40):\n"
        "    cache.put_many('m', 4, {f'hash-{i}': np.full(4, i, dtype=np.float32)})\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([*command, str(40 * n)], env=environment) for n in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert len(EmbeddingCache(path).get_many("m", 4, list(vectors(120)))) == 120

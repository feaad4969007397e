"""Keeps computed vectors in a SQLite file, by model, dimension and hash of the input."""

from __future__ import annotations

import functools
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from adk_evidence.embedding.base import SparseEncoder, SparseVector
from adk_evidence.embedding.shipped import ShippedVectors
from adk_evidence.models.chunk import sha256_text

Method = TypeVar("Method", bound=Callable[..., Any])
Vector = NDArray[np.float32]

BUSY_SECONDS = 30.0
_DAY = 86_400
_LITTLE_ENDIAN = np.dtype("<f4")
# The dimension under which sparse vectors are kept: indices, then as many values, four bytes each.
SPARSE_DIMENSION = 0
_INDICES = np.dtype("<u4")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS models (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER NOT NULL, UNIQUE (name, dimension)
);
CREATE TABLE IF NOT EXISTS vectors (
    model INTEGER NOT NULL REFERENCES models (id), hash TEXT NOT NULL, vector BLOB NOT NULL,
    used_day INTEGER NOT NULL, PRIMARY KEY (model, hash)
);
CREATE TABLE IF NOT EXISTS needs (
    owner TEXT NOT NULL, item TEXT NOT NULL, model INTEGER NOT NULL REFERENCES models (id), hashes BLOB NOT NULL,
    PRIMARY KEY (owner, item, model)
);
"""
_HASH_BYTES = 32
_PRUNE = """
DELETE FROM vectors WHERE rowid IN (
    SELECT rowid FROM (
        SELECT rowid, sum(length(vector)) OVER (ORDER BY used_day, rowid) - length(vector) AS before
        FROM vectors
        WHERE NOT EXISTS (SELECT 1 FROM kept WHERE kept.model = vectors.model AND kept.hash = vectors.hash)
    ) WHERE before < ?
)
"""

_log = logging.getLogger(__name__)


def _else(default: object) -> Callable[[Method], Method]:
    """Decorates a method so that it never fails its caller: where SQLite fails, it warns and returns the default."""

    def guarded(method: Method) -> Method:
        @functools.wraps(method)
        def call(cache: EmbeddingCache, *args: Any, **kwargs: Any) -> Any:
            with cache._lock:
                try:
                    try:
                        return method(cache, *args, **kwargs)
                    except sqlite3.OperationalError:
                        raise
                    except sqlite3.DatabaseError as exc:  # the file is damaged, or is not an SQLite file at all
                        cache.close()
                        cache._remove_damaged(exc)
                        return method(cache, *args, **kwargs)
                except (sqlite3.Error, OSError) as exc:
                    cache._warn(f"The embedding cache {cache._path} cannot be used ({exc}); vectors are not kept.")
                    return default

        return cast(Method, call)

    return guarded


class EmbeddingCache:
    """A cache of vectors, safe with several threads and processes.

    The cache never fails its caller: a damaged file is removed with a warning and begun anew, and where SQLite
    cannot read or write (a full disk, a lock held too long) vectors are missing or not kept, with a warning.

    Vectors are named by the model, with all that changes its vectors, and by the hex SHA-256 of the input.

    Args:
        path: The file, which need not be there yet.
        shipped: Has vectors that are taken as they are, unless the file has them.
    """

    def __init__(self, path: Path, shipped: ShippedVectors | None = None) -> None:
        self._path = path
        self._shipped = shipped
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._warned = False

    def get_many(self, model: str, dimension: int, hashes: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, float32, by hash."""
        blobs = self._get(model, dimension, hashes)
        found = {key: np.frombuffer(blob, dtype=_LITTLE_ENDIAN).astype(np.float32) for key, blob in blobs.items()}
        if self._shipped is not None:
            found |= self._shipped.get_many(model, dimension, [key for key in hashes if key not in found])
        return found

    def present(self, model: str, dimension: int, hashes: Sequence[str]) -> AbstractSet[str]:
        """The hashes of which there is a vector; no vector is read."""
        kept = self._present(model, dimension, hashes)
        return kept if self._shipped is None else kept | self._shipped.has(model, dimension, hashes)

    @_else(frozenset())
    def _present(self, model: str, dimension: int, hashes: Sequence[str]) -> AbstractSet[str]:
        db = self._db()
        model_id = _model_id(db, model, dimension)
        return {key for (key,) in _rows(db, "hash", model_id, hashes)}

    def put_many(self, model: str, dimension: int, vectors: Mapping[str, Vector]) -> bool:
        """Keep vectors by hash, in one transaction; those that are there are replaced. Says whether they are kept."""
        rows = {key: np.asarray(vector, dtype=_LITTLE_ENDIAN).tobytes() for key, vector in vectors.items()}
        return self._put(model, dimension, rows)

    def get_sparse(self, model: str, hashes: Sequence[str]) -> dict[str, SparseVector]:
        return {key: _unpacked(blob) for key, blob in self._get(model, SPARSE_DIMENSION, hashes).items()}

    def put_sparse(self, model: str, vectors: Mapping[str, SparseVector]) -> None:
        self._put(model, SPARSE_DIMENSION, {key: _packed(vector) for key, vector in vectors.items()})

    @_else((0, 0))
    def size(self) -> tuple[int, int]:
        """Number of vectors, and bytes that they take."""
        count, taken = self._db().execute("SELECT count(*), coalesce(sum(length(vector)), 0) FROM vectors").fetchone()
        return count, taken

    @_else(None)
    def need(
        self,
        owner: Path,
        needed: Mapping[tuple[str, int], Mapping[str, Sequence[str]]],
        *,
        base: Path | None = None,
        gone: Sequence[str] = (),
    ) -> None:
        """Note which vectors a folder was made of: `prune` keeps them for as long as the folder exists.

        Where nothing was noted of `base`, not everything that this folder needs is known; see `knows`.

        Args:
            owner: The folder, e.g. of a generation.
            needed: By model and dimension: the hashes of the inputs, by the item of the folder that they belong to.
            base: The folder that this one was made of, whose items it has, too.
            gone: Items of `base` that the folder does not have, or has from `needed`.
        """
        db, name = self._db(), self._name(owner)
        with db:
            self._forget_dead(db)
            db.execute("DELETE FROM needs WHERE owner = ?", (name,))
            if base is not None:
                # With the mark that the base is known, if it is.
                copy = "INSERT INTO needs SELECT ?, item, model, hashes FROM needs WHERE owner = ?"
                db.execute(copy, (name, self._name(base)))
            else:
                db.execute("INSERT INTO needs VALUES (?, '', 0, x'')", (name,))
            db.executemany("DELETE FROM needs WHERE owner = ? AND item = ?", [(name, item) for item in gone])
            for (model, dimension), items in needed.items():
                model_id = _model_id(db, model, dimension)
                packed = [(name, item, model_id, bytes.fromhex("".join(keys))) for item, keys in items.items()]
                if model_id is not None:
                    db.executemany("INSERT OR REPLACE INTO needs VALUES (?, ?, ?, ?)", packed)

    @_else(False)
    def knows(self, owner: Path) -> bool:
        """Whether all vectors are noted that a folder was made of."""
        query = "SELECT 1 FROM needs WHERE owner = ? AND item = ''"
        return self._db().execute(query, (self._name(owner),)).fetchone() is not None

    @_else(0)
    def prune(self, max_bytes: int) -> int:
        """Remove the vectors that were not used for longest until the rest takes at most `max_bytes`.

        What an existing folder needs stays, whatever its size. Another process that writes meanwhile has to wait.

        Returns:
            How many were removed.
        """
        _, total = self.size()
        if total <= max_bytes:
            return 0
        db = self._db()
        with db:
            self._forget_dead(db)
            # With the types of `vectors`, without which the index is not used.
            db.execute("CREATE TEMP TABLE IF NOT EXISTS kept (model INTEGER, hash TEXT, PRIMARY KEY (model, hash))")
            db.execute("DELETE FROM kept")
            for model, packed in db.execute("SELECT model, hashes FROM needs").fetchall():
                keys = (packed[at : at + _HASH_BYTES].hex() for at in range(0, len(packed), _HASH_BYTES))
                db.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", ((model, key) for key in keys))
            removed = db.execute(_PRUNE, (total - max_bytes,)).rowcount
        if removed:
            with suppress(sqlite3.OperationalError):  # another process reads: the file shrinks another time
                db.execute("VACUUM")
        return removed

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @_else({})
    def _get(self, model: str, dimension: int, hashes: Sequence[str]) -> dict[str, bytes]:
        db = self._db()
        model_id = _model_id(db, model, dimension)
        found: dict[str, bytes] = {}
        stale = []
        today = int(time.time()) // _DAY
        for key, blob, used_day in _rows(db, "hash, vector, used_day", model_id, hashes):
            found[key] = blob
            if used_day < today:
                stale.append((today, model_id, key))
        if stale:  # at most once a day for each vector: reading stays reading
            with db:
                db.executemany("UPDATE vectors SET used_day = ? WHERE model = ? AND hash = ?", stale)
        return found

    @_else(False)
    def _put(self, model: str, dimension: int, rows: Mapping[str, bytes]) -> bool:
        today = int(time.time()) // _DAY
        with self._db() as db:
            db.execute("INSERT OR IGNORE INTO models (name, dimension) VALUES (?, ?)", (model, dimension))
            model_id = _model_id(db, model, dimension)
            db.executemany(
                "INSERT OR REPLACE INTO vectors (model, hash, vector, used_day) VALUES (?, ?, ?, ?)",
                [(model_id, key, blob, today) for key, blob in rows.items()],
            )
        return True

    def _name(self, owner: Path) -> str:
        """What a folder is called here: its place as seen from the cache, since home folders are moved and copied."""
        place = os.path.realpath(owner)
        try:
            return os.path.relpath(place, os.path.realpath(self._path.parent))
        except ValueError:  # on another drive
            return place

    def _forget_dead(self, db: sqlite3.Connection) -> None:
        """Drop the needs of folders that were removed."""
        owners = [owner for (owner,) in db.execute("SELECT DISTINCT owner FROM needs")]
        dead = [(owner,) for owner in owners if not (self._path.parent.resolve() / owner).is_dir()]
        db.executemany("DELETE FROM needs WHERE owner = ?", dead)

    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # The lock makes the connection safe to hand between threads.
            db = sqlite3.connect(self._path, timeout=BUSY_SECONDS, check_same_thread=False)
            try:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                db.executescript(_SCHEMA)
            except sqlite3.Error:
                db.close()
                raise
            self._connection = db
        return self._connection

    def _remove_damaged(self, cause: Exception) -> None:
        # Under a lock between processes, and only if the file is still damaged: another may have begun a new file.
        with FileLock(self._path.with_name(f"{self._path.name}.lock")):
            if _is_sound(self._path):
                return
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        _log.warning("The embedding cache was damaged (%s); a new one is begun.", cause)

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            _log.warning(message)


def _packed(vector: SparseVector) -> bytes:
    indices = np.array(vector.indices, dtype=_INDICES)
    return indices.tobytes() + np.array(vector.values, dtype=_LITTLE_ENDIAN).tobytes()


def _unpacked(blob: bytes) -> SparseVector:
    half = len(blob) // 2
    indices, values = np.frombuffer(blob[:half], dtype=_INDICES), np.frombuffer(blob[half:], dtype=_LITTLE_ENDIAN)
    return SparseVector(tuple(indices.tolist()), tuple(values.tolist()))


def _model_id(db: sqlite3.Connection, model: str, dimension: int) -> int | None:
    row = db.execute("SELECT id FROM models WHERE name = ? AND dimension = ?", (model, dimension)).fetchone()
    return None if row is None else int(row[0])


def _rows(db: sqlite3.Connection, columns: str, model_id: int | None, hashes: Sequence[str]) -> Iterator[Any]:
    """Columns of the vectors of a model that are there; of no model, there are none."""
    # Only names of columns are put into the statement.
    query = f"SELECT {columns} FROM vectors WHERE model = ? AND hash IN (SELECT value FROM json_each(?))"  # noqa: S608
    return db.execute(query, (model_id, json.dumps(list(hashes))))


def _is_sound(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as db:
            return bool(db.execute("PRAGMA quick_check").fetchone()[0] == "ok")
    except sqlite3.OperationalError:
        return True  # busy, not damaged
    except sqlite3.DatabaseError:
        return False


def sparse_key(model: str, kind: str) -> str:
    """The name under which the sparse vectors of a model are kept for kind `doc` or `code`."""
    return f"{model};{kind}"


class CachedSparseEncoder:
    """A `SparseEncoder` that keeps the vectors of documents; it has all other attributes of `encoder`."""

    def __init__(self, encoder: SparseEncoder, cache: EmbeddingCache) -> None:
        self._encoder = encoder
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        model = sparse_key(self._encoder.model, kind)
        keys = [sha256_text(text) for text in texts]
        found = self._cache.get_sparse(model, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, self._encoder.encode_documents(list(missing.values()), kind), strict=True))
            self._cache.put_sparse(model, fresh)
            found.update(fresh)
        return [found[key] for key in keys]

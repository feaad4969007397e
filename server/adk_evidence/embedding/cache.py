"""Keeps computed vectors in a SQLite file, by model, dimension and hash of the input."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from adk_evidence.embedding.base import SparseEncoder, SparseVector
from adk_evidence.models.chunk import sha256_text

T = TypeVar("T")
Vector = NDArray[np.float32]

BUSY_SECONDS = 30.0
_VARIABLES = 900  # below SQLite's oldest limit of 999 for one statement
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

_log = logging.getLogger(__name__)


class EmbeddingCache:
    """A cache of vectors, safe with several threads and processes.

    It never fails its caller: a damaged file is moved aside with a warning and begun anew, and where SQLite
    cannot read or write (a full disk, a lock held too long) vectors are missing or not kept, with a warning.

    Args:
        path: The SQLite file; it and its folder are created.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._warned = False

    def get_many(self, model: str, dimension: int, hashes: Sequence[str]) -> dict[str, Vector]:
        """Look vectors up.

        Args:
            model: Name of the model with all that changes its vectors.
            dimension: Length of a vector.
            hashes: Hex SHA-256 of the inputs.

        Returns:
            The vectors that are there, float32, by hash.
        """
        return self._guarded(lambda db: self._get(db, model, dimension, hashes), default={})

    def put_many(self, model: str, dimension: int, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by the hash of their input, in one transaction; those that are there are replaced.

        Raises:
            ValueError: A vector's length is not `dimension`.
        """
        rows = {}
        for key, vector in vectors.items():
            array = np.ascontiguousarray(vector, dtype=_LITTLE_ENDIAN)
            if array.shape != (dimension,):
                raise ValueError(f"a vector of shape {array.shape} for dimension {dimension}")
            rows[key] = array.tobytes()
        self._guarded(lambda db: self._put(db, model, dimension, rows), default=None)

    def get_sparse(self, model: str, hashes: Sequence[str]) -> dict[str, SparseVector]:
        """Look sparse vectors up, by the hash of their input; the arguments are those of `get_many`."""
        nothing: dict[str, bytes] = {}
        rows = self._guarded(lambda db: self._rows(db, model, SPARSE_DIMENSION, hashes), default=nothing)
        return {key: vector for key, blob in rows.items() if (vector := _unpacked(blob)) is not None}

    def put_sparse(self, model: str, vectors: Mapping[str, SparseVector]) -> None:
        """Keep sparse vectors by the hash of their input, in one transaction."""
        rows = {key: _packed(vector) for key, vector in vectors.items()}
        self._guarded(lambda db: self._put(db, model, SPARSE_DIMENSION, rows), default=None)

    def size(self) -> tuple[int, int]:
        """Number of vectors, and bytes that they take."""
        query = "SELECT count(*), coalesce(sum(length(vector)), 0) FROM vectors"
        return self._guarded(lambda db: tuple(db.execute(query).fetchone()), default=(0, 0))

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
        self._guarded(lambda db: self._need(db, owner, needed, base, gone), default=None)

    def knows(self, owner: Path) -> bool:
        """Whether all vectors are noted that a folder was made of."""
        return self._guarded(lambda db: _is_known(db, self._name(owner)), default=False)

    def prune(self, max_bytes: int) -> int:
        """Remove the vectors that were not used for longest until the rest takes at most `max_bytes`.

        What an existing folder needs stays, whatever it takes. No other process should write meanwhile: it would have
        to wait.

        Returns:
            How many were removed.
        """
        return self._guarded(lambda db: self._prune(db, max_bytes), default=0)

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _get(self, db: sqlite3.Connection, model: str, dimension: int, hashes: Sequence[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        for key, blob in self._rows(db, model, dimension, hashes).items():
            vector = np.frombuffer(blob, dtype=_LITTLE_ENDIAN) if len(blob) == 4 * dimension else None
            if vector is not None and np.isfinite(vector).all():
                found[key] = vector.astype(np.float32)
        return found

    def _rows(self, db: sqlite3.Connection, model: str, dimension: int, hashes: Sequence[str]) -> dict[str, bytes]:
        model_id = _model_id(db, model, dimension)
        if model_id is None:
            return {}
        found: dict[str, bytes] = {}
        stale = []
        today = int(time.time()) // _DAY
        for part in _parts(hashes):
            marks = ",".join("?" * len(part))
            # The marks are the only thing put into the statement.
            query = f"SELECT hash, vector, used_day FROM vectors WHERE model = ? AND hash IN ({marks})"  # noqa: S608
            for key, blob, used_day in db.execute(query, (model_id, *part)):
                found[key] = blob
                if used_day < today:
                    stale.append((today, model_id, key))
        if stale:  # at most once a day for each vector: reading stays reading
            with db:
                db.executemany("UPDATE vectors SET used_day = ? WHERE model = ? AND hash = ?", stale)
        return found

    def _put(self, db: sqlite3.Connection, model: str, dimension: int, rows: Mapping[str, bytes]) -> None:
        today = int(time.time()) // _DAY
        with db:
            db.execute("INSERT OR IGNORE INTO models (name, dimension) VALUES (?, ?)", (model, dimension))
            model_id = _model_id(db, model, dimension)
            db.executemany(
                "INSERT OR REPLACE INTO vectors (model, hash, vector, used_day) VALUES (?, ?, ?, ?)",
                [(model_id, key, blob, today) for key, blob in rows.items()],
            )

    def _need(
        self,
        db: sqlite3.Connection,
        owner: Path,
        needed: Mapping[tuple[str, int], Mapping[str, Sequence[str]]],
        base: Path | None,
        gone: Sequence[str],
    ) -> None:
        name = self._name(owner)
        with db:
            self._forget_dead(db)
            db.execute("DELETE FROM needs WHERE owner = ?", (name,))
            if base is not None:
                # With the mark that the base is known, if it is.
                copy = "INSERT INTO needs SELECT ?, item, model, hashes FROM needs WHERE owner = ?"
                db.execute(copy, (name, self._name(base)))
            else:
                db.execute("INSERT INTO needs VALUES (?, '', 0, x'')", (name,))
            rows = [(name, item) for item in gone]
            db.executemany("DELETE FROM needs WHERE owner = ? AND item = ?", rows)
            for (model, dimension), items in needed.items():
                model_id = _model_id(db, model, dimension)
                packed = [(name, item, model_id, bytes.fromhex("".join(keys))) for item, keys in items.items()]
                if model_id is not None:
                    db.executemany("INSERT OR REPLACE INTO needs VALUES (?, ?, ?, ?)", packed)

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

    def _prune(self, db: sqlite3.Connection, max_bytes: int) -> int:
        total = int(db.execute("SELECT coalesce(sum(length(vector)), 0) FROM vectors").fetchone()[0])
        if total <= max_bytes:
            return 0
        with db:
            self._forget_dead(db)
            # With the types of `vectors`, without which the index is not used.
            db.execute("CREATE TEMP TABLE IF NOT EXISTS kept (model INTEGER, hash TEXT, PRIMARY KEY (model, hash))")
            db.execute("DELETE FROM kept")
            for model, packed in db.execute("SELECT model, hashes FROM needs").fetchall():
                keys = (packed[at : at + _HASH_BYTES].hex() for at in range(0, len(packed), _HASH_BYTES))
                db.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", ((model, key) for key in keys))
            removed = db.execute(
                """
                DELETE FROM vectors WHERE rowid IN (
                    SELECT rowid FROM (
                        SELECT rowid, sum(length(vector)) OVER (ORDER BY used_day, rowid) - length(vector) AS before
                        FROM vectors
                        WHERE NOT EXISTS (
                            SELECT 1 FROM kept WHERE kept.model = vectors.model AND kept.hash = vectors.hash
                        )
                    ) WHERE before < ?
                )
                """,
                (total - max_bytes,),
            ).rowcount
        if removed:
            with suppress(sqlite3.OperationalError):  # another process reads: the file shrinks another time
                db.execute("VACUUM")
        return removed

    def _guarded(self, action: Callable[[sqlite3.Connection], T], default: T) -> T:
        with self._lock:
            try:
                try:
                    return action(self._open())
                except sqlite3.OperationalError:
                    raise
                except sqlite3.DatabaseError as exc:  # the file is damaged, or no SQLite file at all
                    self.close()
                    self._move_aside(exc)
                    return action(self._open())
            except (sqlite3.Error, OSError) as exc:
                self._warn(f"The embedding cache {self._path} cannot be used ({exc}); vectors are not kept.")
                return default

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # The lock above makes the connection safe to hand between threads.
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

    def _move_aside(self, cause: Exception) -> None:
        # Under a lock between processes, and only if it is still damaged: another may have begun a new file.
        with FileLock(self._path.with_name(f"{self._path.name}.lock")):
            if _is_sound(self._path):
                return
            aside = self._path.with_name(f"{self._path.name}.damaged-{time.time_ns()}")
            for older in self._path.parent.glob(f"{self._path.name}.damaged-*"):
                older.unlink(missing_ok=True)
            self._path.rename(aside)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        _log.warning("The embedding cache was damaged (%s); it is now %s and a new one is begun.", cause, aside.name)

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            _log.warning(message)


def _is_known(db: sqlite3.Connection, owner: str) -> bool:
    return db.execute("SELECT 1 FROM needs WHERE owner = ? AND item = ''", (owner,)).fetchone() is not None


def _packed(vector: SparseVector) -> bytes:
    indices = np.array(vector.indices, dtype=_INDICES)
    return indices.tobytes() + np.array(vector.values, dtype=_LITTLE_ENDIAN).tobytes()


def _unpacked(blob: bytes) -> SparseVector | None:
    if len(blob) % 8:
        return None
    half = len(blob) // 2
    values = np.frombuffer(blob[half:], dtype=_LITTLE_ENDIAN)
    if not np.isfinite(values).all():
        return None
    return SparseVector(tuple(np.frombuffer(blob[:half], dtype=_INDICES).tolist()), tuple(values.tolist()))


def _parts(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), _VARIABLES):
        yield items[start : start + _VARIABLES]


def _model_id(db: sqlite3.Connection, model: str, dimension: int) -> int | None:
    row = db.execute("SELECT id FROM models WHERE name = ? AND dimension = ?", (model, dimension)).fetchone()
    return None if row is None else int(row[0])


def _is_sound(path: Path) -> bool:
    try:
        db = sqlite3.connect(path, timeout=BUSY_SECONDS)
        try:
            return bool(db.execute("PRAGMA quick_check").fetchone()[0] == "ok")
        finally:
            db.close()
    except sqlite3.OperationalError:
        return True  # busy, not damaged
    except sqlite3.DatabaseError:
        return False


def sparse_key(model: str, kind: str) -> str:
    """The name under which the sparse vectors of a model are kept for kind `doc` or `code`."""
    return f"{model};{kind}"


class CachedSparseEncoder:
    """A `SparseEncoder` that keeps the vectors of documents, for an encoder that runs a model.

    Args:
        encoder: Computes what is not kept yet; all its other attributes are reached through this object.
        cache: Where vectors are kept.
    """

    def __init__(self, encoder: SparseEncoder, cache: EmbeddingCache) -> None:
        self._encoder = encoder
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        """Encode lexical texts; those that were encoded before are looked up."""
        model = sparse_key(self._encoder.model, kind)
        keys = [sha256_text(text) for text in texts]
        found = self._cache.get_sparse(model, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, self._encoder.encode_documents(list(missing.values()), kind), strict=True))
            self._cache.put_sparse(model, fresh)
            found.update(fresh)
        return [found[key] for key in keys]

"""A build in parts: several workers, on one machine or on many, fill the collections of one index on a Qdrant server.

    <folder>/build.json            what all parts agree on; the first worker writes it
    <folder>/part-2-of-4.lock      locked by the worker that makes the part
    <folder>/part-2-of-4/part.json what the part has written, once it is complete
    <folder>/part-2-of-4/runs/     manifests and failure reports of its runs
    <folder>/part-2-of-4/pages/    generated pages of its modules
    <folder>/published             the generation that the build became

Every worker looks at all files, since pages, exports and copies of files depend on other files. It chunks, embeds and
writes only its own: those whose path has a hash in its range. So a file stays in its part when others come and go. The
id of a point is a hash of what it holds, so a worker that died runs again alone and writes the same points once more.
Nothing that a point holds depends on other chunks: lengths for BM25 are fixed in the settings, and the server computes
inverse document frequencies when it is asked.

Workers publish nothing. `finishing.py` does that once all parts are there.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from filelock import FileLock, Timeout
from pydantic import BaseModel, Field, ValidationError

from adk_evidence import __version__
from adk_evidence.errors import IngestError, InvalidRequestError, StoreError
from adk_evidence.files import write_atomic
from adk_evidence.index.codebase import Codebase
from adk_evidence.models.chunk import KINDS
from adk_evidence.settings import Settings
from adk_evidence.store.base import CollectionSpec
from adk_evidence.store.manifest import CollectionEntry, CorpusEntry, FileEntry
from adk_ingest.changes import Changes
from adk_ingest.chunkers import index_fingerprint
from adk_ingest.corpora import CorpusInput
from adk_ingest.discovery import Discovery
from adk_ingest.manifest import RunFiles, RunManifest, now
from adk_ingest.questions import written_questions
from adk_ingest.wording import counted

MAX_PARTS = 1000
PUBLISHED = "published"
BUILD = "build.json"
_RECORD = "part.json"
_RUNS = "runs"
_PART = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")
_HASH_BITS = 64
# How long to wait for another worker that reads or writes build.json; that takes milliseconds.
_JOIN_SECONDS = 30.0
_EMPTY_FOLDER = "Make all parts of the same sources, settings and version, or name an empty folder for a new build."


@dataclass(frozen=True)
class Part:
    """One of several parts of a build, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """A part as users write it, e.g. `2/4`.

        Raises:
            InvalidRequestError: It is none.
        """
        found = _PART.fullmatch(text)
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of <= MAX_PARTS:
            raise InvalidRequestError(
                f"--part {text!r} names no part.", f"Write it as 2/4: the second of four, at most {MAX_PARTS}."
            )
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def owns(self, path: str) -> bool:
        """Whether a file is this part's: the hashes of paths are cut into as many equal ranges as there are parts."""
        digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()
        place = int.from_bytes(digest[: _HASH_BITS // 8], "big")
        return (place * self.of) >> _HASH_BITS == self.number - 1


class SourceState(BaseModel, frozen=True):
    """What a corpus is made of; `listing` is a digest of the paths and texts of all its files."""

    commit: str
    ref: str | None = None
    root: str
    files: int
    listing: str
    state: str


class Build(BaseModel, frozen=True):
    """What all parts of a build agree on.

    `fingerprint` has models, chunkers and their settings, `questions` is a digest of what was written on the machine
    for chunks, `store` on which server collections are created and how, `collections` their names there. All chunks
    carry `created_at`.
    """

    format: Literal[1] = 1
    id: str
    created_at: str
    of: int
    program: str
    codebase: Codebase | None = None
    fingerprint: dict[str, str | int]
    questions: str
    store: dict[str, Any]
    shapes: dict[str, CollectionEntry]
    sources: dict[str, SourceState]
    collections: dict[str, str]

    @classmethod
    def of_corpora(
        cls,
        settings: Settings,
        part: Part,
        corpora: Iterable[CorpusInput],
        specs: Sequence[CollectionSpec],
        codebase: Codebase | None,
    ) -> Build:
        """The build that a worker would begin: a new one, with collections of its own."""
        build_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
        return cls(
            id=build_id,
            created_at=now(),
            of=part.of,
            program=__version__,
            codebase=codebase,
            fingerprint=index_fingerprint(settings),
            questions=written_questions(settings).answers_digest,
            store=_creation(settings),
            shapes={spec.name: CollectionEntry.of(spec, 0) for spec in specs},
            sources={
                corpus.name: SourceState(
                    commit=corpus.source.commit,
                    ref=corpus.source.ref,
                    root=str(corpus.source.root),
                    files=len(corpus.files),
                    listing=listing((file.path, file.file_hash) for file in corpus.files),
                    state=corpus.state,
                )
                for corpus in corpora
            },
            collections={spec.name: f"{spec.name}-{build_id}" for spec in specs},
        )

    def here(self, settings: Settings) -> Build:
        """What the build would be with this machine's program and settings."""
        own = {"program": __version__, "fingerprint": index_fingerprint(settings)}
        return self.in_store(settings).model_copy(update=own)

    def in_store(self, settings: Settings) -> Build:
        """What the build would be with this machine's settings of the store alone."""
        return self.model_copy(update={"store": _creation(settings)})

    @property
    def specs(self) -> list[CollectionSpec]:
        """The collections."""
        return [entry.spec(name) for name, entry in self.shapes.items()]

    def difference(self, other: Build) -> str | None:
        """How another build differs, as the end of a sentence about that one; None where their parts fit together."""
        if other.of != self.of:
            return f"it is cut into {other.of} parts, and the build into {self.of}"
        if other.program != self.program:
            return f"it is of ADK Evidence {other.program}, and the build of {self.program}"
        if other.codebase != self.codebase:
            return "it is of another codebase, or of other patterns or chunk sizes"
        for what, ours, theirs in (
            ("", self.fingerprint, other.fingerprint),
            ("store.", self.store, other.store),
        ):
            for key in sorted({*ours, *theirs}):
                if ours.get(key) != theirs.get(key):
                    return f"its {what}{key} is {theirs.get(key)}, and the build's {ours.get(key)}"
        if other.shapes != self.shapes:
            return "its collections or vectors have other names or sizes"
        if other.questions != self.questions:
            return "other questions were written on that machine (questions.jsonl of the home folder)"
        return self._of_sources(other)

    def _of_sources(self, other: Build) -> str | None:
        for name in sorted({*self.sources, *other.sources}):
            ours, theirs = self.sources.get(name), other.sources.get(name)
            if ours is None or theirs is None:
                return f"{name} is a corpus of {'the build' if ours else 'that part'} alone"
            if ours.root != theirs.root:
                return f"its {name} lies in {theirs.root}, and the build's in {ours.root}: citations need one path"
            if ours.commit != theirs.commit:
                return f"its {name} is at {theirs.commit}, and the build's at {ours.commit}"
            if ours.ref != theirs.ref:
                refs = [source.ref or "no branch or tag" for source in (theirs, ours)]
                return f"its {name} is of {refs[0]}, and the build's of {refs[1]}"
            if ours.listing != theirs.listing:
                files = counted(theirs.files, "file", "files")
                return f"its {name} has {files}, and not the same paths and texts as the build's {ours.files:,}"
            if ours.state != theirs.state:
                return f"what the pages of its {name} depend on besides their texts differs (navigation)"
        return None


def _creation(settings: Settings) -> dict[str, Any]:
    """On which server collections are created, and how."""
    store = settings.store
    names = {f"{kind}_collection": store.collection(kind) for kind in KINDS}
    memory = ("quantization", "vectors_on_disk", "on_disk_payload")
    return {
        "kind": store.kind,
        "url": store.url,
        **names,
        **store.placement,
        **{name: getattr(store, name) for name in memory},
    }


def listing(files: Iterable[tuple[str, str]]) -> str:
    """A digest of paths and hashes of texts, whatever their order."""
    material = hashlib.sha256()
    for path, digest in sorted(files):
        material.update(f"{path}\0{digest}\n".encode("utf-8", "surrogatepass"))
    return material.hexdigest()


class PartRecord(BaseModel):
    """What a part has written: its run and its own files, by corpus. `build` is the build that it was made for."""

    number: int
    build: Build
    run: RunManifest
    corpora: dict[str, CorpusEntry] = Field(default_factory=dict)


class PartFolder:
    """The place of one part in the folder of a build.

    Args:
        folder: The folder that the parts share, or that they are copied into before the build is finished.
        part: Which part.
        codebase: The codebase that the index is of; None for the ADK's.
    """

    def __init__(self, folder: Path, part: Part, codebase: Codebase | None = None) -> None:
        self.part = part
        self.codebase = codebase
        self._shared = folder
        self.folder = part_folder(folder, part)

    @property
    def runs(self) -> RunFiles:
        """The manifests of the part's runs: workers of one home must not take each other for dead."""
        return RunFiles(self.folder / _RUNS)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep a second worker of this part out.

        Raises:
            IngestError: Another process makes this part, or the build was published.
            StoreError: The folder cannot be written.
        """
        # Beside the part's folder, which `finish --discard` removes with the lock held.
        lock = FileLock(self.folder.with_name(f"{self.folder.name}.lock"), thread_local=False)
        try:
            self._shared.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout:
            raise IngestError(f"Another process makes part {self.part}.", "Wait until it ends, or stop it.") from None
        except OSError as exc:
            raise StoreError.of_disk(f"The folder {self.folder} cannot be written", exc) from exc
        try:
            if (self._shared / PUBLISHED).exists():
                raise IngestError(
                    f"The build in {self._shared} is published.", "Name an empty folder for a new build with --build."
                )
            yield
        finally:
            lock.release()

    def join(self, wanted: Build) -> Build:
        """The build that this part belongs to; without one, `wanted` becomes the build.

        Raises:
            IngestError: The part does not fit into the build.
            StoreError: The folder cannot be read or written.
        """
        path = self._shared / BUILD
        with build_locked(self._shared):
            if not path.exists():
                write_atomic(path, wanted.model_dump_json(indent=1).encode())
            build = read_build(self._shared)
        if difference := build.difference(wanted):
            raise IngestError(f"Part {self.part} does not fit into the build: {difference}.", _EMPTY_FOLDER)
        return build

    def cut(self, corpora: Iterable[CorpusInput], build: Build) -> list[CorpusInput]:
        """The corpora with the part's own files; the first part speaks for what belongs to no file."""
        speaks = self.part.number == 1
        return [
            replace(
                corpus,
                created_at=build.created_at,
                files=tuple(file for file in corpus.files if self.part.owns(file.path)),
                found=corpus.found if speaks else Discovery(),
                check=corpus.check if speaks else list,
            )
            for corpus in corpora
        ]

    def require_unchanged(self, changes: Sequence[Changes]) -> None:
        """Make sure that what was cut into chunks are the texts that the build is of.

        Raises:
            IngestError: A file changed during the run, so that the part does not fit into the build.
        """
        for change in changes:
            for file in change.corpus.files:
                if change.files[file.path].sha256 != file.file_hash:
                    raise IngestError(
                        f"{file.path} changed while part {self.part} was made, and nothing was written.",
                        "Put the text back that the build is of and make the part again, or name an empty folder for "
                        "a new build.",
                    )

    def begin(self, build: Build) -> None:
        """Before points are written: the part is not complete any more.

        Raises:
            IngestError: The build was discarded meanwhile.
            StoreError: The folder cannot be written.
        """
        self._require_same(build)
        try:
            (self.folder / _RECORD).unlink(missing_ok=True)
        except OSError as exc:
            raise StoreError.of_disk(f"The folder {self.folder} cannot be written", exc) from exc

    def _require_same(self, build: Build) -> None:
        try:
            same = read_build(self._shared).id == build.id
        except IngestError:
            same = False
        if not same:
            raise IngestError(
                f"The build that part {self.part} was made for is no longer in {self._shared}.",
                "Make all parts again, if that was not intended.",
            )

    def record(self, build: Build, run: RunManifest, changes: Sequence[Changes]) -> None:
        """Say that the part is complete.

        Raises:
            IngestError: The build was discarded meanwhile.
            StoreError: The folder cannot be written.
        """
        self._require_same(build)
        corpora = {change.corpus.name: change.entry() for change in changes}
        made = PartRecord(number=self.part.number, build=build, run=run, corpora=corpora)
        try:
            write_atomic(self.folder / _RECORD, made.model_dump_json().encode())
        except OSError as exc:
            raise StoreError.of_disk(f"The folder {self.folder} cannot be written", exc) from exc


def part_folder(folder: Path, part: Part) -> Path:
    return folder / f"part-{part.number}-of-{part.of}"


@contextmanager
def build_locked(folder: Path) -> Iterator[None]:
    """Keep other processes from making and removing the build in a folder.

    Raises:
        StoreError: Another process does that for long, or the folder cannot be written.
    """
    try:
        with FileLock(folder / "build.lock", timeout=_JOIN_SECONDS, thread_local=False):
            yield
    except Timeout:
        raise StoreError(f"The file {folder / BUILD} is locked by another process.", "Try again.") from None
    except OSError as exc:
        raise StoreError.of_disk(f"The folder {folder} cannot be written", exc) from exc


def read_build(folder: Path) -> Build:
    """The build in a folder.

    Raises:
        IngestError: There is none, or it cannot be read.
    """
    try:
        return Build.model_validate_json((folder / BUILD).read_bytes())
    except FileNotFoundError:
        raise IngestError(
            f"There is no build in {folder}.", "Name the folder that the parts were given with --build."
        ) from None
    except (OSError, ValidationError) as exc:
        raise IngestError(
            f"The file {folder / BUILD} cannot be read.", "Begin a new build in an empty folder."
        ) from exc


def read_parts(folder: Path, build: Build) -> list[PartRecord]:
    """The records of all parts of a build, in their order.

    Raises:
        IngestError: A part is missing or incomplete, does not belong to the build, or the parts together do not hold
            every file of the build once. The sentence names the first such part.
    """
    records = [_read_part(folder, build, Part(number, build.of)) for number in range(1, build.of + 1)]
    for name, source in build.sources.items():
        files = [file for record in records for file in _files(record, name).items()]
        if len(files) != source.files or listing((path, file.sha256) for path, file in files) != source.listing:
            raise IngestError(
                f"The parts hold {len(files):,} of the {source.files:,} files of {name}, or other texts of them.",
                _EMPTY_FOLDER,
            )
    return records


def _read_part(folder: Path, build: Build, part: Part) -> PartRecord:
    path, again = part_folder(folder, part) / _RECORD, "Run that part, then finish the build again."
    try:
        record = PartRecord.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        begun = path.parent.is_dir()
        raise IngestError(f"Part {part} of the build {'did not end' if begun else 'is missing'}.", again) from None
    except (OSError, ValidationError) as exc:
        raise IngestError(f"The record of part {part} cannot be read.", again) from exc
    difference = build.difference(record.build)
    if not difference and record.build.id != build.id:
        difference = "it was made for a build of its own, in another folder"
    if not difference and record.number != part.number:
        difference = f"it is part {record.number}"
    if difference:
        raise IngestError(f"What lies in {path.parent.name} does not fit into the build: {difference}.", again)
    for name in build.sources:
        if foreign := next((file for file in _files(record, name) if not part.owns(file)), None):
            raise IngestError(f"Part {part} holds {foreign} of {name}, which is another part's.", again)
    return record


def _files(record: PartRecord, name: str) -> dict[str, FileEntry]:
    return record.corpora[name].files if name in record.corpora else {}


def united(records: Sequence[PartRecord]) -> dict[str, CorpusEntry]:
    """The corpora of an index, with the files of all its parts."""
    corpora: dict[str, CorpusEntry] = {}
    for record in records:
        for name, entry in record.corpora.items():
            files = {**(corpora[name].files if name in corpora else {}), **entry.files}
            corpora[name] = entry.model_copy(update={"files": files})
    return {
        name: entry.model_copy(update={"files": dict(sorted(entry.files.items()))})
        for name, entry in corpora.items()
        if entry.files
    }

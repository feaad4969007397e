"""Named indexes: any codebase beside the main index of the ADK, each in a folder of its own.

<home>/indexes/<name>/codebase.json   which folder it is of, and how that is cut
<home>/indexes/<name>/index/          its generations, and beside them its run manifests
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated

from filelock import FileLock, Timeout
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from adk_evidence.commands import spelled
from adk_evidence.errors import InvalidRequestError, StoreError, UnknownIndexError
from adk_evidence.globs import Globs, any_case
from adk_evidence.models.citation import short_name
from adk_evidence.paths import Home
from adk_evidence.settings import (
    ChunkingSettings,
    CodeChunkingSettings,
    CorporaSettings,
    CorpusSettings,
    DocsChunkingSettings,
    Settings,
)
from adk_evidence.store.factory import open_generations
from adk_evidence.store.files import write_atomic
from adk_evidence.tokens import CHARS_PER_TOKEN

MAIN = "adk"
RECORD = "codebase.json"
DOCS_EXTENSIONS = (".md", ".mdx", ".rst", ".txt", ".adoc")
DEFAULT_CHUNK_TOKENS = 1000
DEFAULT_OVERLAP_TOKENS = 200
MAX_NAME_CHARS = 64

# Not indexed unless a glob with `!` takes it back: what tools made, and what only machines read. Credentials are left
# out by ingestion itself, and no glob takes them back.
ALWAYS_EXCLUDED = (
    ".git/",
    ".hg/",
    ".svn/",
    "node_modules/",
    "bower_components/",
    "dist/",
    "build/",
    ".next/",
    ".nuxt/",
    ".venv/",
    "venv/",
    "site-packages/",
    "__pycache__/",
    ".tox/",
    ".nox/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".idea/",
    "*.egg-info/",
    "renv/library/",
    "*.min.js",
    "*.min.css",
    "*.map",
    "*.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "go.sum",
    "*.svg",
    "*.csv",
    "*.tsv",
    "*.ipynb",
    "*.log",
    ".gitignore",
    ".gitattributes",
)
MAX_FILE_BYTES = 2_000_000

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
# Windows gives these names to devices, with any extension.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
# Another process that registers or removes an index; both take it milliseconds.
_REGISTRY_SECONDS = 10


def _checked_name(name: str) -> str:
    if name == MAIN:
        raise ValueError(f"{MAIN!r} is the main index")
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS or name.endswith(".") or _DEVICES.fullmatch(name):
        raise ValueError(
            f"a name has 1 to {MAX_NAME_CHARS} lower-case letters, digits, '.', '_' and '-', begins with a letter or "
            "digit, and is no name of a device"
        )
    return name


def _absolute(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("it must be an absolute path")
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError("its name is not valid Unicode") from None
    return path


def _checked_globs(globs: tuple[str, ...]) -> tuple[str, ...]:
    try:
        Globs(globs)
    except ValueError as exc:
        raise ValueError(f"a glob is not valid: {exc}") from None
    return globs


IndexName = Annotated[str, AfterValidator(_checked_name)]
_Globs = Annotated[tuple[str, ...], AfterValidator(_checked_globs)]


class Codebase(BaseModel):
    """A codebase that has an index of its own, and how it is cut."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: IndexName = Field(description="Name of the index.")
    path: Annotated[Path, AfterValidator(_absolute)] = Field(description="Absolute path of the codebase's folder.")
    file_patterns: _Globs = Field(default=(), description="Gitignore-style globs of its files; empty: all text files.")
    exclude_patterns: _Globs = Field(default=(), description="Globs of what to leave out; `!` takes one back.")
    chunk_tokens: int = Field(default=DEFAULT_CHUNK_TOKENS, ge=64, le=8000, description="Largest size of a chunk.")
    overlap_tokens: int = Field(
        default=DEFAULT_OVERLAP_TOKENS, ge=0, description="What a chunk repeats of the one before it, if it was cut."
    )

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> Codebase:
        if self.overlap_tokens >= self.chunk_tokens:
            raise ValueError("overlap_tokens must be smaller than chunk_tokens")
        return self

    @property
    def docs_name(self) -> str:
        """The name of its documentation: of the corpus, and of the collection in the store."""
        return f"{self.name}-documentation"

    @property
    def code_name(self) -> str:
        """The name of its code: of the corpus, and of the collection in the store."""
        return f"{self.name}-codebase"


class _Record(BaseModel):
    """What `codebase.json` holds."""

    model_config = ConfigDict(frozen=True)

    created_at: str
    codebase: Codebase


class CodebaseSettings(Settings):
    """The settings under which a named index is read and built; get them from `settings_of`."""

    codebase: Codebase

    @property
    def paths(self) -> Home:
        """The layout of the home folder, with the index's own folder in it."""
        return Home(super().paths.root, self.codebase.name)

    @property
    def subject(self) -> str:
        """What the index is about, for sentences."""
        return self.codebase.name

    @property
    def expects_every_kind(self) -> bool:
        """A project may well have no documentation."""
        return False

    @property
    def ingest_command(self) -> str:
        """The command that builds the index anew."""
        return spelled("adk-ingest", "codebase", str(self.codebase.path), "--name", self.codebase.name)


@dataclass(frozen=True)
class IndexSummary:
    """What is known of an index without opening it.

    `path` is the codebase's folder, None for the main index and where what was remembered is damaged. `created_at` and
    `updated_at` are UTC times, None while nothing is published. `size_bytes` is the room that its folder takes on
    disk. `commits` are those of its corpora, `cited_as` the names that its citations begin with, and `languages` how
    many files there are by extension, the most frequent first.
    """

    name: str
    path: Path | None
    created_at: str | None = None
    updated_at: str | None = None
    files: int = 0
    chunks: int = 0
    size_bytes: int = 0
    commits: tuple[str, ...] = ()
    cited_as: tuple[str, ...] = ()
    languages: tuple[tuple[str, int], ...] = ()


def settings_of(settings: Settings, name: str) -> Settings:
    """The settings under which an index is read and built: models and caches are shared, all else is its own.

    Args:
        settings: Those of the main index.
        name: `MAIN` or the name of a codebase's index.

    Raises:
        UnknownIndexError: No index has this name; the hint lists those that there are.
        StoreError: What was remembered of the codebase cannot be read.
    """
    if name == MAIN:
        return settings
    return settings_for(settings, read_codebase(settings, name))


def settings_for(settings: Settings, codebase: Codebase) -> CodebaseSettings:
    """The settings for the index of a codebase, whether or not it is registered."""
    shared = {field: getattr(settings, field) for field in Settings.model_fields}
    corpora = CorporaSettings(
        adk_docs=_corpus(codebase, "doc").named(codebase.docs_name),
        adk_python=_corpus(codebase, "code").named(codebase.code_name),
    )
    ingestion = settings.ingestion.model_copy(
        update={
            "api_reference": False,
            "corpora": corpora,
            "chunking": _chunking(settings.ingestion.chunking, codebase),
        }
    )
    store = settings.store.model_copy(
        update={"path": None, "docs_collection": codebase.docs_name, "code_collection": codebase.code_name}
    )
    # The templates of sub-queries speak of the ADK: elsewhere they would only draw in what mentions it.
    retrieval = settings.retrieval.model_copy(update={"expansion": "never"})
    own = {"ingestion": ingestion, "store": store, "retrieval": retrieval, "codebase": codebase}
    return CodebaseSettings.model_construct(**{**shared, **own})


def read_codebase(settings: Settings, name: str) -> Codebase:
    """The codebase of a named index.

    Raises:
        UnknownIndexError: No index has this name; the hint lists those that there are.
        StoreError: What was remembered of it cannot be read.
    """
    found = _read(settings, name)
    if found is None:
        main = [MAIN] if open_generations(settings).current() else []
        names = ", ".join([*main, *_names(settings)])
        hint = f"There are: {names}." if names else "Nothing has been indexed yet; run `adk-ingest all`."
        raise UnknownIndexError(f"There is no index called {name!r}.", hint)
    return found.codebase


def register(settings: Settings, codebase: Codebase) -> bool:
    """Remember a codebase under its name; returns whether the name is new.

    Raises:
        InvalidRequestError: The name is taken by another folder.
        StoreError: The home folder cannot be written.
    """
    with registry(settings):
        known = _read(settings, codebase.name)
        if known is not None and known.codebase.path != codebase.path:
            raise InvalidRequestError(
                f"The index {codebase.name} is of another folder, {known.codebase.path}.",
                f"Choose another name, or run `adk-ingest delete {codebase.name}` first.",
            )
        created_at = known.created_at if known else f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        text = _Record(created_at=created_at, codebase=codebase).model_dump_json(indent=1)
        folder = settings.paths.indexes / codebase.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomic(folder / RECORD, text.encode())
        except OSError as exc:
            raise _not_writable(folder, exc) from exc
        return known is None


@contextmanager
def registry(settings: Settings) -> Iterator[None]:
    """Keeps other processes from adding and removing indexes for a moment.

    Raises:
        StoreError: Another process does so, or the home folder cannot be written.
    """
    folder = settings.paths.indexes
    lock = FileLock(folder / ".lock", timeout=_REGISTRY_SECONDS)  # no index is called so
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise StoreError("Another process is adding or removing an index.", "Try again.") from None
    except OSError as exc:
        raise _not_writable(folder, exc) from exc
    try:
        yield
    finally:
        lock.release()


def list_indexes(settings: Settings) -> list[IndexSummary]:
    """Every index of the home folder by its manifest alone, the main index first where it exists."""
    main = _summary(settings, IndexSummary(MAIN, None))
    found = [main] if main.created_at else []
    for name in _names(settings):
        try:
            record = _read(settings, name)
        except StoreError:
            found.append(IndexSummary(name, None))
            continue
        if record is not None:
            known = IndexSummary(name, record.codebase.path, created_at=record.created_at)
            found.append(_summary(settings_for(settings, record.codebase), known))
    return found


def _not_writable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"The folder {folder} cannot be written: {error.strerror or error}.",
        "Check the folder's permissions and the free space on its disk.",
    )


def _names(settings: Settings) -> list[str]:
    return sorted(record.parent.name for record in settings.paths.indexes.glob(f"*/{RECORD}"))


def _read(settings: Settings, name: str) -> _Record | None:
    # The name may be anything that a caller sent: it becomes part of a path only if it is a name.
    try:
        path = settings.paths.indexes / _checked_name(name) / RECORD
    except ValueError:
        return None
    try:
        return _Record.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as exc:
        raise StoreError(f"{path} cannot be read.", f"Run `adk-ingest delete {name}`, then index it again.") from exc


def _corpus(codebase: Codebase, kind: str) -> CorpusSettings:
    return CorpusSettings.model_validate(
        {
            "root": str(codebase.path),
            "repo": codebase.name,
            "source": "auto",
            "distribution": None,
            "site_url": None,
            # Nobody who writes `*.r` means to leave out `model.R`.
            "include_globs": tuple(map(any_case, codebase.file_patterns)),
            "exclude_globs": (*ALWAYS_EXCLUDED, *map(any_case, codebase.exclude_patterns)),
            "allowed_exts": DOCS_EXTENSIONS if kind == "doc" else (),
            "max_file_bytes": MAX_FILE_BYTES,
        }
    )


def _chunking(chunking: ChunkingSettings, codebase: Codebase) -> ChunkingSettings:
    size, overlap = (round(CHARS_PER_TOKEN * tokens) for tokens in (codebase.chunk_tokens, codebase.overlap_tokens))
    return ChunkingSettings(
        max_chunk_chars=size,
        min_chunk_chars=min(chunking.min_chunk_chars, size // 4),
        docs=DocsChunkingSettings(
            target_chunk_chars=size, overlap_chars=overlap, split_level=chunking.docs.split_level
        ),
        code=CodeChunkingSettings(max_symbol_chunk_chars=size, overlap_chars=overlap),
    )


def _summary(settings: Settings, known: IndexSummary) -> IndexSummary:
    """What is known of an index, with what its current generation's manifest says."""
    current = open_generations(settings).current()
    if current is None:
        return known
    manifest = current.manifest
    # Generated pages are no files of their own.
    corpora = [corpus for corpus in manifest.corpora.values() if corpus.source != "api-reference"]
    paths = [path for corpus in corpora for path in corpus.files]
    return IndexSummary(
        name=known.name,
        path=known.path,
        created_at=known.created_at or manifest.created_at,
        updated_at=manifest.created_at,
        files=len(paths),
        chunks=sum(corpus.chunks for corpus in manifest.corpora.values()),
        size_bytes=size_on_disk(settings.index_path),
        commits=tuple(dict.fromkeys(corpus.commit for _, corpus in sorted(manifest.corpora.items()))),
        cited_as=tuple(sorted({short_name(corpus.repo) for corpus in manifest.corpora.values()})),
        languages=_languages(paths),
    )


def _languages(paths: Iterable[str]) -> tuple[tuple[str, int], ...]:
    counts = Counter(PurePosixPath(path).suffix.lstrip(".").lower() or "txt" for path in paths)
    return tuple(sorted(counts.items(), key=lambda count: (-count[1], count[0])))


def size_on_disk(folder: Path) -> int:
    """Bytes that a folder's files take on disk; what is being removed meanwhile does not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                info = os.lstat(Path(place, name))
            except OSError:
                continue
            # Qdrant Edge lays out large files that are mostly empty, some of them wholly. Windows does not tell blocks.
            blocks = getattr(info, "st_blocks", None)
            total += info.st_size if blocks is None else blocks * 512
    return total

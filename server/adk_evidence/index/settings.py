"""The settings under which the index of a codebase is read and built."""

from __future__ import annotations

from collections.abc import Mapping

from adk_evidence.commands import spelled
from adk_evidence.index.codebase import Codebase
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.paths import Home
from adk_evidence.settings import (
    ChunkingSettings,
    CodeChunkingSettings,
    CorpusSettings,
    DocsChunkingSettings,
    Settings,
)
from adk_evidence.text.globs import any_case
from adk_evidence.text.tokens import CHARS_PER_TOKEN

DOCS_EXTENSIONS = (".md", ".mdx", ".rst", ".txt", ".adoc")

# Files that tools made or that only machines read: left out unless a glob with `!` takes them back. Ingestion itself
# leaves credentials out, and no glob takes those back.
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
    "*.log.[0-9]*",
    "*.out",
    "*.err",
    "*.dump",
    "*.dmp",
    ".gitignore",
    ".gitattributes",
)
MAX_FILE_BYTES = 2_000_000


class CodebaseSettings(Settings):
    """The settings under which a named index is read and built; get them from `settings_for`."""

    codebase: Codebase

    @property
    def index_name(self) -> str:
        return self.codebase.name

    @property
    def paths(self) -> Home:
        return Home(super().paths.root, self.index_name)

    @property
    def corpora(self) -> Mapping[Kind, CorpusSettings]:
        return {kind: _corpus(self.codebase, kind) for kind in KINDS}

    @property
    def subject(self) -> str:
        return self.codebase.name

    @property
    def expects_every_kind(self) -> bool:
        # A project may well have no documentation.
        return False

    @property
    def ingest_command(self) -> str:
        return spelled("adk-ingest", "codebase", str(self.codebase.path), "--name", self.codebase.name)


def settings_for(settings: Settings, codebase: Codebase) -> CodebaseSettings:
    """The settings for the index of a codebase, whether or not it is registered."""
    shared = {field: getattr(settings, field) for field in Settings.model_fields}
    ingestion = settings.ingestion.model_copy(
        update={"api_reference": False, "chunking": _chunking(settings.ingestion.chunking, codebase)}
    )
    store = settings.store.model_copy(
        update={"path": None, "docs_collection": codebase.corpus("doc"), "code_collection": codebase.corpus("code")}
    )
    # The templates of sub-queries mention the ADK: in other indexes they would only find what mentions it too.
    # Which language its readers write is not known either, and the adapter was trained on questions about the ADK.
    retrieval = settings.retrieval.model_copy(update={"expansion": "never", "language": None})
    dense = settings.embedding.dense.model_copy(update={"question_adapter": "none"})
    embedding = settings.embedding.model_copy(update={"dense": dense})
    own = {
        "ingestion": ingestion,
        "embedding": embedding,
        "store": store,
        "retrieval": retrieval,
        "codebase": codebase,
    }
    return CodebaseSettings.model_construct(**{**shared, **own})


def _corpus(codebase: Codebase, kind: Kind) -> CorpusSettings:
    return CorpusSettings.model_validate(
        {
            "root": str(codebase.path),
            "repo": codebase.name,
            "distribution": None,
            # Whoever writes `*.r` means `model.R` too.
            "include_globs": tuple(map(any_case, codebase.file_patterns)),
            "exclude_globs": (*ALWAYS_EXCLUDED, *map(any_case, codebase.exclude_patterns)),
            "allowed_exts": DOCS_EXTENSIONS if kind == "doc" else (),
            "max_file_bytes": MAX_FILE_BYTES,
        }
    ).named(codebase.corpus(kind))


def _chunking(chunking: ChunkingSettings, codebase: Codebase) -> ChunkingSettings:
    size, overlap = (round(CHARS_PER_TOKEN * tokens) for tokens in (codebase.chunk_tokens, codebase.overlap_tokens))
    return ChunkingSettings(
        max_chunk_chars=size,
        min_chunk_chars=min(chunking.min_chunk_chars, size // 4),
        docs=DocsChunkingSettings(target_chunk_chars=size, overlap_chars=overlap),
        code=CodeChunkingSettings(max_symbol_chunk_chars=size, overlap_chars=overlap),
    )

"""The chunk: what ingestion produces, the store keeps and retrieval returns (SPEC 3 section 3)."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from adk_evidence.text.identifiers import module_of

Kind = Literal["doc", "code"]
KINDS: tuple[Kind, ...] = ("doc", "code")
SourceType = Literal["docs", "code"]
# What requests and people call a kind.
SOURCE_TYPES: Mapping[Kind, SourceType] = MappingProxyType({"doc": "docs", "code": "code"})
Origin = Literal["repository", "api-reference", "sample"]

# What people write their programs in, so that readers of documentation choose one or another. Nobody reads about YAML
# instead of Python.
ProgrammingLanguage = Literal[
    "c", "c#", "c++", "go", "java", "javascript", "kotlin", "php", "python", "r", "ruby", "rust", "swift", "typescript"
]

# Part of an index's fingerprint: raise it when an older payload could not be read, or would be read wrongly.
PAYLOAD_VERSION = 4

# Ends the provenance header on top of a chunk's text.
HEADER_END = "\n---\n"

SymbolKind = Literal[
    "module", "namespace", "class", "interface", "type", "enum", "function", "method", "methods", "block"
]
# What may have members. Structs, unions and records are classes, traits are interfaces. In Python and R, whatever a
# class derives from, it is a class.
TYPE_KINDS: frozenset[SymbolKind | None] = frozenset({"class", "interface", "type", "enum"})


# The fields of a payload whose values are tags; `repository`, where most chunks come from, is not a tag.
TAG_FIELDS = ("source_type", "lang", "symbol_kind", "code_langs", "origin", "decorators")
# Before the name of a decorator among the tags.
DECORATOR = "@"


# Where the feature of a section exists: the section's first line, a stage or an empty text, and the languages.
SectionAvailability = tuple[int, str, tuple[tuple[str, str], ...]]


class ChunkPayload(BaseModel):
    """What the store keeps with a chunk's vectors.

    Of all fields, only `commit` and `ref` depend on the commit: when a corpus gets a new one, these two are set anew
    and all else of an unchanged file stays.

    `text` is header + context tail + the chunk's own lines + attachments. The chunk's own lines are
    `text[body_start:body_end]`, verbatim from lines `start_line`..`end_line` (1-based, inclusive) of the file
    with newlines normalised to `\\n`. Where a single line was too long, they are only `start_col`..`end_col` (0-based,
    end exclusive, in characters of the joined lines).
    """

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    corpus: str
    repo: str
    commit: str
    ref: str | None = None
    path: str
    uri: str | None = Field(default=None, description="Stable URL of the page with its anchor (docs).")
    kind: Kind
    source_type: SourceType
    origin: Origin = "repository"
    lang: str
    symbol: str | None = Field(default=None, description="Qualified name within the module, e.g. `LlmAgent.run`.")
    symbol_kind: SymbolKind | None = None
    symbols: tuple[str, ...] = Field(default=(), description="Every definition that begins inside the chunk.")
    names: tuple[str, ...] = Field(default=(), description="Unqualified names of those definitions.")
    fqn: str | None = Field(default=None, description="Importable dotted path of the symbol, where there is one.")
    signature: str | None = None
    decorators: tuple[str, ...] = Field(
        default=(), description="Names of the decorators that begin inside the chunk, e.g. `app.route`."
    )
    headings: tuple[str, ...] = ()
    title: str | None = Field(default=None, description="Title of the page in the site's navigation.")
    code_langs: tuple[str, ...] = Field(default=(), description="Languages of the tabs that the chunk holds.")
    availability: tuple[SectionAvailability, ...] = Field(
        default=(),
        description="Where features exist, as the page says: for each section of the chunk its first line, a stage "
        "such as `experimental` or an empty text, and the languages whose ADK has the feature, each with the first "
        "version that does, or with an empty text.",
    )
    for_language: str | None = Field(
        default=None,
        description="The programming language of the readers that the chunk is for, if not the corpus's own.",
    )
    left_out: tuple[tuple[int, int, str], ...] = Field(
        default=(),
        description="First line, last line and language of the chunk's lines that are for readers of another language. "
        "They are neither ranked nor shown, and chunks with `for_language` hold them.",
    )
    passage_lines: tuple[int, ...] = Field(
        default=(), description="The first line of each passage, in the order of the passages' vectors."
    )
    units: str = Field(default="", description="The units of the chunk's own lines; see `readers.units.packed`.")
    includes: tuple[str, ...] = Field(default=(), description="Files that the page includes in these lines.")
    questions: tuple[str, ...] = Field(
        default=(), description="Questions that were written beforehand for what the chunk answers."
    )
    tasks: tuple[tuple[str, str, int], ...] = Field(
        default=(),
        description="Tasks that the chunk answers together with others: title, what the chunk is to the task, and how "
        "many chunks the task has.",
    )
    chunk_index: int
    start_line: int
    end_line: int
    start_col: int | None = None
    end_col: int | None = None
    body_start: int
    body_end: int
    text: str
    text_hash: str
    source_hash: str = Field(description="sha256 of the chunk's own lines; what verification compares.")
    text_tokens: int
    file_hash: str = Field(description="sha256 of the decoded file; unchanged files are skipped by it.")
    created_at: str
    chunker_version: str

    @property
    def module(self) -> str | None:
        """Dotted path of the module that the chunk is a part of, where there is one."""
        return self.fqn and module_of(self.fqn, self.symbol)

    @property
    def body(self) -> str:
        return self.text[self.body_start : self.body_end]

    @property
    def context(self) -> str:
        """The lines before the chunk's own lines: lines of its neighbour, or of its class."""
        _, _, lead = self.text[: self.body_start].partition(HEADER_END)
        return lead.strip("\n")

    @property
    def searched_body(self) -> str:
        """The chunk's own lines without those for readers of another language: what the index finds the chunk by."""
        return self._body_with(lambda first, last, language: [])

    @property
    def shown_body(self) -> str:
        """The chunk's own lines with a mark in the place of those for readers of another language."""
        return self._body_with(lambda first, last, language: [f"[lines {first}-{last}: {language}]"])

    def _body_with(self, instead: Callable[[int, int, str], list[str]]) -> str:
        if not self.left_out:
            return self.body
        lines = self.body.split("\n")
        for first, last, language in reversed(self.left_out):
            lines[first - self.start_line : last - self.start_line + 1] = instead(first, last, language)
        return "\n".join(lines)

    @property
    def searched_text(self) -> str:
        """`text` without the lines for readers of another language."""
        if not self.left_out:
            return self.text
        return self.text[: self.body_start] + self.searched_body + self.text[self.body_end :]

    @property
    def attached(self) -> str:
        """The files that the chunk's own lines include."""
        return self.text[self.body_end :].strip("\n")

    @property
    def has_lines(self) -> bool:
        """Whether the chunk's lines are known; without them the citation is of medium confidence."""
        return self.start_line > 0 and self.end_line >= self.start_line

    @property
    def tags(self) -> tuple[str, ...]:
        """What requests can narrow a search by besides language and path: the values of `TAG_FIELDS`."""
        origin = None if self.origin == "repository" else self.origin
        found = (self.source_type, self.lang, self.symbol_kind, *self.code_langs, origin)
        decorators = (f"{DECORATOR}{name}" for name in self.decorators)
        return tuple(dict.fromkeys(tag for tag in (*found, *decorators) if tag))

    @property
    def source_name(self) -> str:
        """The corpus of the index that the chunk came from; generated pages are a corpus too."""
        return self.origin if self.origin == "api-reference" else self.corpus

    @property
    def candidate_id(self) -> str:
        """The id for merging across collections (SPEC 5 section 8.1)."""
        return f"{self.repo}@{self.commit}:{self.path}:{self.chunk_id}"


class ChunkRecord(ChunkPayload):
    """A chunk on its way into the store, with the texts that only the encoders see."""

    lexical_text: str
    dense_texts: tuple[str, ...] = Field(description="One, or one for each passage.")
    dense_keys: tuple[str, ...] = Field(
        default=(), description="Cache keys of the dense vectors, one for each text; set when the file is chunked."
    )
    question_keys: tuple[str, ...] = Field(default=(), description="The same of the questions.")

    def payload(self) -> ChunkPayload:
        return ChunkPayload.model_construct(**{name: getattr(self, name) for name in ChunkPayload.model_fields})


def sha256_text(text: str) -> str:
    """Hex sha256 of a text's UTF-8 bytes; lone surrogates are hashed too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_chunk_id(corpus: str, path: str, chunk_index: int, text_hash: str) -> str:
    """The id of a chunk: sha1 hex over corpus, path, index and text hash, the same in all commits that hold the text.

    SPEC 3 section 9.3 adds the commit, by which every commit would replace every point.
    """
    material = f"{corpus}:{path}:{chunk_index}:{text_hash}"
    return hashlib.sha1(material.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def point_id(chunk_id: str) -> str:
    """The point id: a UUID of the chunk id's first 16 bytes, as Qdrant takes no sha1 hex."""
    return str(uuid.UUID(hex=chunk_id[:32]))


def class_of(payload: ChunkPayload) -> str | None:
    """The class that a chunk is or is a part of."""
    if payload.symbol is None or payload.symbol_kind in ("module", "function", "block"):
        return None
    return payload.symbol if payload.symbol_kind in TYPE_KINDS else payload.symbol.rpartition(".")[0] or None

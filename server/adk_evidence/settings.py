"""Typed settings, validated once: config/settings.yaml < profile < user file < environment < call."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from adk_evidence.errors import SettingsError
from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import Kind, ProgrammingLanguage
from adk_evidence.paths import Home, config_file, default_home, user_settings_file
from adk_evidence.settings_sources import (
    SETTINGS_FILE,
    check_variables,
    has_variables,
    merged,
    read_file,
    sentence,
    variable,
)

_UNSET = f"Create it or unset {SETTINGS_FILE}."
PROFILES = ("local", "fastembed", "voyage", "openai")
MINILM_MAX_TOKENS = 256
# Lengths of the vectors of OpenAI's own models, and which of the models makes no shorter ones.
OPENAI_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_NEVER_SHORTER = "text-embedding-ada-002"
# Tests of example programs are no examples.
_NO_SAMPLES = ("!**/__init__.py", "!**/tests/**", "!**/test_*.py")
SAMPLES: Mapping[str, tuple[str, ...]] = {
    "adk_docs": ("/examples/**/*.py", *_NO_SAMPLES),
    "adk_python": ("/contributing/samples/**/*.py", *_NO_SAMPLES),
}
# Where the pages of the docs are published that name no address themselves.
SITES: Mapping[str, str] = {"adk_docs": "https://adk.dev/"}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Beyond these, threads cannot wait that long and engines cannot count that far.
MAX_NUMBER = 1_000_000_000
PositiveInt = Annotated[int, Field(gt=0, le=MAX_NUMBER)]
Bytes = Annotated[int, Field(gt=0, le=1_000_000 * MAX_NUMBER)]
PositiveFloat = Annotated[float, Field(gt=0, le=MAX_NUMBER)]
NonNegativeInt = Field(ge=0, le=MAX_NUMBER)
StoreKind = Literal["edge", "server"]
# What the layers of the local model are computed in.
Precision = Literal["int8", "fp32"]
# static: no layer is computed; auto: static for large indexes, else int8.
DensePrecision = Literal["int8", "fp32", "static", "auto"]


def _keeps_the_key_safe(value: str) -> str:
    url = urlsplit(value)
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise ValueError("it may not carry a user, a password, a query or a fragment")
    if not url.hostname:
        raise ValueError("it must be https://host or http://localhost, with a path where the service has one")
    if url.scheme != "https" and not (url.scheme == "http" and url.hostname in LOOPBACK):
        raise ValueError("it must be https, or http to this machine: the key travels with every request")
    # The scheme is in lower case here; callers compare the beginning of the address.
    return url.geturl().rstrip("/")


# The address of a service that is sent a key.
KeySafeUrl = Annotated[str, AfterValidator(_keeps_the_key_safe)]


def _no_empty_path(value: Any) -> Any:
    # An empty path would be the working directory.
    if isinstance(value, str) and not value.strip():
        raise ValueError("it should be a path, or null")
    return value


def _expanded(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("it should be a path, which holds no character 0")
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("it begins with ~, and there is no such user's home folder") from None


UserPath = Annotated[Path, BeforeValidator(_no_empty_path), AfterValidator(_expanded)]


class CorpusSettings(Frozen):
    """Where one corpus comes from and which of its files count (SPEC 3 section 2)."""

    root: str
    repo: str
    distribution: str | None
    include_globs: tuple[str, ...]
    exclude_globs: tuple[str, ...]
    allowed_exts: tuple[str, ...]
    max_file_bytes: Bytes
    _name: str = PrivateAttr("")

    @property
    def corpus(self) -> str:
        """The name of the corpus in the index. Not a setting: the ranking and the manifests know these names."""
        return self._name

    @property
    def site_url(self) -> str | None:
        """Where the pages are published, if the corpus does not say so itself."""
        return SITES.get(self._name)

    @property
    def sample_globs(self) -> tuple[str, ...]:
        """Where example programs in Python lie, which are a part of the documentation; none in other codebases."""
        return SAMPLES.get(self._name, ())

    def named(self, name: str) -> Self:
        """The same settings for a corpus of this name."""
        copy = self.model_copy()
        copy._name = name
        return copy


class DocsCorpusSettings(CorpusSettings):
    """Documentation; `language` is that of its readers."""

    language: ProgrammingLanguage | None


class CorporaSettings(Frozen):
    """The two corpora of the ADK."""

    adk_docs: DocsCorpusSettings
    adk_python: CorpusSettings

    @field_validator("adk_docs", "adk_python")
    @classmethod
    def _named(cls, corpus: CorpusSettings, info: ValidationInfo) -> CorpusSettings:
        return corpus if corpus.corpus else corpus.named(info.field_name or "")


class DocsChunkingSettings(Frozen):
    """Sizes of documentation chunks, in characters."""

    target_chunk_chars: PositiveInt
    overlap_chars: int = NonNegativeInt


class CodeChunkingSettings(Frozen):
    """Sizes of code chunks, in characters."""

    max_symbol_chunk_chars: PositiveInt
    overlap_chars: int = NonNegativeInt


class ChunkingSettings(Frozen):
    """Caps that hold for every chunk, in characters."""

    max_chunk_chars: PositiveInt
    min_chunk_chars: int = NonNegativeInt
    docs: DocsChunkingSettings
    code: CodeChunkingSettings

    @model_validator(mode="after")
    def _consistent(self) -> ChunkingSettings:
        for name, size in (
            ("docs.target_chunk_chars", self.docs.target_chunk_chars),
            ("code.max_symbol_chunk_chars", self.code.max_symbol_chunk_chars),
        ):
            if size > self.max_chunk_chars:
                raise ValueError(f"{name} is larger than max_chunk_chars ({self.max_chunk_chars})")
        if self.docs.overlap_chars >= self.docs.target_chunk_chars:
            raise ValueError("docs.overlap_chars must be smaller than docs.target_chunk_chars")
        if self.code.overlap_chars >= self.code.max_symbol_chunk_chars:
            raise ValueError("code.overlap_chars must be smaller than code.max_symbol_chunk_chars")
        return self


class LexicalSettings(Frozen):
    """The text that the sparse encoder sees (SPEC 3 section 6)."""

    sparse_model: str
    sparse_batch_size: PositiveInt
    code_identifier_expansion: bool
    include_path_tokens: bool
    include_symbol_tokens: bool


class BatchingSettings(Frozen):
    """Batches and retries of paid embedding services (SPEC 3 section 7)."""

    voyage_dense_max_items: int = Field(ge=1, le=1000)
    voyage_dense_max_chars_total: PositiveInt
    voyage_retry_max_attempts: int = NonNegativeInt
    voyage_retry_backoff_seconds: tuple[PositiveFloat, ...] = Field(min_length=1)


class UploadSettings(Frozen):
    """Writing to the store (SPEC 3 section 10)."""

    batch_points: int = Field(ge=1, le=512)
    parallel: int = Field(ge=1, le=32)
    max_retries: int = NonNegativeInt
    wait: bool


class IngestionSettings(Frozen):
    """Everything that decides what an index holds."""

    corpora: CorporaSettings
    api_reference: bool
    questions: bool
    chunking: ChunkingSettings
    lexical: LexicalSettings
    batching: BatchingSettings
    qdrant_upload: UploadSettings


class FastEmbedSettings(Frozen):
    """Two models of FastEmbed's list."""

    docs_model: str
    code_model: str


DenseText = Literal["passages", "full"]


class DenseSettings(Frozen):
    """The dense embedder."""

    provider: Literal["minilm", "fastembed", "voyage", "openai"]
    text: DenseText
    precision: DensePrecision
    models_path: UserPath | None
    question_adapter: Literal["none"] | UserPath | None
    threads: PositiveInt | None
    batch_size: PositiveInt
    max_tokens: int = Field(ge=16, le=32_768)
    fastembed: FastEmbedSettings

    @property
    def is_static(self) -> bool:
        """Whether vectors are made of those of tokens, without layers."""
        return self.provider == "minilm" and self.precision == "static"

    @property
    def is_open(self) -> bool:
        """Whether the size of an index decides what its vectors are made of."""
        return self.provider == "minilm" and self.precision == "auto"

    @property
    def layers(self) -> Precision:
        """What the layers of the local model are computed in, where they are computed."""
        return "fp32" if self.precision == "fp32" else "int8"

    def folder_of(self, model: str) -> Path | None:
        """Where the user has the files of a local model; None where the user names no folder of models."""
        return self.models_path / model if self.models_path else None

    @property
    def multi(self) -> bool:
        """Whether a chunk has several vectors, one for each passage."""
        return self.text == "passages"

    @model_validator(mode="after")
    def _within_the_model(self) -> DenseSettings:
        if self.provider == "minilm" and self.max_tokens > MINILM_MAX_TOKENS:
            raise ValueError(f"max_tokens of minilm is at most {MINILM_MAX_TOKENS}")
        if self.provider == "voyage" and self.text == "passages":
            raise ValueError("text: passages is for models that embed texts one by one; voyage takes full")
        return self


class VoyageSettings(Frozen):
    """The Voyage service; its key comes from VOYAGE_API_KEY alone and is not a setting."""

    base_url: KeySafeUrl | None
    docs_model: str
    code_model: str
    dimension: Literal[256, 512, 1024, 2048]
    requests_per_minute: PositiveInt
    tokens_per_minute: int = Field(ge=1000, le=MAX_NUMBER)


class GeminiSettings(Frozen):
    """The Gemini embedding service; its key comes from GOOGLE_API_KEY or GEMINI_API_KEY and is not a setting."""

    model: str = Field(min_length=1)
    dimension: int = Field(ge=128, le=3072)
    base_url: KeySafeUrl | None


class OpenAiServiceSettings(Frozen):
    """A service with OpenAI's interface; its key comes from the environment and is not a setting."""

    base_url: KeySafeUrl
    model: str = Field(min_length=1)
    timeout_seconds: PositiveFloat


class OpenAiEmbeddingSettings(OpenAiServiceSettings):
    """Embeddings of OpenAI, or of a server with the same interface."""

    dimension: int | None = Field(ge=1, le=65_536)
    shorten_to: int | None = Field(ge=1, le=65_536)
    document_prefix: str = Field(max_length=1000)
    query_prefix: str = Field(max_length=1000)
    request_items: int = Field(ge=1, le=2048)
    text_tokens: int = Field(ge=16, le=MAX_NUMBER)

    @property
    def length(self) -> int:
        """The length of the vectors that come."""
        return self.shorten_to or self.dimension or OPENAI_DIMENSIONS[self.model]

    @model_validator(mode="after")
    def _of_a_known_length(self) -> OpenAiEmbeddingSettings:
        own = OPENAI_DIMENSIONS.get(self.model, self.dimension)
        if own is None and self.shorten_to is None:
            model = self.model[:100]
            raise ValueError(f"dimension must be the length of the vectors of {model}, which is not known here")
        if self.dimension not in (None, own):
            raise ValueError(f"dimension is {own} for {self.model}; shorten_to asks for shorter vectors")
        if self.shorten_to is not None and self.model == _NEVER_SHORTER:
            raise ValueError(f"shorten_to must be null: {self.model} makes no shorter vectors")
        if self.shorten_to is not None and own is not None and self.shorten_to > own:
            raise ValueError(f"shorten_to is at most the dimension, {own}")
        return self


class EmbeddingSettings(Frozen):
    """Dense encoders, and what paid ones may cost."""

    dense: DenseSettings
    usd_per_million_tokens: dict[str, Annotated[float, Field(ge=0, le=MAX_NUMBER)]]
    max_cost_usd: PositiveFloat
    voyage: VoyageSettings
    gemini: GeminiSettings
    openai: OpenAiEmbeddingSettings


class StoreSettings(Frozen):
    """Where points live and what their vectors are called."""

    kind: StoreKind
    path: UserPath | None
    url: str | None
    shard_number: PositiveInt | None
    replication_factor: PositiveInt | None
    write_consistency_factor: PositiveInt | None
    quantization: Literal["none", "scalar"]
    vectors_on_disk: bool
    docs_collection: str = Field(min_length=1)
    code_collection: str = Field(min_length=1)
    take_over_aliases: bool
    docs_vector: str = Field(min_length=1)
    code_vector: str = Field(min_length=1)
    sparse_vector: str = Field(min_length=1)
    timeout_seconds: PositiveFloat

    @model_validator(mode="after")
    def _distinct(self) -> StoreSettings:
        if self.docs_collection == self.code_collection:
            raise ValueError("docs_collection and code_collection must differ")
        if self.sparse_vector in (self.docs_vector, self.code_vector):
            raise ValueError("sparse_vector must differ from the dense vectors' names")
        return self

    @model_validator(mode="after")
    def _enough_replicas(self) -> StoreSettings:
        replicas, confirming = self.replication_factor, self.write_consistency_factor
        if replicas is not None and confirming is not None and confirming > replicas:
            raise ValueError(
                f"write_consistency_factor is {confirming}, and replication_factor makes only {replicas} of each shard"
            )
        return self

    @field_validator("url")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        # Settings are copied into run manifests: what is secret must not be in them, nor in this message.
        if url is None:
            return None
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
        except ValueError:
            usable = False
        if not usable:
            raise ValueError("it must be http://host:port or https://host:port")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("it must not hold a user, a key or a query; the API key comes from the environment")
        return url.rstrip("/")

    @property
    def placement(self) -> dict[str, int]:
        """How a server is told to spread a collection over its nodes; what it decides itself is left out."""
        values = {
            "shard_number": self.shard_number,
            "replication_factor": self.replication_factor,
            "write_consistency_factor": self.write_consistency_factor,
        }
        return {name: value for name, value in values.items() if value is not None}

    def collection(self, kind: str) -> str:
        return self.docs_collection if kind == "doc" else self.code_collection

    def dense_vector(self, kind: str) -> str:
        return self.docs_vector if kind == "doc" else self.code_vector

    def mean_vector(self, kind: str) -> str:
        """The name of the mean of a chunk's passages."""
        return f"{self.dense_vector(kind)}_mean"

    def questions_vector(self, kind: str) -> str:
        """The name of the vectors of a chunk's questions, which not every chunk has."""
        return f"{self.dense_vector(kind)}_questions"


# What finds the results that a request names outright.
Named = Literal["frames", "quoted", "definitions", "names"]


class RetrievalSettings(Frozen):
    """Hybrid retrieval (SPEC 5 sections 5 to 8)."""

    branches: tuple[Literal["dense", "sparse", "symbol", "asked"], ...]
    dense_prefetch_limit: PositiveInt
    sparse_prefetch_limit: PositiveInt
    final_limit_per_collection: PositiveInt
    hnsw_ef: PositiveInt
    exact: bool
    fusion: Literal["rrf", "dbsf"]
    rrf_k: PositiveInt
    pool_size: PositiveInt
    expansion: Literal["auto", "always", "never"]
    feedback_passages: int = NonNegativeInt
    named: tuple[Named, ...]
    language: ProgrammingLanguage | None
    strict: bool

    @model_validator(mode="after")
    def _searchable(self) -> RetrievalSettings:
        if len(set(self.branches)) < len(self.branches):
            raise ValueError("branches names one twice")
        if not {"dense", "sparse"} & set(self.branches):
            raise ValueError("branches needs dense or sparse, whose vectors the symbol branch borrows")
        if "asked" in self.branches and "dense" not in self.branches:
            raise ValueError("branches needs dense for asked, which compares dense vectors")
        return self


class TargetsSettings(Frozen):
    """Ranked targets: the search for symbols by meaning."""

    embedding: Literal["profile", "gemini"]


class LlmRerankSettings(OpenAiServiceSettings):
    """A language model as the reranker."""

    max_documents: int = Field(ge=2, le=100)
    wordings: bool


class RerankSettings(Frozen):
    """The reranker (SPEC 5 section 9)."""

    provider: Literal["local", "fastembed", "voyage", "llm", "none"]
    model: str
    llm: LlmRerankSettings


class PackSettings(Frozen):
    """The final selection (SPEC 5 section 10)."""

    max_results_final: int = Field(ge=1, le=100)
    top_k_buffer: PositiveInt
    min_docs: int = NonNegativeInt
    min_code: int = NonNegativeInt
    time_budget_ms: PositiveInt | None


class LoadSettings(Frozen):
    """Which answers a server keeps."""

    cache_ttl_seconds: int = NonNegativeInt


class ProjectSettings(Frozen):
    """Which version of the ADK answers where nothing names one."""

    detect: bool


class AgentsSettings(Frozen):
    """What agents may do."""

    roots: tuple[UserPath, ...]


class TelemetrySettings(Frozen):
    """The event log (SPEC 5 section 12)."""

    event_log: bool


class Settings(Frozen):
    """All settings. Build it with `load_settings`."""

    profile: Literal["local", "fastembed", "voyage", "openai"]
    home: UserPath | None
    ingestion: IngestionSettings
    embedding: EmbeddingSettings
    store: StoreSettings
    retrieval: RetrievalSettings
    targets: TargetsSettings
    rerank: RerankSettings
    pack: PackSettings
    load: LoadSettings
    project: ProjectSettings
    agents: AgentsSettings
    telemetry: TelemetrySettings

    @field_validator("home")
    @classmethod
    def _folder(cls, home: Path | None) -> Path | None:
        if home is not None and os.path.lexists(home) and not os.path.isdir(home):  # noqa: PTH112 - never raises
            raise ValueError(f"{home} exists and is not a folder")
        return home

    @property
    def index_name(self) -> str | None:
        """The name of the index of a version or of a codebase; None for the main index."""
        return None

    @property
    def paths(self) -> Home:
        return Home((self.home or default_home()).absolute())

    @property
    def index_path(self) -> Path:
        return (self.store.path or self.paths.index).absolute()

    @property
    def corpora(self) -> Mapping[Kind, CorpusSettings]:
        """The two corpora of the index. Every index has its own; the setting names those of the ADK."""
        return {"doc": self.ingestion.corpora.adk_docs, "code": self.ingestion.corpora.adk_python}

    @property
    def subject(self) -> str:
        """What the index is about, for sentences."""
        return "the ADK"

    @property
    def services(self) -> tuple[str, ...]:
        """The settings by which services get the indexed texts or passages of them; none of them: all stays here."""
        chosen = {
            "embedding.dense.provider": self.embedding.dense.provider in ("voyage", "openai"),
            "rerank.provider": self.rerank.provider in ("voyage", "llm"),
            "store.kind": self.store.kind == "server",
        }
        return tuple(name for name, is_service in chosen.items() if is_service)

    @property
    def exact_subject(self) -> str:
        """What the index is about, with the version where the index is of a single one."""
        return self.subject

    @property
    def has_questions(self) -> bool:
        """Whether the index holds questions that were written beforehand; they are embedded one by one."""
        return self.ingestion.questions and self.embedding.dense.multi

    @property
    def expects_every_kind(self) -> bool:
        """Whether an index without docs, or without code, lacks something."""
        return True

    @property
    def ingest_command(self) -> str:
        """The command that builds the index anew."""
        return "adk-ingest all"


@functools.cache
def _defaults() -> dict[str, Any]:
    return read_file(config_file("settings.yaml"), shipped=True)


def load_settings(
    overrides: Mapping[str, Any] | None = None, *, user_file: Path | None = None, profile: str | None = None
) -> Settings:
    """Merge all sources, validate once and return frozen settings.

    Args:
        overrides: Nested mapping with the highest priority, e.g. `{"retrieval": {"rrf_k": 20}}`.
        user_file: The user's settings file; by default `ADK_EVIDENCE_SETTINGS` or the platform's config folder.
        profile: Name of the profile; overrides every other source.

    Raises:
        SettingsError: A file cannot be read, or a value is unknown or out of range.
    """
    given = dict(overrides or {})
    file, user = _user_settings(user_file)
    check_variables(Settings)
    given["profile"] = chosen = _profile(profile, given, file, user)
    overlay = read_file(config_file(f"profiles/{chosen}.yaml"), shipped=True)
    try:
        return Settings.model_validate(merged(_defaults(), overlay, user, _environment(), given))
    except ValidationError as exc:
        raise sentence(exc, Settings, given, file, user) from exc


def _environment() -> dict[str, Any]:
    """The settings that environment variables give."""
    if not has_variables():
        return {}
    # Takes 30 ms to import, and few people set variables.
    from adk_evidence.settings_environment import Environment

    return Environment(Settings)()


def settings_file() -> Path:
    """The user's settings file, which the environment may name; it may not exist."""
    by_variable = variable("SETTINGS")
    if by_variable is None:
        return user_settings_file()
    try:
        return Path(by_variable[1]).expanduser()
    except RuntimeError as exc:
        message = f"{by_variable[0]} begins with ~, and there is no such user's home folder."
        raise SettingsError(message, _UNSET) from exc


def _user_settings(named: Path | None) -> tuple[Path, dict[str, Any]]:
    """The user's settings file and its content: nothing where no file is named and none exists."""
    path = named or settings_file()
    exists = os.path.lexists(path)
    if not exists and named is None and variable("SETTINGS"):
        raise SettingsError(f"The settings file {path} does not exist.", _UNSET)
    return path, read_file(path) if exists else {}


def _profile(asked: str | None, given: Mapping[str, Any], file: Path, user: Mapping[str, Any]) -> str:
    """The profile from the first place that names one."""
    by_variable = variable("PROFILE")
    places = (
        (asked, ""),
        (given.get("profile"), ""),
        (by_variable and by_variable[1], by_variable and f", which {by_variable[0]} names"),
        (user.get("profile"), f", which {file} names"),
        (_defaults()["profile"], ""),
    )
    chosen, where = next(place for place in places if place[0])
    if chosen not in PROFILES:
        message = f"There is no profile {str(chosen)[:80]!r}{where}."
        raise SettingsError(message, f"Choose one of: {', '.join(PROFILES)}.")
    return str(chosen)


def settings_schema() -> dict[str, Any]:
    """The JSON schema of a settings file; config/settings.schema.json is this, and a test fails when they drift."""
    schema = {**Settings.model_json_schema(), "title": "ADK Evidence settings"}
    # A user's file names only what it changes, so that nothing is required.
    optional: dict[str, Any] = json.loads(
        json.dumps(schema), object_hook=lambda node: {key: value for key, value in node.items() if key != "required"}
    )
    return optional

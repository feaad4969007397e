"""Checks of an installation: what is installed, indexed, stale or missing, and how to mend it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from dataclasses import dataclass
from typing import Literal

from adk_evidence import __version__
from adk_evidence.commands import with_options
from adk_evidence.embedding.factory import fingerprint
from adk_evidence.embedding.minilm import is_prepared
from adk_evidence.errors import EvidenceError, TargetsMissingError
from adk_evidence.index.opened import dense_gap
from adk_evidence.models.chunk import KINDS
from adk_evidence.services.voyage import KEY_VARIABLE, has_key
from adk_evidence.settings import Settings, settings_file
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence.store.generations import GenerationStore, check_fingerprint
from adk_evidence.store.manifest import IndexManifest
from adk_evidence.symbols.target_sets import about_index, find_set, has_vectors, make_target_embedder
from adk_ingest.caches import CacheStatus
from adk_ingest.chunkers import index_fingerprint

State = Literal["ok", "note", "broken"]

_PACKAGES = ("qdrant-edge-py", "qdrant-client", "fastembed", "onnxruntime", "griffe")


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    what: str
    state: State
    found: str
    mend: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mend", with_options(self.mend))


def examine(settings: Settings) -> list[Finding]:
    """Check everything that an answer depends on; never raises for what it finds."""
    parts = (_installation, _model, _reranker, _server, _index, _cache)
    return [finding for part in parts for finding in part(settings)]


def _installation(settings: Settings) -> list[Finding]:
    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            return [Finding("packages", "broken", f"{name} is missing.", "Install adk-evidence again.")]
    python = f"{platform.python_version()} ({sys.executable})"
    user_file = settings_file()
    from_user = str(user_file) if user_file.is_file() else f"defaults; your own would be {user_file}"
    return [
        Finding("adk-evidence", "ok", f"{__version__}, Python {python}"),
        Finding("packages", "ok", ", ".join(versions)),
        Finding("settings", "ok", f"profile {settings.profile}, {from_user}"),
        Finding("home", "ok", str(settings.paths.root)),
    ]


def _model(settings: Settings) -> list[Finding]:
    match settings.embedding.dense.provider:
        case "voyage":
            return _voyage()
        case "fastembed":
            chosen = settings.embedding.dense.fastembed
            found = f"{chosen.docs_model} for docs, {chosen.code_model} for code, through FastEmbed."
            return [Finding("dense model", "ok", found)]
        case "minilm":
            return _minilm(settings)


def _voyage() -> list[Finding]:
    if importlib.util.find_spec("voyageai") is None:
        missing = "Voyage's client is not installed."
        return [Finding("dense model", "broken", missing, "Run `pip install 'adk-evidence[voyage]'`.")]
    if not has_key():
        return [Finding("dense model", "broken", f"{KEY_VARIABLE} is not set.", "Set it in the environment.")]
    # Not asked: that would cost money.
    return [Finding("dense model", "ok", f"Voyage's client is installed and {KEY_VARIABLE} is set; it was not asked.")]


def _minilm(settings: Settings) -> list[Finding]:
    models, precision = settings.paths.models, settings.embedding.dense.precision
    if is_prepared(models, precision):
        return [Finding("dense model", "ok", f"all-MiniLM-L6-v2 in {precision} is prepared and was checked.")]
    if is_prepared(models):
        found = f"all-MiniLM-L6-v2 is prepared in fp32, but not yet in {precision}, which the settings want."
        return [Finding("dense model", "note", found, "The first ingestion or question prepares it in some seconds.")]
    found = "all-MiniLM-L6-v2 is not prepared yet."
    return [Finding("dense model", "note", found, "The first ingestion or question fetches it (about 83 MB).")]


def _reranker(settings: Settings) -> list[Finding]:
    if settings.rerank.provider != "llm":
        return []
    from adk_evidence.services.chat import KEY_VARIABLES, has_key

    llm = settings.rerank.llm
    # Not asked: that would cost money.
    found = f"the local one, then {llm.model} at {llm.base_url}, which gets questions and passages; it was not asked."
    if has_key():
        return [Finding("reranker", "ok", f"{found} A key is set in the environment.")]
    return [
        Finding("reranker", "note", f"{found} No key is set.", f"Set {' or '.join(KEY_VARIABLES)} if it wants one.")
    ]


def _server(settings: Settings) -> list[Finding]:
    if settings.store.kind != "server":
        return []
    from adk_evidence.services.qdrant import KEY_VARIABLES, api_key, connect, query_patience, sends_key_in_the_open
    from adk_evidence.store.server_index import ServerIndex

    try:
        with connect(settings, query_patience(settings)) as connection:
            url, version = connection.url, connection.version()
            aliases = ServerIndex(settings).aliases(connection)
    except EvidenceError as exc:
        return [Finding("Qdrant server", "broken", exc.message, exc.hint)]
    names = ", ".join(f"{alias} -> {collection}" for alias, collection in sorted(aliases.items())) or "no alias yet"
    found = f"{url}, version {'.'.join(map(str, version))}, {names}"
    findings = [Finding("Qdrant server", "ok", found)]
    if api_key() is None:
        findings.append(Finding("Qdrant API key", "ok", f"none; {KEY_VARIABLES[0]} would set one"))
    elif sends_key_in_the_open(url):
        mend = "Use an https address in `store.url`."
        findings.append(Finding("Qdrant API key", "note", "It is sent unencrypted.", mend))
    else:
        findings.append(Finding("Qdrant API key", "ok", "set in the environment"))
    return findings


def _index(settings: Settings) -> list[Finding]:
    generations = open_generations(settings)
    current = generations.current()
    if current is None:
        return [Finding("index", "broken", "Nothing is indexed.", generations.missing_hint)]
    findings = [_opens(settings, generations), _fits(settings, current.manifest)]
    if (gap := dense_gap(current.manifest, generations, "adk-ingest all")) is not None:
        found = f"They {gap.why}; questions are answered by keywords alone."
        findings.append(Finding("dense vectors", "note", found, gap.hint))
    findings.append(_targets(settings, current.manifest))
    for name, corpus in current.manifest.corpora.items():
        size = f"{len(corpus.files):,} files, {corpus.chunks:,} chunks"
        findings.append(Finding(name, "ok", f"{corpus.repo}@{corpus.commit[:12]} from {corpus.source}, {size}"))
        if failed := corpus.failed_files():
            number = "1 file" if len(failed) == 1 else f"{len(failed):,} files"
            mend = "Please report this with the file, if you may show it."
            lacking = f"{number} could not be split into chunks, so the index lacks {failed[0]}"
            more = f" and {len(failed) - 1:,} more" if len(failed) > 1 else ""
            findings.append(Finding(f"{name} is incomplete", "note", f"{lacking}{more}.", mend))
        root = corpus.location.root
        if root.is_absolute() and not root.is_dir():
            gone = f"{root} is gone, so its citations cannot be checked."
            findings.append(Finding(f"{name} source", "note", gone, "Run `adk-ingest all`."))
    if "adk_docs" not in current.manifest.corpora:
        missing = "The guides are not indexed; the API reference stands in."
        mend = "Go online, or set ADK_EVIDENCE_DOCS to a checkout of google/adk-docs, and run `adk-ingest all`."
        findings.append(Finding("adk_docs", "note", missing, mend))
    return findings


def _cache(settings: Settings) -> list[Finding]:
    status = CacheStatus.of(settings)
    if status.bytes <= status.max_bytes:
        return [Finding("computed vectors", "ok", f"{status}.")]
    mend = "`adk-ingest prune` removes what no index was made of; or raise embedding.cache_max_bytes."
    return [Finding("computed vectors", "note", f"{status}.", mend)]


def _targets(settings: Settings, manifest: IndexManifest) -> Finding:
    model = make_target_embedder(settings)
    build = "Run `adk-ingest targets`."
    try:
        wanted = about_index(manifest, model.model, model.dimension)
        folder = find_set(settings.paths.targets, wanted)
    except TargetsMissingError as exc:
        return Finding("ranked targets", "note", exc.message, exc.hint)
    if folder.name != wanted.key:
        return Finding("ranked targets", "note", "They are of an earlier state of the indexed files.", build)
    if not has_vectors(folder):
        return Finding("ranked targets", "note", "They have no vectors, so names and words alone find them.", build)
    return Finding("ranked targets", "ok", f"of {wanted.commit[:12]}, with vectors")


def _opens(settings: Settings, generations: GenerationStore) -> Finding:
    try:
        with generations.open_current() as lease:
            store = open_reader(lease.folder, settings)
            points = sum(store.count(settings.store.collection(kind)) for kind in KINDS)
            store.close()
    except EvidenceError as exc:
        return Finding("index", "broken", exc.message, exc.hint or "Run `adk-ingest all`.")
    return Finding(
        "index", "ok", f"generation {lease.manifest.generation}, {points:,} points, {lease.manifest.created_at}"
    )


def _fits(settings: Settings, manifest: IndexManifest) -> Finding:
    try:
        check_fingerprint(manifest, fingerprint(settings))
    except EvidenceError as exc:
        return Finding("models", "broken", exc.message, exc.hint)
    if manifest.fingerprint != index_fingerprint(settings):
        older = "The index answers, but it was built by another version or with other ingestion settings."
        return Finding("models", "note", older, "Run `adk-ingest all`; vectors are taken from the cache.")
    return Finding("models", "ok", "The index was built with the models that questions use.")

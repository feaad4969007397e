"""Checks of an installation: what is installed, indexed, stale or missing, and how to mend it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal

from adk_evidence import __version__
from adk_evidence.commands import with_options
from adk_evidence.embedding.minilm.model import is_prepared
from adk_evidence.embedding.minilm.static import table_file
from adk_evidence.errors import EvidenceError, TargetsMissingError
from adk_evidence.index.encoders import as_kept
from adk_evidence.index.opened import check_readable, dense_gap
from adk_evidence.index.versions import indexed_versions, settings_for_version
from adk_evidence.models.chunk import KINDS
from adk_evidence.services.voyage import KEY_VARIABLE, has_key
from adk_evidence.settings import Settings, settings_file
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence.store.generations import GenerationStore
from adk_evidence.store.manifest import IndexManifest
from adk_evidence.targets.about import about_index, built_sets, has_vectors, make_target_embedder
from adk_evidence.targets.sets import find_set
from adk_ingest.chunking.chunkers import index_fingerprint
from adk_ingest.vectors.caches import CacheStatus
from adk_ingest.wording import counted, named

State = Literal["ok", "note", "broken"]

# No other hosted service is known to want a key.
OPENAI_URL = "https://api.openai.com/v1"
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
    """Check everything that an answer depends on; a problem becomes a finding and raises nothing."""
    parts = (_installation, _model, _reranker, _server, _index, _versions, _cache)
    return [finding for part in parts for finding in part(settings)]


def _installation(settings: Settings) -> Iterator[Finding]:
    try:
        versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    except importlib.metadata.PackageNotFoundError as exc:
        yield Finding("packages", "broken", f"{exc.name} is missing.", "Install adk-evidence again.")
        return
    user_file = settings_file()
    from_user = str(user_file) if user_file.is_file() else f"defaults; your own would be {user_file}"
    yield Finding("adk-evidence", "ok", f"{__version__}, Python {platform.python_version()} ({sys.executable})")
    yield Finding("packages", "ok", versions)
    yield Finding("settings", "ok", f"{from_user}; the models are those of `profile: {settings.profile}`")
    yield Finding("home", "ok", str(settings.paths.root))


def _model(settings: Settings) -> Iterator[Finding]:
    current = open_generations(settings).current()
    # `auto` leaves the choice to what the index has.
    chosen = as_kept(settings, current.manifest if current else None).embedding.dense
    what, models = "model for search by meaning", settings.paths.models
    # Voyage is not asked: that would cost money.
    if chosen.provider == "voyage" and not has_key():
        yield Finding(what, "broken", f"{KEY_VARIABLE} is not set.", "Set it in the environment.")
    elif chosen.provider == "voyage" and importlib.util.find_spec("voyageai") is None:
        hint = "Run `pip install 'adk-evidence[voyage]'`."
        yield Finding(what, "broken", "Voyage's client is not installed.", hint)
    elif chosen.provider == "voyage":
        yield Finding(what, "ok", f"Voyage's client is installed and {KEY_VARIABLE} is set; it was not asked.")
    elif chosen.provider == "openai":
        yield _embedding_service(settings, what)
    elif chosen.provider == "fastembed":
        docs, code = chosen.fastembed.docs_model, chosen.fastembed.code_model
        yield Finding(what, "ok", f"Two on this machine, by FastEmbed ({docs} for docs, {code} for code).")
    elif chosen.is_static and table_file(models) is not None:
        yield Finding(what, "ok", "It is on this machine (the words of all-MiniLM-L6-v2).")
    elif not chosen.is_static and is_prepared(models, chosen.layers):
        yield Finding(what, "ok", f"It is on this machine and was checked (all-MiniLM-L6-v2, {chosen.layers}).")
    elif is_prepared(models):
        wanted = "static" if chosen.is_static else chosen.layers
        found = f"It is on this machine, but not yet as the settings want it (all-MiniLM-L6-v2, {wanted})."
        yield Finding(what, "note", found, "The first indexing or question prepares it within a minute.")
    else:
        hint = "The first indexing or question fetches it (about 83 MB)."
        yield Finding(what, "note", "It is not on this machine yet (all-MiniLM-L6-v2).", hint)


def _embedding_service(settings: Settings, what: str) -> Finding:
    from adk_evidence.embedding.factory import make_dense
    from adk_evidence.services.embeddings import EMBEDDINGS
    from adk_evidence.services.metering import prices
    from adk_evidence.services.openai_api import costs_nothing

    openai = settings.embedding.openai
    found = f"{openai.model} at {openai.base_url}, vectors of length {openai.length}"
    if costs_nothing(openai, prices(settings.embedding)):
        try:
            with closing(make_dense(settings).doc) as model:
                model.embed_query("Is anybody there?")
        except EvidenceError as exc:
            return Finding(what, "broken", f"{found}: {exc.message}", exc.hint)
        return Finding(what, "ok", f"{found}; it answers.")
    # Not asked: that would cost money.
    named = EMBEDDINGS.at(openai.base_url)
    if named.has_key():
        return Finding(what, "ok", f"{found}; a key is set in the environment; it was not asked.")
    if openai.base_url == OPENAI_URL:
        return Finding(what, "broken", f"{found}: no key is set.", f"Set {named.keys}.")
    return Finding(what, "note", f"{found}; it was not asked. No key is set.", f"Set {named.keys} if it wants one.")


def _reranker(settings: Settings) -> Iterator[Finding]:
    if settings.rerank.provider != "llm":
        return
    from adk_evidence.services.chat import CHAT

    llm = settings.rerank.llm
    # Not asked: that would cost money.
    found = f"the local one, then {llm.model} at {llm.base_url}, which gets questions and passages; it was not asked."
    named = CHAT.at(settings.rerank.llm.base_url)
    if named.has_key():
        yield Finding("reranker", "ok", f"{found} A key is set in the environment.")
    else:
        yield Finding("reranker", "note", f"{found} No key is set.", f"Set {named.keys} if it wants one.")


def _server(settings: Settings) -> Iterator[Finding]:
    if settings.store.kind != "server":
        return
    from adk_evidence.services.qdrant import KEY_VARIABLES, api_key, connect, query_patience, sends_key_in_the_open
    from adk_evidence.store.server_index import ServerIndex

    try:
        with connect(settings, query_patience(settings)) as connection:
            url, version = connection.url, connection.version()
            aliases = ServerIndex(settings).aliases(connection)
    except EvidenceError as exc:
        yield Finding("Qdrant server", "broken", exc.message, exc.hint)
        return
    names = ", ".join(f"{alias} -> {collection}" for alias, collection in sorted(aliases.items())) or "no alias yet"
    yield Finding("Qdrant server", "ok", f"{url}, version {'.'.join(map(str, version))}, {names}")
    if api_key() is None:
        yield Finding("Qdrant API key", "ok", f"none; {KEY_VARIABLES[0]} would set one")
    elif sends_key_in_the_open(url):
        yield Finding("Qdrant API key", "note", "It is sent unencrypted.", "Use an https address in `store.url`.")
    else:
        yield Finding("Qdrant API key", "ok", "set in the environment")


def _index(settings: Settings) -> Iterator[Finding]:
    generations = open_generations(settings)
    current = generations.current()
    if current is None:
        # Indexes of versions, which follow, answer without it.
        if not indexed_versions(settings):
            yield Finding("index", "broken", "Nothing is indexed.", generations.missing_hint)
        return
    manifest = current.manifest
    yield _opens(settings, generations)
    yield _fits(settings, manifest)
    yield from _dense(settings, generations)
    yield _targets(settings, manifest)
    for name, corpus in manifest.corpora.items():
        size = f"{len(corpus.files):,} files, {corpus.chunks:,} passages"
        yield Finding(name, "ok", f"{corpus.repo}@{corpus.commit[:12]} from {corpus.source}, {size}")
        if failed := corpus.failed_files():
            files = counted(len(failed), "file", "files")
            lacking = f"{files} could not be split into passages, so the index lacks {named(failed, 1)}."
            mend = "Please report this with the file, if you may show it."
            yield Finding(f"{name} is incomplete", "note", lacking, mend)
        root = corpus.location.root
        if root.is_absolute() and not root.is_dir():
            gone = f"{root} is gone, so its citations cannot be checked."
            yield Finding(f"{name} source", "note", gone, "Run `adk-ingest all`.")
    if "adk_docs" not in manifest.corpora:
        missing = "The guides are not indexed; the API reference stands in."
        mend = "Go online, or set ADK_EVIDENCE_DOCS to a checkout of google/adk-docs, and run `adk-ingest all`."
        yield Finding("adk_docs", "note", missing, mend)


def _dense(settings: Settings, generations: GenerationStore, what: str = "search by meaning") -> Iterator[Finding]:
    current = generations.current()
    gap = current and dense_gap(current.manifest, generations, settings.ingest_command)
    if gap:
        yield Finding(what, "note", f"{gap.why.capitalize()}; questions are answered by keywords alone.", gap.hint)


def _opens(settings: Settings, generations: GenerationStore) -> Finding:
    try:
        with generations.open_current() as lease:
            store = open_reader(lease.folder, settings)
            points = sum(store.count(settings.store.collection(kind)) for kind in KINDS)
            store.close()
    except EvidenceError as exc:
        return Finding("index", "broken", exc.message, exc.hint or "Run `adk-ingest all`.")
    found = f"{points:,} passages, made {lease.manifest.created_at[:16].replace('T', ' ')} UTC"
    return Finding("index", "ok", found)


def _fits(settings: Settings, manifest: IndexManifest) -> Finding:
    try:
        check_readable(manifest, settings)
    except EvidenceError as exc:
        return Finding("models", "broken", exc.message, exc.hint)
    if manifest.fingerprint != index_fingerprint(as_kept(settings, manifest)):
        older = "The index answers, but it was built by another version or with other settings for indexing."
        return Finding("models", "note", older, "Run `adk-ingest all`; what is computed already is kept.")
    return Finding("models", "ok", "The index was built with the models that questions use.")


def _targets(settings: Settings, manifest: IndexManifest) -> Finding:
    what, build = "list of symbols", "Run `adk-ingest all`."
    model = make_target_embedder(settings)
    try:
        wanted = about_index(manifest, model.model, model.dimension)
        folder = find_set(settings.paths.targets, wanted)
    except TargetsMissingError as exc:
        return Finding(what, "note", exc.message, exc.hint)
    # The set of another state of the docs has the same symbols.
    if folder.name != wanted.key and dict(built_sets(settings.paths.targets))[folder].code != wanted.code:
        return Finding(what, "note", "It is of an earlier state of the indexed files.", build)
    if not has_vectors(folder):
        return Finding(what, "note", "Symbols are found by names and words alone, not by meaning yet.", build)
    return Finding(what, "ok", f"of {wanted.commit[:12]}, searched by meaning, too")


def _versions(settings: Settings) -> Iterator[Finding]:
    """The indexes of other versions of the ADK, and whether questions can be asked of them."""
    for version in indexed_versions(settings):
        own = settings_for_version(settings, version)
        generations = open_generations(own)
        finding = _opens(own, generations)
        hint = f"Run `{own.ingest_command}`." if finding.state == "broken" else ""
        yield replace(finding, what=f"google-adk {version}", mend=hint)
        yield from _dense(own, generations, f"search by meaning in google-adk {version}")


def _cache(settings: Settings) -> Iterator[Finding]:
    status = CacheStatus.of(settings)
    fits = status.bytes <= status.max_bytes
    mend = "Indexes need it: `adk-ingest delete` removes an index, and the next update removes what only it needed."
    yield Finding("cache", "ok" if fits else "note", f"{status}.", "" if fits else mend)

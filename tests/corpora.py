"""Small corpora of our own, an embedder that needs no model, and runs over both: what tests of ingestion share."""

from __future__ import annotations

import functools
import gzip
import json
import os
import re
import shutil
import subprocess
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adk_evidence.embedding.base import DenseEmbedder, FloatMatrix
from adk_evidence.embedding.bm25 import Bm25Encoder
from adk_evidence.models.chunk import ChunkPayload, Kind, sha256_text
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import Settings, load_settings
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence.store.generations import Generation, GenerationStore
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.pipeline import Ingestion
from adk_ingest.progress import Progress
from adk_ingest.publishing.changes import Changes
from adk_ingest.publishing.manifest import FailureReport, Mode, RunManifest, recorded_runs
from adk_ingest.records.questions import HASH_CHARS
from adk_ingest.session import Sources, gather
from adk_ingest.session import ingest as ingest_session
from tests.standins.live import server_store

DOCS_COMMIT = "d0c5000000000000000000000000000000000001"
CODE_COMMIT = "c0de000000000000000000000000000000000001"
DIMENSION = 384  # what the index's fingerprint names

MKDOCS = """\
site_name: Small docs
site_url: https://docs.example.org/
nav:
  - Home: index.md
  - Tools:
      - Retrying tools: tools/retry.md
      - tools/confirm.md
"""

DOCS: dict[str, str] = {
    "docs/index.md": """\
# Small kit

An agent answers a person and calls tools. Read on to see how a runner keeps its session.

## Install

Install the kit with your package manager, then make a folder for the agent and write its first tool.

## Sessions {#sessions}

A session keeps the state of one talk. Its keys with the prefix `user:` live on between two talks.
""",
    "docs/tools/retry.md": """\
# Retry a tool

When a tool throws, the runner gives the error to a plugin. The plugin decides whether the tool is called again.

## Reflect and retry

Add the `RetryPlugin` to the runner and say how many times a tool may fail:

```python
runner = Runner(agent, plugins=[RetryPlugin(max_retries=3)])
```

After the last attempt the error goes back to the model as an answer.

## Back off

Waiting longer after each failure keeps a busy service from being asked again at once.
""",
    "docs/tools/confirm.md": """\
# Confirm a tool

A tool that deletes something asks a person first. See [retrying](retry.md#back-off).

## Ask a person

Set `require_confirmation` on the tool. The runner stops until the answer is there.
""",
}

CODE: dict[str, str] = {
    "src/google/adk/__init__.py": '"""The small kit."""\n\nfrom .runners import Runner\n\n__all__ = ["Runner"]\n',
    "src/google/adk/runners.py": '''\
"""Runs agents."""

from __future__ import annotations


class Runner:
    """Runs an agent and keeps its session.

    Args:
        agent: What answers.
        plugins: Asked when a tool throws.
    """

    def __init__(self, agent: object, plugins: list[object] | None = None) -> None:
        self.agent = agent
        self.plugins = plugins or []

    def run(self, message: str) -> str:
        """Answer one message."""
        return f"{self.agent}: {message}"
''',
    "src/google/adk/plugins/__init__.py": """\
'''Plugins.'''

from .retry import RetryPlugin

__all__ = ["RetryPlugin"]
""",
    "src/google/adk/plugins/retry.py": '''\
"""Calls a failed tool again."""

MAX_RETRIES = 3


class RetryPlugin:
    """Retries a tool that throws.

    Args:
        max_retries: How often a tool may fail.
    """

    def __init__(self, max_retries: int = MAX_RETRIES) -> None:
        self.max_retries = max_retries

    def on_tool_error(self, error: Exception, attempt: int) -> bool:
        """Whether the tool is called again after `attempt` failures."""
        return attempt < self.max_retries


def back_off(attempt: int) -> float:
    """Seconds to wait before the next attempt."""
    return min(60.0, 2.0**attempt)
''',
    "README.md": "# Small kit\n\nA kit for tests. It retries tools that throw and keeps the state of sessions.\n",
}


class HashEmbedder:
    """A dense embedder without a model: a text's vector is its hashed bag of words.

    Args:
        batch_size: Texts a batch.
        fail_after: Raise `failure` once this many documents were embedded.
        on_batch: Called before each batch with the number of documents embedded so far.

    `embedded` lists every document text that was computed, in order.
    """

    model = "hashed-words"
    dimension = DIMENSION

    def __init__(
        self,
        *,
        batch_size: int = 8,
        fail_after: int | None = None,
        failure: BaseException | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> None:
        self.embedded: list[str] = []
        self._batch_size = batch_size
        self._fail_after = fail_after
        self._failure = failure or RuntimeError("the embedder broke")
        self._on_batch = on_batch or (lambda done: None)

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        for start in range(0, len(texts), self._batch_size):
            self._on_batch(len(self.embedded))
            if self._fail_after is not None and len(self.embedded) >= self._fail_after:
                raise self._failure
            positions = list(range(start, min(start + self._batch_size, len(texts))))
            self.embedded += [texts[position] for position in positions]
            yield positions, np.array([word_vector(texts[position]) for position in positions], dtype=np.float32)

    def embed_query(self, text: str) -> list[float]:
        return word_vector(text)


class Notes(Progress):
    """Keeps the sentences of a run."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def embed_all(embedder: DenseEmbedder, texts: Sequence[str]) -> FloatMatrix:
    """The vectors of texts, in their order."""
    result = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    for positions, vectors in embedder.iter_embed(texts):
        result[positions] = vectors
    return result


def word_vector(text: str) -> list[float]:
    """A unit vector that is the same in every process."""
    vector = np.zeros(DIMENSION, dtype=np.float64)
    for word in re.findall(r"[a-z]+", text.lower()):
        vector[zlib.crc32(word.encode()) % DIMENSION] += 1.0
    norm = float(np.linalg.norm(vector))
    if norm == 0:
        vector[0], norm = 1.0, 1.0
    return [float(value) for value in vector / norm]


@functools.cache
def shared_sparse() -> Bm25Encoder:
    """The product's own sparse encoder; opening it takes longer than a small corpus does."""
    return Bm25Encoder()


class Texts:
    """A source of given texts, by path."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def read(self, path: str) -> str | None:
        return self._texts.get(path)

    def paths(self) -> list[str]:
        return sorted(self._texts)


def write_files(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder, which is made; returns the folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def write_questions(path: Path, chunks: Mapping[str, Sequence[tuple[str, Sequence[str]]]]) -> None:
    """Write a table of questions, as the product ships one: texts and their questions by name."""
    table = {
        name: [(sha256_text(text)[:HASH_CHARS], questions) for text, questions in found]
        for name, found in chunks.items()
    }
    path.write_bytes(gzip.compress(json.dumps({"format": 1, "questions": table}).encode()))


def change(path: Path, old: str, new: str) -> None:
    """Put a text in the place of another in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def write_docs(root: Path, files: Mapping[str, str | bytes] | None = None, commit: str = DOCS_COMMIT) -> Path:
    """A docs snapshot: `corpus.json`, `mkdocs.yml` and pages."""
    about = {"corpus": "adk_docs", "repo": "google/adk-docs", "commit": commit, "ref": "main"}
    write_files(root, {"corpus.json": json.dumps(about), "mkdocs.yml": MKDOCS})
    return write_files(root, DOCS if files is None else files)


def write_code(root: Path, files: Mapping[str, str | bytes] | None = None, commit: str = CODE_COMMIT) -> Path:
    """A code snapshot, laid out as the repository."""
    about = {"corpus": "adk_python", "repo": "google/adk-python", "commit": commit, "ref": "v9.9.0"}
    write_files(root, {"corpus.json": json.dumps(about)})
    return write_files(root, CODE if files is None else files)


def write_checkout(root: Path, files: Mapping[str, str | bytes] | None = None) -> str:
    """A git checkout of the code; returns its commit."""
    write_files(root, CODE if files is None else files)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "first")
    return git(root, "rev-parse", "HEAD")


def write_wheel(
    folder: Path,
    version: str = "9.9.0",
    code: Mapping[str, str] = CODE,
    name: str = "google-adk",
    more: Mapping[str, str] | None = None,
) -> Path:
    """A wheel of the code below `src`, by default as the distribution google-adk would be, and of more members."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    files = {path.removeprefix("src/"): text for path, text in code.items() if path.startswith("src/")}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nLicense: Apache-2.0\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files |= more or {}
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


def git(folder: Path, *arguments: str) -> str:
    """Run git without the user's settings; returns its output."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@dataclass
class Workplace:
    """A home folder with a small docs and a small code corpus beside it.

    Args:
        root: An empty folder for all of it.
        overrides: Settings besides the home folder.
        store: Kind of its store; the server is a stand-in, or the one that QDRANT_URL names.
    """

    root: Path
    overrides: dict[str, Any] = field(default_factory=dict)
    store: str = "edge"

    def __post_init__(self) -> None:
        # A second process finds the corpora as the first one left them.
        if not self.docs.exists():
            write_docs(self.docs)
            write_code(self.code)

    @property
    def docs(self) -> Path:
        return self.root / "docs"

    @property
    def code(self) -> Path:
        return self.root / "code"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def settings(self) -> Settings:
        return self.settings_with({})

    def settings_with(self, overrides: dict[str, Any]) -> Settings:
        """The settings with some more changed, which take the place of the workplace's own."""
        store = {"store": server_store()} if self.store == "server" else {}
        # Other folders of a test lie beside its workplace.
        agents = {"roots": [self.root.parent]}
        values = {"home": self.home, "agents": agents, **store, **self.overrides, **overrides}
        return load_settings(values, user_file=self.root / "no-settings.yaml")

    @property
    def sources(self) -> Sources:
        return Sources(docs=str(self.docs), code=str(self.code), allow_network=False)

    def ingest(
        self,
        mode: Mode = "all",
        dense: Any = None,
        *,
        sparse: Any = None,
        progress: Progress | None = None,
        sources: Sources | None = None,
    ) -> RunManifest:
        """One run, from finding the sources to publishing."""
        return ingest_session(
            self.settings,
            mode,
            sources or self.sources,
            progress or Progress(),
            dense=dense or HashEmbedder(),
            sparse=sparse or shared_sparse(),
        )

    def plan(self, mode: Mode = "all") -> tuple[list[Changes], int]:
        """A dry run."""
        dry = Ingestion(self.settings, Progress(), dense=HashEmbedder()).plan(mode, self.gather(mode))
        return dry.changes, dry.vectors

    def gather(self, mode: Mode = "all") -> list[CorpusInput]:
        """The corpora alone."""
        return gather(self.settings, mode, self.sources, Progress())

    @property
    def generations(self) -> GenerationStore:
        return open_generations(self.settings)

    @property
    def published(self) -> Generation:
        """The published generation, which there must be."""
        current = self.generations.current()
        assert current is not None
        return current

    def points(self) -> dict[str, ChunkPayload]:
        """Every published point's payload by its id."""
        found = [*self.records("doc"), *self.records("code")]
        return {record.id: ChunkPayload.model_validate(record.payload) for record in found}

    def records(self, kind: Kind, *, with_vectors: bool = False) -> list[Any]:
        """Every published point of a kind."""
        with (
            self.generations.open_current() as lease,
            closing(open_reader(lease.folder, self.settings)) as store,
        ):
            collection = self.settings.store.collection(kind)
            return store.scroll(collection, limit=100_000, with_vectors=with_vectors)[0]

    def runs(self) -> list[RunManifest]:
        """Every run's manifest, newest first."""
        return list(recorded_runs(self.settings.paths.runs))

    def failure(self, run_id: str) -> FailureReport:
        """A run's failure report."""
        path = self.settings.paths.runs / f"{run_id}.failure.json"
        return FailureReport.model_validate_json(path.read_bytes())

    def ask(self, query: str, dense: Any = None) -> EvidencePack:
        """One answer."""
        with closing(self.service(dense)) as service:
            return service.find(EvidenceRequest(query=query))

    def service(self, dense: Any = None) -> EvidenceService:
        """Answers from the published index; close it."""
        return EvidenceService(self.settings, dense=dense or HashEmbedder(), sparse=shared_sparse())


def forget_vectors_of_symbols(workplace: Workplace) -> None:
    """Take the vectors of the ranked targets away, also from the cache."""
    for folder in workplace.settings.paths.targets.iterdir():
        (folder / "targets_vectors.npy").unlink(missing_ok=True)
    shutil.rmtree(workplace.settings.paths.embedding_cache.parent)

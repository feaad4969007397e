"""Time and memory of ingestion: from nothing, unchanged, and with one changed file.

    python -m tests.benchmarks.ingest --docs FOLDER --code FOLDER_OR_WHEEL [--minilm] [--models HOME/models]
    python -m tests.benchmarks.ingest --files 10000

The first form takes real corpora, the second makes that many small files, half Markdown and half Python. All work
is done in a temporary folder. Vectors are hashed words, which cost next to nothing; `--minilm` computes real ones,
which takes minutes for the ADK's corpora.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path

from adk_evidence.settings import Settings, load_settings
from adk_ingest.manifest import RunManifest
from adk_ingest.progress import Progress
from adk_ingest.session import Sources, ingest
from tests.benchmarks.measure import peak_rss_mb, show
from tests.corpora import HashEmbedder, write_code, write_docs

WORDS = [
    "agent",
    "tool",
    "session",
    "state",
    "runner",
    "event",
    "memory",
    "model",
    "callback",
    "plugin",
    "retry",
    "stream",
    "artifact",
    "context",
]


class _Clock(Progress):
    """Notes when the keyword index is published."""

    def __init__(self) -> None:
        self.begin = time.perf_counter()
        self.lexical_ready: float | None = None

    def note(self, message: str) -> None:
        if message.startswith("Keyword search is ready"):
            self.lexical_ready = time.perf_counter() - self.begin


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="adk-evidence-benchmark-") as scratch:
        root = Path(scratch)
        if options.files:
            sources = _synthetic(root, options.files)
        else:
            docs = shutil.copytree(options.docs, root / "docs")
            sources = Sources(docs=str(docs), code=str(options.code), allow_network=False)
        settings = load_settings({"home": root / "home"})
        if options.models:
            settings.paths.root.mkdir(parents=True)
            settings.paths.models.symlink_to(options.models.resolve())
        _run("from nothing", settings, sources, minilm=options.minilm)
        _run("unchanged", settings, sources, minilm=options.minilm)
        page = next(path for path in sorted((root / "docs" / "docs").rglob("*.md")) if path.stat().st_size > 200)
        page.write_text(page.read_text(encoding="utf-8") + "\n\nOne more paragraph.\n", encoding="utf-8")
        _run("one changed file", settings, sources, minilm=options.minilm)
    show("peak RSS", f"{peak_rss_mb():.0f} MB")


def _run(name: str, settings: Settings, sources: Sources, *, minilm: bool) -> None:
    clock, processor = _Clock(), time.process_time()
    run = ingest(settings, "all", sources, clock, dense=None if minilm else HashEmbedder(batch_size=64))
    seconds = time.perf_counter() - clock.begin
    show(name, f"{seconds:.2f} s, CPU {time.process_time() - processor:.2f} s, {run.status}")
    show("  stages", ", ".join(f"{stage} {value:.2f} s" for stage, value in run.seconds.items()))
    if clock.lexical_ready is not None:
        show("  keyword search ready", f"after {clock.lexical_ready:.2f} s")
    show("  work", _work(run))


def _work(run: RunManifest) -> str:
    files = sum(corpus.files_changed for corpus in run.corpora.values())
    chunks = sum(corpus.chunks for corpus in run.corpora.values())
    reading = run.seconds.get("discover", 0.0) + run.seconds.get("chunk", 0.0)
    rate = f", {files / reading:.0f} files/s discovered and chunked" if files > 1 and reading else ""
    return f"{files} files changed, {chunks} chunks in all, {run.vectors_embedded} vectors computed{rate}"


def _synthetic(root: Path, files: int) -> Sources:
    source = random.Random(files)

    def words(count: int) -> str:
        return " ".join(source.choices(WORDS, k=count))

    def page(number: int) -> str:
        sections = (f"## {words(3).title()}\n\n{words(60)}.\n" for _ in range(3))
        return f"# Page {number}\n\n{words(30)}.\n\n" + "\n".join(sections)

    def module(number: int) -> str:
        functions = (
            f'def {words(2).replace(" ", "_")}_{place}({words(1)}):\n    """{words(12)}."""\n    return {number}\n'
            for place in range(4)
        )
        return f'"""{words(10)}."""\n\n\n' + "\n\n".join(functions)

    half = files // 2
    docs = write_docs(root / "docs", {f"docs/part{n % 50}/page{n}.md": page(n) for n in range(half)})
    code = write_code(root / "code", {f"src/google/adk/part{n % 50}/m{n}.py": module(n) for n in range(files - half)})
    return Sources(docs=str(docs), code=str(code), allow_network=False)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="checkout or snapshot of the docs; it is copied")
    parser.add_argument("--code", type=Path, help="checkout, snapshot or wheel of the code")
    parser.add_argument("--files", type=int, default=0, help="make so many small files instead")
    parser.add_argument("--minilm", action="store_true", help="compute real vectors")
    parser.add_argument("--models", type=Path, help="folder of prepared models to use instead of fetching")
    options = parser.parse_args()
    if not options.files and not (options.docs and options.code):
        parser.error("name --docs and --code, or --files")
    return options


if __name__ == "__main__":
    main()

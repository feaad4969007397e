"""Time and memory of ingestion: from nothing, unchanged, and with one changed file.

    python -m tests.benchmarks.ingest --files 10000 [--turns 3] [--other CHECKOUT]
    python -m tests.benchmarks.ingest --tree FOLDER [FOLDER ...] [--minilm [--models HOME/models]]
    python -m tests.benchmarks.ingest --docs FOLDER --code FOLDER_OR_WHEEL [--minilm] [--models HOME/models]

The first form makes so many files in Python, TypeScript, JavaScript and Markdown (11 KB each in the mean), the second
takes folders, for instance unpacked wheels, and the third the corpora of the ADK. All work is done in a temporary
folder, and each run in processes of its own. Vectors are hashed words, which cost a tenth of a millisecond each;
`--minilm` computes real ones.

With several turns, what is compared takes turns, and medians are printed. `--other` runs another checkout's code in the
same turns.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.settings import settings_for
from adk_evidence.settings import Settings, load_settings
from adk_evidence.store.factory import open_generations
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import recorded_runs
from adk_ingest.session import Sources, ingest
from tests.benchmarks.measure import show
from tests.benchmarks.processes import Watched, bytes_on_disk, watched
from tests.benchmarks.trees import write_tree
from tests.corpora import HashEmbedder

_NAME = "measured"
_MB = 1_000_000


class _Hashed(HashEmbedder):
    """Hashed words for runs whose memory is measured: that of tests keeps every text."""

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        for batch in super().iter_embed(texts):
            self.embedded.clear()
            yield batch


class _Clock(Progress):
    """Notes when the keyword index is published."""

    def __init__(self) -> None:
        self.begin = time.perf_counter()
        self.lexical_ready: float | None = None

    def published(self, *, vectors: bool) -> None:
        if not vectors:
            self.lexical_ready = time.perf_counter() - self.begin


def main() -> None:
    """Measure and print."""
    options = _options()
    if options.child:
        print(json.dumps(_ingested(options)))
        return
    with tempfile.TemporaryDirectory(prefix="adk-evidence-benchmark-") as scratch:
        root = Path(scratch)
        tree = root / "tree"
        if options.files:
            write_tree(tree, options.files, options.seed)
        for folder in options.tree:
            shutil.copytree(folder, tree / folder.name)
        if options.docs:
            shutil.copytree(options.docs, tree)
        sources = [path for path in sorted(tree.rglob("*")) if path.is_file()]
        show("files", f"{len(sources):,}, {sum(path.stat().st_size for path in sources) / _MB:.1f} MB")
        _measure(options, root, tree)


def _measure(options: argparse.Namespace, root: Path, tree: Path) -> None:
    """All runs in turns, then an unchanged one and one with a changed file."""
    arms: dict[str, list[Watched]] = {"ours": []}
    if options.other:
        arms["other"] = []
    home = root / "home"
    for _ in range(options.turns):
        for arm, runs in arms.items():
            shutil.rmtree(home, ignore_errors=True)
            runs.append(_run(options, home, tree, options.other if arm == "other" else None))
    for arm, runs in arms.items():
        _show(arm, runs)
    ours = arms.pop("ours")
    for arm, runs in arms.items():
        time_of, theirs = (median(run.said["seconds"] for run in each) for each in (ours, runs))
        cpu = median(run.cpu_seconds for run in ours) / median(run.cpu_seconds for run in runs)
        rss = median(run.rss_mb for run in ours) / median(run.rss_mb for run in runs)
        show(f"ours / {arm}", f"{time_of / theirs:.2f} of the time, {cpu:.2f} of the CPU, {rss:.2f} of the RSS")
    shutil.rmtree(home, ignore_errors=True)
    _run(options, home, tree, None)
    _show("unchanged", [_run(options, home, tree, None)])
    page = next(path for path in sorted(tree.rglob("*.md")) + sorted(tree.rglob("*.py")) if path.stat().st_size > 200)
    page.write_text(page.read_text(encoding="utf-8") + "\n\n# One more paragraph.\n", encoding="utf-8")
    _show("one changed file", [_run(options, home, tree, None)])


def _run(options: argparse.Namespace, home: Path, tree: Path, checkout: Path | None) -> Watched:
    """One ingestion in a process of its own, with the code of a checkout."""
    _with_models(options, home)
    more = ["--minilm"] if options.minilm else []
    if options.docs:
        more += ["--docs", str(tree), "--code", str(options.code)]
    other = {"PYTHONPATH": f"{checkout}/server:{checkout}/ingest"} if checkout else {}
    return watched(["-m", "tests.benchmarks.ingest", "--child", str(home), "--tree", str(tree), *more], other)


def _with_models(options: argparse.Namespace, home: Path) -> None:
    if options.models and not (home / "models").exists():
        home.mkdir(parents=True, exist_ok=True)
        (home / "models").symlink_to(options.models.resolve())


def _ingested(options: argparse.Namespace) -> dict[str, Any]:
    """What a child tells of its run."""
    settings: Settings = load_settings({"home": options.child})
    dense = None if options.minilm else _Hashed(batch_size=64)
    clock = _Clock()
    if options.docs:
        sources = Sources(str(options.docs), str(options.code), allow_network=False)
        ingest(settings, "all", sources, clock, dense=dense)
    else:
        codebase = Codebase(name=_NAME, path=options.tree[0])
        CodebaseIndexer(settings, dense=dense).build(codebase, clock)
        settings = settings_for(settings, codebase)
    seconds = time.perf_counter() - clock.begin
    run = max(recorded_runs(settings.paths.runs), key=lambda run: run.started_at)
    current = open_generations(settings).current()
    corpora = current.manifest.corpora.values() if current else ()
    files = {path: entry for corpus in corpora for path, entry in corpus.files.items()}
    cache = settings.paths.embedding_cache
    return {
        "seconds": seconds,
        "ready": clock.lexical_ready or seconds,
        "status": run.status,
        "stages": run.seconds,
        "changed": sum(corpus.files_changed for corpus in run.corpora.values()),
        "files": sorted(files),
        "chunks": sum(corpus.chunks for corpus in run.corpora.values()),
        "passages": sum(entry.passages or 0 for entry in files.values()),
        "embedded": run.vectors_embedded,
        "bytes": bytes_on_disk(options.child),
        "cache": cache.stat().st_size if cache.exists() else 0,
    }


def _show(arm: str, runs: Sequence[Watched]) -> None:
    """The median run of an arm by its time, with what it said."""
    run = sorted(runs, key=lambda run: run.said["seconds"])[len(runs) // 2]
    said, seconds = run.said, run.said["seconds"]
    each = ", ".join(f"{one.said['seconds']:.1f}" for one in runs)
    times = f"{seconds:.1f} s of {each}" if len(runs) > 1 else f"{seconds:.1f} s"
    memory = f"peak RSS {run.rss_mb:.0f} MB, {run.own_mb:.0f} MB of it no file's"
    show(arm, f"{times}, CPU {run.cpu_seconds:.1f} s with the start, {memory}")
    show("  on disk", f"{said['bytes'] / _MB:.1f} MB, {said['cache'] / _MB:.1f} MB of it the cache")
    show("  stages", ", ".join(f"{stage} {value:.1f} s" for stage, value in said["stages"].items()))
    if said["ready"] < seconds:
        show("  keyword search ready", f"after {said['ready']:.1f} s")
    rate = (
        f", {said['changed'] / seconds:.0f} files/s and {said['chunks'] / seconds:.0f} chunks/s"
        if said["changed"] > 1
        else ""
    )
    work = f"{said['status']}: {said['changed']:,} of {len(said['files']):,} files changed, {said['chunks']:,} chunks"
    show("  work", f"{work} in all, {said['embedded']:,} vectors computed for {said['passages']:,} passages{rate}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=0, help="make so many files in four languages")
    parser.add_argument("--seed", type=int, default=0, help="of the files that are made")
    parser.add_argument("--tree", type=Path, nargs="+", default=[], help="folders of source files; they are copied")
    parser.add_argument("--docs", type=Path, help="checkout or snapshot of the ADK's docs; it is copied")
    parser.add_argument("--code", type=Path, help="checkout, snapshot or wheel of the ADK's code")
    parser.add_argument("--minilm", action="store_true", help="compute real vectors")
    parser.add_argument("--models", type=Path, help="folder of prepared models to use instead of fetching")
    parser.add_argument("--turns", type=int, default=1, help="how often each is measured from nothing")
    parser.add_argument("--other", type=Path, help="another checkout of this repository to compare with")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return options
    if bool(options.docs) != bool(options.code) or sum(map(bool, (options.files, options.tree, options.docs))) != 1:
        parser.error("name one of --files, --tree, or --docs and --code")
    return options


if __name__ == "__main__":
    main()

"""Other programs that index the same files offline: bm25s (keywords) and LanceDB (keywords and vectors).

    python -m tests.benchmarks.peers bm25s|lancedb FILES FOLDER [--home HOME]

FILES lists paths, one a line. Both cut files into windows of 40 lines, know no language and check nothing: they are a
lower bound of the work. LanceDB's vectors come from the same model as ours, one for each window.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from adk_evidence.embedding.base import DenseEmbedder, FloatMatrix, Pair
from adk_evidence.embedding.factory import make_dense
from adk_evidence.settings import load_settings
from tests.benchmarks.processes import bytes_on_disk
from tests.corpora import HashEmbedder

PEERS = {"bm25s": "bm25s", "lancedb": "lancedb"}
_WINDOW_LINES = 40


class _Hashed(HashEmbedder):
    """Hashed words for runs whose memory is measured: that of tests keeps every text."""

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        for batch in super().iter_embed(texts):
            self.embedded.clear()
            yield batch


def embedder(home: Path | None) -> DenseEmbedder:
    """Hashed words, whose vectors cost a tenth of a millisecond; with a home folder, the model of its settings."""
    if home is None:
        return _Hashed(batch_size=64)
    return Pair.of(make_dense(load_settings({"home": home}))).code


def lacks(peer: str) -> bool:
    return find_spec(PEERS[peer]) is None


def main() -> None:
    """Build one peer's index and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("files", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    begin = time.perf_counter()
    windows = list(_windows(options.files))
    if options.peer == "bm25s":
        _bm25s(windows, options.folder)
    else:
        _lancedb(windows, options.folder, options.home)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "chunks": len(windows), "bytes": bytes_on_disk(options.folder)}))


def _windows(files: Path) -> Iterator[str]:
    for path in files.read_text(encoding="utf-8").splitlines():
        lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
        for start in range(0, len(lines), _WINDOW_LINES):
            yield "\n".join(lines[start : start + _WINDOW_LINES])


def _bm25s(windows: list[str], folder: Path) -> None:
    import bm25s

    index = bm25s.BM25()
    index.index(bm25s.tokenize(windows, stopwords="en", show_progress=False), show_progress=False)
    index.save(folder, corpus=[{"text": text} for text in windows], show_progress=False)


def _lancedb(windows: list[str], folder: Path, home: Path | None) -> None:
    import lancedb
    from lancedb.index import FTS

    model = embedder(home)
    rows = (
        [{"text": windows[position], "vector": vector} for position, vector in zip(positions, vectors, strict=True)]
        for positions, vectors in model.iter_embed(windows)
    )
    table = lancedb.connect(folder).create_table("windows", data=next(rows))
    waiting: list[dict[str, object]] = []
    for batch in rows:
        waiting += batch
        if len(waiting) >= 4096:
            table.add(waiting)
            waiting = []
    if waiting:
        table.add(waiting)
    table.create_index("text", config=FTS())


if __name__ == "__main__":
    main()

"""Citations of one version of the ADK, looked for in another: how many stand, moved, changed and are gone.

    python -m tests.benchmarks.replay --wheels FOLDER [--versions 1.4.2 2.13.0 ...] [--cite functions] [--out FILE]

FOLDER holds wheels of google-adk. Every function and method of the older version is cited by its lines (`--cite
chunks`: every chunk with a name) and anchored in the newer version. FILE gets one line of JSON for each citation;
`python -m tests.benchmarks.replay_check` reads it.
"""

from __future__ import annotations

import argparse
import json
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TextIO

from adk_evidence.citations.anchor import Corpus, anchor
from adk_evidence.models.chunk import sha256_text
from adk_evidence.models.cited import Cited
from adk_evidence.readers.python import Function, definitions, first_line, last_line, parse
from adk_evidence.settings import load_settings
from adk_evidence.text.textfile import decode, split_lines
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.code import chunk_code
from tests.corpora import Texts

VERSIONS = ("1.4.2", "1.18.0", "1.31.0", "2.0.0", "2.13.0")
COLUMNS = ("exact", "moved", "moved, other file", "same tree", "changed", "changed, other file", "gone")


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--versions", nargs="+", default=VERSIONS)
    parser.add_argument("--cite", choices=("functions", "chunks"), default="functions")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    texts = {version: read_wheel(options.wheels, version) for version in options.versions}
    citations = {
        version: list(functions(files) if options.cite == "functions" else chunks(files))
        for version, files in texts.items()
    }
    heads = "".join(f"{column:>21}" for column in COLUMNS)
    print(f"{'from':>7}{'to':>8}{'cited':>7}{heads}{'seconds':>9}")
    out = options.out.open("w", encoding="utf-8") if options.out else None
    for old, new in combinations(options.versions, 2):
        begin = time.process_time()
        counts = replay(old, citations[old], new, Corpus(Texts(texts[new])), out)
        total = max(1, sum(counts.values()))
        shares = "".join(f"{f'{counts[column]} {counts[column] / total:4.0%}':>21}" for column in COLUMNS)
        print(f"{old:>7}{new:>8}{total:>7}{shares}{time.process_time() - begin:>9.1f}", flush=True)
    if out:
        out.close()


def replay(old: str, citations: list[Cited], new: str, corpus: Corpus, out: TextIO | None) -> Counter[str]:
    counts: Counter[str] = Counter()
    for cited in citations:
        found = anchor(cited, corpus)
        state = found.state.replace("_", " ")
        counts[f"{state}, other file" if found.path and state != "same tree" else state] += 1
        if out:
            record = {
                "from": old,
                "to": new,
                "path": cited.path,
                "name": cited.name,
                "kind": cited.symbol_kind,
                "start": cited.start_line,
                "end": cited.end_line,
                "columns": [cited.start_col, cited.end_col] if cited.start_col is not None else None,
                "text": cited.body,
                "state": found.state,
                "now_path": found.path,
                "now": [found.lines.start, found.lines.end] if found.lines else None,
            }
            out.write(json.dumps(record) + "\n")
    return counts


def functions(files: dict[str, str]) -> Iterator[Cited]:
    """Every function and method that stands in a module or a class, with its decorators."""
    for path, text in files.items():
        lines = split_lines(text)
        for name, nodes in definitions(parse(text)[0]).items():
            for node in nodes:
                if isinstance(node, Function):
                    start, end = first_line(node), last_line(node)
                    kind = "method" if "." in name else "function"
                    yield Cited(
                        path, "py", "\n".join(lines[start - 1 : end]), start, end, symbol=name, symbol_kind=kind
                    )


def chunks(files: dict[str, str]) -> Iterator[Cited]:
    chunking = load_settings().ingestion.chunking
    for path, text in files.items():
        for raw in chunk_code(SourceFile(path, text, sha256_text(text)), chunking).chunks:
            if raw.symbol_kind == "module":
                continue
            yield Cited(
                path,
                raw.lang or "py",
                raw.body,
                raw.start_line,
                raw.end_line,
                raw.start_col,
                raw.end_col,
                symbol=raw.symbol,
                symbol_kind=raw.symbol_kind,
                symbols=raw.symbols,
            )


def read_wheel(folder: Path, version: str) -> dict[str, str]:
    """The Python files of a version by their paths in the repository."""
    with zipfile.ZipFile(folder / f"google_adk-{version}-py3-none-any.whl") as wheel:
        found = {name: decode(wheel.read(name)) for name in sorted(wheel.namelist()) if name.endswith(".py")}
    return {f"src/{name}": decoded.text for name, decoded in found.items() if decoded is not None}


if __name__ == "__main__":
    main()

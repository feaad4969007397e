"""How much of an index is what: by language, by kind and by folder, its large symbols, and what programs wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from adk_evidence.analysis.chunks import Chunk, grouped, idle_folders
from adk_evidence.models.analysis import AnalysisOptions, Generated, LargeSymbol, LargeSymbols, Share
from adk_evidence.models.chunk import TYPE_KINDS
from adk_evidence.models.citation import code_citation
from adk_evidence.models.pack import LineSpan

_FUNCTIONS = frozenset({"function", "method"})
_ROOT = "./"


def shares(chunks: Iterable[Chunk], name: Callable[[Chunk], str]) -> tuple[Share, ...]:
    """The parts of an index that have a name in common, those of most tokens first."""
    found = (_share(part, inside) for part, inside in grouped(chunks, name).items())
    return tuple(sorted(found, key=lambda share: (-share.tokens, share.name)))


def folders(chunks: Sequence[Chunk], limit: int) -> tuple[Share, ...]:
    """The largest folders of an index; a file counts for the innermost folder that is listed.

    Where another listed folder lies in a folder, `(rest)` follows its name. Several repositories keep their names in
    front.
    """
    several = len({chunk.repo for chunk in chunks}) > 1
    above: dict[tuple[str, str, str], list[str]] = {}
    for chunk in chunks:
        if chunk.file not in above:
            above[chunk.file] = _above(f"{chunk.repo}/{chunk.path}" if several else chunk.path)
    weights: Counter[str] = Counter()
    for chunk in chunks:
        for folder in above[chunk.file]:
            weights[folder] += chunk.tokens
    telling = weights.keys() - idle_folders(above.values(), weights)
    largest = sorted(telling, key=lambda folder: (-weights[folder], folder))[:limit]
    listed = {*largest, _ROOT}
    inner = {outer for folder in listed for outer in _above(folder)[1:]}

    def name(chunk: Chunk) -> str:
        folder = next(folder for folder in above[chunk.file] if folder in listed)
        return f"{folder} (rest)" if folder in inner else folder

    return shares(chunks, name)


def large_symbols(chunks: Sequence[Chunk], options: AnalysisOptions) -> tuple[LargeSymbols, list[LargeSymbol]]:
    """The functions and classes with more tokens than the options allow; `chunks` are by path and line.

    Of the functions, all that are in several chunks come extra, the largest first.
    """
    found: list[LargeSymbol] = []
    for _, file in groupby(chunks, key=lambda chunk: chunk.file):
        found += (symbol for symbol in _symbols(list(file)) if symbol.tokens > options.symbol_tokens)
    found.sort(key=lambda symbol: (-symbol.tokens, symbol.path, symbol.lines.start))
    functions = [symbol for symbol in found if symbol.kind in _FUNCTIONS]
    listed = tuple(found[: options.limit])
    large = LargeSymbols(functions=len(functions), classes=len(found) - len(functions), listed=listed)
    return large, [symbol for symbol in functions if symbol.chunks > 1]


def generated(chunks: Iterable[Chunk], limit: int) -> tuple[Generated, frozenset[tuple[str, str, str]]]:
    """What programs wrote, and the files of that."""
    chunks = list(chunks)
    saying = {chunk.file: chunk for chunk in chunks if chunk.generated}
    tokens: dict[tuple[str, str, str], int] = {}
    count = 0
    for chunk in chunks:
        if chunk.file in saying:
            count += 1
            tokens[chunk.file] = tokens.get(chunk.file, 0) + chunk.tokens
    largest = sorted(saying, key=lambda file: (-tokens[file], file))[:limit]
    listed = tuple(saying[file].at() for file in largest)
    return Generated(files=len(saying), chunks=count, listed=listed), frozenset(saying)


def _symbols(file: Sequence[Chunk]) -> Iterator[LargeSymbol]:
    """The functions and classes of a file, each with all of its pieces."""
    for at, chunk in enumerate(file):
        kind = chunk.symbol_kind
        if chunk.symbol is None or kind is None or kind not in _FUNCTIONS | TYPE_KINDS:
            continue
        is_class = kind in TYPE_KINDS
        last = at
        while last + 1 < len(file) and _goes_on(chunk.symbol, file[last + 1], is_class=is_class):
            last += 1
        pieces = file[at : last + 1]
        yield LargeSymbol(
            citation=code_citation(chunk.repo, chunk.commit, chunk.path, chunk.start, pieces[-1].end),
            path=chunk.path,
            lines=LineSpan(start=chunk.start, end=pieces[-1].end),
            symbol=chunk.symbol,
            kind=kind,
            tokens=_tokens(pieces),
            chunks=len(pieces),
        )


def _goes_on(symbol: str, chunk: Chunk, *, is_class: bool) -> bool:
    """Whether a chunk continues a symbol: a later piece of it, or a member of a class."""
    own = chunk.symbol == symbol and chunk.symbol_kind in ("block", "methods")
    return own or (is_class and (chunk.symbol or "").startswith(f"{symbol}."))


def _share(name: str, chunks: Sequence[Chunk]) -> Share:
    return Share(
        name=name,
        files=len({chunk.file for chunk in chunks}),
        chunks=len(chunks),
        tokens=_tokens(chunks),
        bytes=sum(chunk.bytes for chunk in chunks),
    )


def _above(path: str) -> list[str]:
    """The folders above a file, or above and with a folder whose path ends with `/`, the innermost first."""
    parts = path.split("/")[:-1]
    return [*("/".join(parts[:count]) + "/" for count in range(len(parts), 0, -1)), _ROOT]


def _tokens(chunks: Iterable[Chunk]) -> int:
    return sum(chunk.tokens for chunk in chunks)

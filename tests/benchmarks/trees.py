"""Trees of source files for benchmarks: made-up projects in four languages, the same for the same numbers.

The sizes follow those of public packages: half of the files are below 7 KB, the mean is 11 KB, and a few have 100 KB.
Words come as often as words do (Zipf). Every tenth file is a copy with another first line, as vendored code is.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

LANGUAGES = ("py", "ts", "js", "md")
_MEDIAN_BYTES, _SPREAD, _MOST_BYTES = 7_000, 0.95, 200_000
_VOCABULARY = 6_000
_COPY_EVERY, _COPY_FROM = 10, 4 * len(LANGUAGES)
_FILES_A_FOLDER = 24


class _Words:
    """Words of a made-up language, the frequent ones often."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        syllables = [first + vowel for first in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
        found = dict.fromkeys(
            "".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(9_000)
        )
        self._words = [*found][:_VOCABULARY]
        self._weights = list(itertools.accumulate(1 / rank for rank in range(2, len(self._words) + 2)))

    def some(self, count: int) -> list[str]:
        return self._random.choices(self._words, cum_weights=self._weights, k=count)

    def sentence(self, least: int = 6, most: int = 14) -> str:
        return " ".join(self.some(self._random.randint(least, most))).capitalize() + "."

    def number(self, most: int) -> int:
        return self._random.randrange(most)

    def size(self) -> int:
        """Bytes of a file."""
        return min(_MOST_BYTES, int(self._random.lognormvariate(0, _SPREAD) * _MEDIAN_BYTES))

    def snake(self) -> str:
        return "_".join(self.some(2))

    def camel(self) -> str:
        first, *rest = self.some(2)
        return first + "".join(word.title() for word in rest)

    def pascal(self) -> str:
        return "".join(word.title() for word in self.some(2))


def write_tree(root: Path, files: int, seed: int = 0) -> int:
    """Write so many files below a folder, a quarter in each language; returns their bytes."""
    words, total = _Words(seed), 0
    recent: list[str] = []
    for number in range(files):
        language = LANGUAGES[number % len(LANGUAGES)]
        is_copy = number % _COPY_EVERY == _COPY_EVERY - 1 and len(recent) == _COPY_FROM
        mark = {"md": f"# Copy {number}\n\n", "py": f"# Copy {number}.\n"}.get(language, f"// Copy {number}.\n")
        text = mark + recent[number % len(LANGUAGES)] if is_copy else _text(language, words)
        recent = [*recent, text][-_COPY_FROM:]
        place = root / ("vendor" if is_copy else "src") / f"part{number // _FILES_A_FOLDER}"
        place.mkdir(parents=True, exist_ok=True)
        total += (place / f"{words.snake()}_{number}.{language}").write_bytes(text.encode())
    return total


def _text(language: str, words: _Words) -> str:
    parts, size, length = {"py": _python, "md": _page}.get(language, _braces)(words), words.size(), 0
    kept = []
    for part in parts:
        kept.append(part)
        length += len(part)
        if length >= size:
            break
    return "".join(kept)


def _python(words: _Words) -> Iterator[str]:
    yield f'"""{words.sentence()}"""\n\nfrom __future__ import annotations\n\nimport {words.some(1)[0]}\n\n'
    while True:
        yield f'\nclass {words.pascal()}:\n    """{words.sentence()}\n\n    {words.sentence(12, 30)}\n    """\n'
        for _ in range(1 + words.number(6)):
            first, second = words.some(2)
            yield f"\n    def {words.snake()}(self, {first}: int, {second}: str | None = None) -> object:\n"
            yield f'        """{words.sentence()}"""\n'
            for _ in range(2 + words.number(9)):
                name, other, number = words.snake(), words.some(1)[0], words.number(1000)
                if number % 5 == 0:
                    yield f"        if {name} is not None and {other} > {number}:\n            self.{name}({other})\n"
                elif number % 5 == 1:
                    yield f"        # {words.sentence()}\n"
                else:
                    yield f"        {name}_{number} = self.{other}.{words.snake()}({name}, {other!r})\n"
            yield f"        return {words.snake()}\n"


def _braces(words: _Words) -> Iterator[str]:
    """JavaScript, which is TypeScript as well."""
    yield f"/** {words.sentence()} */\nimport {{ {words.pascal()} }} from './{words.camel()}';\n\n"
    while True:
        yield f"/**\n * {words.sentence(10, 24)}\n */\nexport class {words.pascal()} {{\n"
        for _ in range(1 + words.number(5)):
            first, second = words.some(2)
            yield f"  /** {words.sentence()} */\n  {words.camel()}({first}, {second}) {{\n"
            for _ in range(2 + words.number(9)):
                name, other, number = words.camel(), words.some(1)[0], words.number(1000)
                if number % 5 == 0:
                    yield f"    if ({name} && {other} > {number}) {{\n      this.{name}({other});\n    }}\n"
                elif number % 5 == 1:
                    yield f"    // {words.sentence()}\n"
                else:
                    yield f"    const {name}{number} = this.{other}.{words.camel()}({name}, '{other}');\n"
            yield f"    return {words.camel()};\n  }}\n\n"
        yield "}\n\n"


def _page(words: _Words) -> Iterator[str]:
    yield f"# {words.sentence(2, 5)[:-1]}\n\n{words.sentence(20, 50)}\n\n"
    for number in itertools.count(1):
        yield f"## {words.sentence(2, 5)[:-1]}\n\n"
        for _ in range(1 + words.number(4)):
            yield " ".join(words.sentence(8, 20) for _ in range(2 + words.number(4))) + "\n\n"
        if number % 3 == 0:
            yield f"```python\n{words.snake()} = {words.snake()}({words.number(100)})\nprint({words.snake()})\n```\n\n"

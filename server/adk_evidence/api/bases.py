"""In which order Python looks a member up in a class and its bases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

# More bases than any class has: bases in a circle come to an end.
MAX_BASES = 200
_Class = TypeVar("_Class")


def with_bases(cls: _Class, bases_of: Callable[[_Class], Iterable[_Class]]) -> list[_Class]:
    """A class and all its bases, each behind what derives from it. `bases_of` gives those that a class names."""
    found: list[_Class] = []
    waiting = [cls]
    while waiting and len(found) < MAX_BASES:
        found.append(waiting.pop())
        waiting += reversed(list(bases_of(found[-1])))
    # Of several ways to a base the last counts, as in Python.
    return list(dict.fromkeys(reversed(found)))[::-1]

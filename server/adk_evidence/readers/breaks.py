"""How good a place each line of a text is to begin a part of it: a rank, where less is better."""

from __future__ import annotations

# 1 to 6 are headings by level.
_NESTED = 10
_PER_DEPTH = 10
MAX_DEPTH = 8  # deeper nesting counts as this deep
# From here on a place is used only where a span would be larger than the cap otherwise.
KEEP_TOGETHER = 200  # between a heading and its first block, between "as follows:" and what follows
SOFT = 201  # a blank line in a code block, the end of a sentence in a paragraph
LINE = 202
NEVER = 203  # blank lines: they belong to what stands before them


def nested_heading(depth: int, level: int) -> int:
    """Rank of a heading inside `depth` containers (tabs, admonitions, list items)."""
    return _NESTED + _PER_DEPTH * min(depth, MAX_DEPTH) + level - 1


def tab_item(depth: int) -> int:
    """Rank of the second and later items of a tab group, and of what follows the group."""
    return _NESTED + _PER_DEPTH * min(depth, MAX_DEPTH) + 6


def block(depth: int) -> int:
    """Rank of a paragraph, code block, table, list or admonition."""
    return _NESTED + _PER_DEPTH * min(depth, MAX_DEPTH) + 7


def list_item(depth: int) -> int:
    """Rank of the second and later items of a list."""
    return _NESTED + _PER_DEPTH * min(depth, MAX_DEPTH) + 8


def is_list_item(rank: int) -> bool:
    return any(rank == list_item(depth) for depth in range(MAX_DEPTH + 1))


def is_unit(rank: int) -> bool:
    """Whether what begins here is a unit of meaning, such as a sub-section or a tab, and not one block of several."""
    return rank < KEEP_TOGETHER and (rank < _NESTED or (rank - _NESTED) % _PER_DEPTH < 7)

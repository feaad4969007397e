"""The structure of a page: what ingestion cuts it by, and what a citation is found again by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from adk_evidence.readers import breaks
from adk_evidence.readers.pages.headings import AnchorNames, slugify


@dataclass(frozen=True)
class Heading:
    """A heading outside of code; `line` is 0-based, `depth` counts the tabs, notes and lists around it."""

    line: int
    level: int
    text: str
    explicit_id: str | None
    depth: int
    path: tuple[int, ...]  # indexes of the headings above it


@dataclass
class Page:
    """What the lines of a page are. Lists with an item for each line run in step with `lines`.

    `ranks` says how good a place each line is to begin a chunk (`breaks`).
    """

    lines: Sequence[str]
    lang: str
    title: str | None = None
    headings: list[Heading] = field(default_factory=list)
    label_lines: set[int] = field(default_factory=set)  # headings, labels of tabs and admonitions
    tab_lines: set[int] = field(default_factory=set)  # labels of tabs
    front_matter_end: int = 0
    metadata: dict[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    ranks: list[int] = field(init=False)
    heading_at: list[int | None] = field(init=False)  # index of the innermost heading above the line
    fence_at: list[tuple[int, int] | None] = field(init=False)  # code block: first line, end
    fence_language: list[str | None] = field(init=False)
    tab_language: list[str | None] = field(init=False)
    note_at: list[tuple[int, ...]] = field(init=False)  # first lines of the notes around the line, outermost first

    def __post_init__(self) -> None:
        count = len(self.lines)
        self.ranks = [breaks.NEVER] * count
        self.heading_at = [None] * count
        self.fence_at = [None] * count
        self.fence_language = [None] * count
        self.tab_language = [None] * count
        self.note_at = [()] * count

    def titles(self, heading: int | None) -> tuple[str, ...]:
        """The texts of a heading and of those above it, outermost first."""
        if heading is None:
            return ()
        texts = (self.headings[index].text for index in (*self.headings[heading].path, heading))
        return tuple(text for text in texts if text)

    def anchors(self) -> list[str]:
        """The fragment of each heading of a Markdown page."""
        names = AnchorNames({heading.explicit_id for heading in self.headings if heading.explicit_id})
        return [heading.explicit_id or names.unique(slugify(heading.text)) for heading in self.headings]

"""The pages for people: their links lead to what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "server/README.md",
    "ingest/README.md",
    "extension/README.md",
    "config/README.md",
    "config/golden/README.md",
    "tests/README.md",
    "tests/benchmarks/README.md",
)
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", page.read_text(encoding="utf-8")))
    for path, _, anchor in (link.partition("#") for link in links if "://" not in link):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name} names {path}"
        assert not anchor or anchor in anchors(target), f"{name} names #{anchor} of {path or name}"

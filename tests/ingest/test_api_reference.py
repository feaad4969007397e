"""API reference pages: what is public, where it links to, and that docstrings stay data."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from adk_evidence.api.links import build_export_map
from adk_ingest.sources.api_reference import (
    api_reference_page,
    api_reference_path,
    api_reference_url,
)

FILES = {
    "src/pkg/__init__.py": (
        "from .runner import Runner\nfrom .agents.base import Agent\n__all__ = ['Runner', 'Agent']\n"
    ),
    "src/pkg/agents/__init__.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n  from .base import Agent\n  from .base import Hidden\n"
        "_LAZY = {'Agent': '.base', 'Loop': 'loop', 'Odd': ('..other.place', 'Thing')}\n"
        "__all__ = [*_LAZY.keys()]\n"
        "def __getattr__(name):\n  return _load(_LAZY[name])\n"
    ),
    "src/pkg/tools/__init__.py": "from ..agents import Agent\n__all__ = ['Agent']\n",
    "src/pkg/broken/__init__.py": "__all__ = [",
    "src/pkg/agents/base.py": "__all__ = ['ignored']",
}

MODULE = '''"""The agents module.

# Not a heading
"""
import os
from typing import Optional

LIMIT = 3


class Agent(os.PathLike):
  """An agent.

  ## Forged {#google.adk.agents.Evil}

  Attributes:
    name: Its name.
  """

  name: str = "x"
  """The name, again."""

  secret: int = 1

  async def run(self, query: str, *, limit: Optional[int] = None) -> str:
    """Runs it.

    Args:
      query: What to ask.
      limit: How much,
        at most.

    Returns:
      The answer.

    Raises:
      ValueError: If empty.

    Example:
      >>> agent.run("x")
      'y'
    """
    return query

  def _private(self):
    """Nobody sees this."""


def helper(x):
  return x


def _hidden():
  """Nobody sees this."""
'''


def test_exports_are_found_in_imports_and_lazy_tables() -> None:
    exports = build_export_map(FILES)
    assert exports["pkg.agents.base.Agent"] == "pkg.agents.Agent", "the nearest package, not the root"
    assert exports["pkg.agents.loop.Loop"] == "pkg.agents.Loop"
    assert exports["pkg.other.place.Thing"] == "pkg.agents.Odd"
    assert exports["pkg.runner.Runner"] == "pkg.runner.Runner", "a module beside the root package is public itself"
    assert "pkg.agents.base.Hidden" not in exports


def test_the_page_shows_the_public_api_under_official_anchors() -> None:
    page = api_reference_page("src/pkg/agents/base.py", MODULE, "pkg.agents.base", build_export_map(FILES))
    assert page is not None
    assert page.startswith("# pkg.agents.base\n\nThe agents module.")
    assert "\n## class Agent {#pkg.agents.Agent}\n" in page
    assert "\nImport: `from pkg.agents import Agent`\n" in page
    assert "\n### Agent.run {#pkg.agents.Agent.run}\n" in page
    assert "async def run(query: str, *, limit: Optional[int] = None) -> str" in page
    assert "**Args:**\n\n- `query`: What to ask.\n- `limit`: How much, at most.\n" in page
    assert "**Returns:**\n\n- `str`: The answer." in page
    assert "**Raises:**\n\n- `ValueError`: If empty." in page
    assert "    >>> agent.run" in page
    assert "\n## helper\n" in page, "no export, no anchor"
    for private in ("Nobody", "_private", "secret", "LIMIT"):
        assert private not in page
    assert "\\# Not a heading" in page and "\\## Forged" in page


def test_what_is_private_or_broken_has_no_page() -> None:
    assert api_reference_page("a.py", "x = 1\n", "pkg.a", {}) is None
    assert api_reference_page("a.py", "def broken(:\n", "pkg.a", {}) is None
    assert api_reference_page("a.py", MODULE, "pkg._inner", {}) is None
    exported = api_reference_page("a.py", MODULE, "pkg._inner", {"pkg._inner.helper": "pkg.helper"})
    assert exported is not None and "{#pkg.helper}" in exported and "Agent" not in exported


def test_links_lead_to_the_official_page() -> None:
    official = "https://adk.dev/api-reference/python/google-adk.html"
    anchor = "google.adk.agents.LlmAgent"
    assert api_reference_url("https://adk.dev/", anchor) == f"{official}#{anchor}"
    assert api_reference_url("https://adk.dev", "class-llmagent") == official
    assert api_reference_url("https://adk.dev/", None) == official
    assert api_reference_path("google.adk.runners") == "api-reference/python/google.adk.runners.md"


LINES = st.sampled_from(
    [
        "# a",
        "###### b",
        "===",
        "---",
        "text",
        "",
        "```",
        "~~~",
        "````py",
        "<h1>x</h1>",
        "--8<-- 'f.md'",
        "Args:",
        "  x: y",
    ]
)


@settings(max_examples=30)
@given(st.lists(LINES, max_size=12))
def test_no_docstring_adds_a_heading_or_an_include(lines: list[str]) -> None:
    from markdown_it import MarkdownIt

    docstring = "\n".join(f"    {line}" for line in lines)
    page = api_reference_page(
        "a.py", f"def run(x):\n    '''Runs.\n\n{docstring.replace(chr(39), '')}\n    '''\n", "m", {}
    )
    assert page is not None
    tokens = MarkdownIt("commonmark").parse(page)
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2"]
    assert not [token for token in tokens if token.type == "html_block"]
    assert not re.search(r"^\s*-+8<", page, re.MULTILINE)

"""What names in a question mean for sure: exactly as defined, through other names and bases, never by chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adk_evidence.identifiers import code_identifiers
from adk_evidence.models.pack import LineSpan
from adk_evidence.settings import load_settings
from adk_evidence.targets.about import About
from adk_evidence.targets.mentions import mentions
from adk_evidence.targets.search import TargetSearch
from adk_evidence.targets.sets import TargetSet
from adk_evidence.targets.target import RankParts, Target


def target(fqn: str, signature: str, kind: Any = "class", *, exported: bool = False, **changes: Any) -> Target:
    """`fqn` separates the module from the symbol by a colon."""
    module, _, symbol = fqn.partition(":")
    parts = RankParts(centrality=0, docs_mentions=0, documented=0, exported=exported, deprecated=False, weight=1)
    values: dict[str, Any] = {
        "rank": 1,
        "score": 0.5,
        "fqn": f"{module}.{symbol}",
        "name": symbol.rpartition(".")[2],
        "symbol": symbol,
        "type": kind,
        "import_path": f"{module}.{symbol}",
        "summary": "",
        "signatures": (signature,),
        "path": f"src/{module.replace('.', '/')}.py",
        "lines": LineSpan(start=1, end=2),
        "parts": parts,
    }
    return Target(**{**values, **changes})


TARGETS = [
    target("kit.reading:ReadOnly", "class ReadOnly"),
    target("kit.reading:ReadOnly.load_it", "load_it()", "method"),
    target("kit.context:Context", "class Context(ReadOnly)", bases=("kit.reading.ReadOnly",)),
    target("kit.context:Context.save_it", "save_it()", "method"),
    target("kit.tools:ToolContext", "ToolContext = Context", "variable", alias_of="kit.context.Context"),
    target("kit.tools:SearchTool", "SearchTool()"),
    target("kit.tools:web_search", "web_search = SearchTool()", "variable", alias_of="kit.tools.SearchTool"),
    target("kit.loop:exit_loop", "exit_loop()", "function"),
    target("kit.services:DiskService", "DiskService()"),
    target("kit.services:DiskService.save_it", "save_it()", "method"),
    target("kit.runs:RunToolset", "RunToolset()", exported=True),
    target("kit.cli.runs:RunToolset", "RunToolset()"),
    target("kit.one:TwiceMade", "TwiceMade()"),
    target("kit.two:TwiceMade", "TwiceMade()"),
    target("kit.sessions:Session", "class Session(Base)"),
    target("kit.sessions:Session.state", "state: dict", "attribute"),
]


@pytest.fixture(scope="module")
def search() -> TargetSearch:
    about = About(
        repo="kit", commit="c", ref=None, corpora="c", model="m", dimension=1, built_at="now", targets=len(TARGETS)
    )
    found = TargetSet(about, TARGETS, np.zeros((len(TARGETS), 1), dtype=np.float32))
    return TargetSearch(found, load_settings(), lambda text: [0.0])


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("how do SearchTool and exit_loop work together", ["SearchTool=SearchTool", "exit_loop=exit_loop"]),
        ("exit_loop before SearchTool", ["exit_loop=exit_loop", "SearchTool=SearchTool"]),
        ("what may a ToolContext do", ["ToolContext=Context"]),
        (
            "ToolContext save_it and load_it",
            ["ToolContext.save_it=Context.save_it", "ToolContext.load_it=ReadOnly.load_it"],
        ),
        ("does Context save_it at once", ["Context.save_it=Context.save_it"]),
        ("ToolContext.load_it()", ["ToolContext.load_it=ReadOnly.load_it"]),
        ("kit.tools.SearchTool", ["kit.tools.SearchTool=SearchTool"]),
        # A plain word, a variable of the user, another case, a member of nobody, an instance.
        ("in which Context does this run", []),
        ("why is session.state empty", []),
        ("what is searchTool", []),
        ("save_it in a service", []),
        ("web_search finds nothing", []),
        # Of two with one name, the exported one is meant; otherwise nobody knows.
        ("RunToolset", ["RunToolset=RunToolset"]),
        ("TwiceMade", []),
    ],
)
def test_what_a_question_names(search: TargetSearch, question: str, named: list[str]) -> None:
    found = mentions(search, question, code_identifiers(question))
    assert [f"{one.name}={one.target.symbol}" for one in found] == named


def test_of_two_with_one_name_the_exported_one_is_meant(search: TargetSearch) -> None:
    (found,) = mentions(search, "RunToolset", ["RunToolset"])
    assert found.target.fqn == "kit.runs.RunToolset"

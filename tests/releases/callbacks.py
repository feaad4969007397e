"""Holds what `adk_evidence.checks.callbacks` says of callbacks against the code of a release."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from packaging.version import Version

from adk_evidence.api.module import ModuleText
from adk_evidence.checks.callbacks import BY_POSITION, CALLED

_BY_POSITION = "def _invoke_callback("


def otherwise_called(modules: Mapping[str, ModuleText], version: Version) -> Iterator[str]:
    """The callbacks of agents that a release does not call as the checks say, each in a sentence."""
    texts = {module: one.text for module, one in modules.items() if "_callback" in one.text}
    agents = "\n".join(text for module, text in texts.items() if module.endswith(("base_agent", "llm_agent")))
    given = {
        frozenset(item.arg for item in node.keywords)
        for module in texts
        for node in ast.walk(modules[module].tree or ast.Module([], []))
        if isinstance(node, ast.Call)
    }
    for name, wanted in CALLED.items():
        if f"  {name}: " in agents and frozenset(wanted) not in given:
            yield f"No call gives {', '.join(wanted)}, which {name} is said to get."
    if any(_BY_POSITION in text for text in texts.values()) != (version >= BY_POSITION):
        yield f"Callbacks are said to be called by position from {BY_POSITION} on, which is not so."

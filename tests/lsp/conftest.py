"""Servers as processes, over small corpora that are ingested once a worker."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.corpora import CODE, Workplace, write_code
from tests.lsp.rpc import RawClient

AGENTS = '''\
"""Agents."""

from typing import Optional

from ..plugins.retry import RetryPlugin
from ..runners import Runner


class Session:
    """What one talk has said."""

    state: dict[str, str] = {}
    """Kept between two turns."""


class ToolContext:
    """Given to each tool."""

    @property
    def session(self) -> Session:
        """The session of this call."""
        return Session()


class BaseAgent:
    """What all agents can do."""

    name: str = ""
    """How others call the agent."""

    async def run_async(self, message: str) -> Session:
        """Answer one message."""
        return Session()


class LlmAgent(BaseAgent):
    """Asks a model.

    It has more to say, in a second paragraph.
    """

    model: Optional[str] = None

    def hand_over(self, agent: "LlmAgent") -> "LlmAgent":
        """Give the talk to another agent."""
        return agent


Agent = LlmAgent


def make_agent(name: str) -> LlmAgent:
    """A new agent."""
    return LlmAgent()


class Greeter:
    """Greets.

    Attributes:
        tone: How loud the greeting is.
    """

    tone: int = 1

    def greet(self, name: str) -> str:
        """Greet somebody.

        Args:
            name: Who is greeted.
        """
        return name


class LoudGreeter(Greeter):
    def greet(self, name: str) -> str:
        return name.upper()
'''

FILES: dict[str, str | bytes] = {
    **CODE,
    "src/google/adk/agents/__init__.py": (
        '"""Agents."""\n\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n'
        "    from .llm_agent import Agent, LlmAgent\n    from .llm_agent import ToolContext\n"
        "from .llm_agent import *\n"
    ),
    "src/google/adk/agents/llm_agent.py": AGENTS,
}
RETRY_GUIDE = "\n## Use the RetryPlugin\n\nThe `RetryPlugin` calls a tool again.\n"


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A home with an index; tests only read it."""
    workplace = Workplace(tmp_path_factory.mktemp("indexed"))
    write_code(workplace.code, FILES)
    guide = workplace.docs / "docs" / "tools" / "retry.md"
    guide.write_text(guide.read_text() + RETRY_GUIDE)
    workplace.ingest()
    return workplace


def command(root: Path, *options: str) -> list[str]:
    """The command line of the server under test."""
    return [sys.executable, "-m", "tests.lsp.driver", str(root), *options]


Start = Callable[..., RawClient]
# What the extension for VS Code declares, and an editor that opens documents for a server.
OWN_COMMANDS = ["adkEvidence.findEvidence", "adkEvidence.openCitation"]
RUNS_COMMANDS = {"experimental": {"commands": {"commands": OWN_COMMANDS}}}
OPENS_DOCUMENTS = {"window": {"showDocument": {"support": True}}}


@pytest.fixture
def start(indexed: Workplace) -> Iterator[Start]:
    """Starts servers, which end with the test. By default on the shared index, initialised."""
    with ExitStack() as stack:

        def start_one(
            workplace: Workplace | None = None,
            *,
            initialize: bool = True,
            capabilities: dict[str, Any] | None = None,
            **settings: Any,
        ) -> RawClient:
            chosen = workplace or indexed
            section = {"home": str(chosen.home), **settings}
            client = stack.enter_context(RawClient(command(chosen.root), section))
            if initialize:
                client.initialize(capabilities=capabilities)
                client.notify("test/prepare", {})
            return client

        yield start_one


@pytest.fixture(scope="module")
def client(indexed: Workplace) -> Iterator[RawClient]:
    """One server of VS Code's for a whole module; tests leave it as they found it."""
    with RawClient(command(indexed.root), {"home": str(indexed.home)}) as one:
        one.initialize(capabilities=RUNS_COMMANDS)
        one.notify("test/prepare", {})
        yield one

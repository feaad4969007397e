"""The language server as an editor meets it: start-up, evidence requests and hovers over standard input and output.

    python -m tests.benchmarks.lsp --home HOME [--queries QUESTIONS.jsonl] [--requests 200] [--starts 5]

HOME needs an index of the real corpora (`adk-ingest all`). No question comes twice, as a repeated one would find warm
caches. The ten built-in ones are told apart by a number alone and find the same chunks: give a file with many.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.ask import QUESTIONS, requests_of
from tests.benchmarks.measure import show, spread
from tests.lsp.rpc import RawClient

COMMAND = (
    sys.executable,
    "-c",
    "from adk_evidence_cli.entry import evidence; evidence()",
    "serve",
    "lsp",
    "--log-level",
    "info",
)
URI = "file:///benchmark/agent.py"
DOCUMENT = """\
from google.adk.agents import Agent, BaseAgent, InvocationContext, LlmAgent, LoopAgent, ParallelAgent, RunConfig
from google.adk.agents import SequentialAgent
from google.adk.apps import App
from google.adk.events import Event, EventActions
from google.adk.models.lite_llm import LiteLlm
from google.adk.plugins import BasePlugin, LoggingPlugin
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import DatabaseSessionService, InMemorySessionService, Session
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext, google_search


class Shop(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext):
        ctx.session.state
        yield Event(author=self.name, actions=EventActions(escalate=True))


def buy(item: str, tool_context: ToolContext) -> dict:
    tool_context.state["item"] = item
    tool_context.actions.transfer_to_agent = "cashier"
    return {}


agent = LlmAgent(name="clerk", model=LiteLlm(model="x"), instruction="Sell.", tools=[FunctionTool(buy), google_search])
flow = SequentialAgent(name="flow", sub_agents=[agent, LoopAgent(name="loop", max_iterations=3)])
runner = Runner(agent=flow, app_name="shop", session_service=InMemorySessionService(), plugins=[LoggingPlugin()])
runner.run_async(user_id="u", session_id="s")
agent.find_agent("x").run_async
"""


def main() -> None:
    """Measure and print."""
    options = _options()
    settings = {"home": options.home} if options.home else {}
    show("start to initialize", spread([_start(settings) for _ in range(options.starts)]))
    with RawClient(COMMAND, settings) as client:
        client.initialize()
        begin = time.perf_counter()
        client.result("adk/evidence", {"query": QUESTIONS[0]})
        show("first answer", f"{(time.perf_counter() - begin) * 1000:.0f} ms after initialize")
        questions = _questions(options.queries, options.requests)
        asked = iter(questions)
        show("adk/evidence", spread(_times(len(questions), lambda: _ask(client, next(asked)))))
        client.open(URI, DOCUMENT)
        places = itertools.cycle(_places())
        show("hover, each name once", spread(_times(len(_places()), lambda: _hover(client, next(places)))))
        show("hover", spread(_times(options.requests, lambda: _hover(client, next(places)))))
        edits = itertools.count(2)

        def edit_and_hover() -> None:
            version = next(edits)
            change = [{"text": f"{DOCUMENT}# {version}\n"}]
            client.notify(
                "textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": change}
            )
            _hover(client, next(places))

        show("hover after each edit", spread(_times(options.requests, edit_and_hover)))
        show("adk/symbol", spread(_times(options.requests, lambda: client.result("adk/symbol", {"name": "Runner"}))))


def _start(settings: dict[str, Any]) -> float:
    begin = time.perf_counter()
    with RawClient(COMMAND, settings) as client:
        client.initialize()
        seconds = time.perf_counter() - begin
        client.end()
    return seconds * 1000


def _times(count: int, work: Callable[[], Any]) -> list[float]:
    found = []
    for _ in range(count):
        begin = time.perf_counter()
        work()
        found.append((time.perf_counter() - begin) * 1000)
    return found


def _questions(file: Path | None, count: int) -> list[str]:
    if file is not None:
        return [request.query for request in requests_of(file)]
    return [f"{QUESTIONS[number % len(QUESTIONS)]} ({number})" for number in range(count)]


def _ask(client: RawClient, question: str) -> None:
    assert client.result("adk/evidence", {"query": question})["candidates"]


def _places() -> list[tuple[int, int]]:
    """Where a class is named."""
    lines = enumerate(DOCUMENT.splitlines())
    return [(number, found.start()) for number, line in lines for found in re.finditer(r"\b[A-Z][a-z]\w+", line)]


def _hover(client: RawClient, place: tuple[int, int]) -> None:
    where = {"textDocument": {"uri": URI}, "position": {"line": place[0], "character": place[1] + 1}}
    client.result("textDocument/hover", where)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", help="folder of the index; the settings' own without it")
    parser.add_argument("--queries", type=Path, help="questions, each of which is asked once")
    parser.add_argument("--requests", type=int, default=200, help="how many of each kind")
    parser.add_argument("--starts", type=int, default=5, help="how many servers are started")
    return parser.parse_args()


if __name__ == "__main__":
    main()

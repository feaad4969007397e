"""An agent that relays to two others, with a cache that pydantic does not know."""

from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent, InvocationContext, LlmAgent
from google.adk.events import Event
from google.adk.tools.mcp_tool import McpToolset


class RelayAgent(BaseAgent):
    """Lets one agent write and another one check."""

    writer: LlmAgent
    checker: LlmAgent
    rounds: int = 2

    def __init__(self, writer: LlmAgent, checker: LlmAgent) -> None:
        super().__init__(name="relay", writer=writer, checker=checker, sub_agents=[writer, checker])
        self.cache = {}  # wrong: unknown-attribute the class declares no cache
        self.rounds = 3

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for event in self.writer.run_async(ctx):  # wrong: await-on-attribute an asynchronous generator needs async for
            yield event
        async for event in self.checker.run_async(ctx):
            if event.error_code:
                ctx.end_invocations = True  # wrong: unknown-attribute the field is end_invocation
            yield event


async def names_of(toolset: McpToolset) -> list[str]:
    try:
        return [tool.name for tool in toolset.get_tools()]  # wrong: missing-await a coroutine cannot be iterated
    finally:
        toolset.close()  # wrong: missing-await the toolset stays open

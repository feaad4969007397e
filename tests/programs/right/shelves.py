"""Overrides that take more than they have to."""

from collections.abc import AsyncGenerator, Awaitable
from typing import Any

from google.adk.agents import BaseAgent, InvocationContext
from google.adk.artifacts import InMemoryArtifactService
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.planners import BasePlanner
from google.adk.plugins import BasePlugin
from google.adk.tools import BaseTool
from google.adk.tools.base_toolset import BaseToolset


class Model(BaseLlm):
    """Says one word."""

    async def generate_content_async(self, llm_request: LlmRequest, *args: Any, **kwargs: Any):
        yield LlmResponse(model_version=self.model)


class Planner(BasePlanner):
    """Plans nothing."""

    def build_planning_instruction(self, readonly_context: Any, llm_request: LlmRequest, depth: int = 0) -> str | None:
        return None

    def process_planning_response(self, callback_context: Any, response_parts: list) -> list | None:
        return response_parts


class Tools(BaseToolset):
    """Has no tools."""

    async def get_tools(self, *_: Any, **__: Any) -> list[BaseTool]:
        return []

    def close(self) -> Awaitable[None]:
        return super().close()


class Watch(BasePlugin):
    """Watches, and keeps what it saw."""

    def __init__(self, name: str = "watch", *, seen: list | None = None) -> None:
        super().__init__(name)
        self.seen = seen or []

    async def on_event_callback(self, *, event: Event, invocation_context: InvocationContext, **_: Any) -> None:
        self.seen.append(event)

    def before_run_callback(self, **named: Any) -> Awaitable[None]:
        return super().before_run_callback(**named)


class Silent(BaseAgent):
    """Says nothing."""

    async def _run_async_impl(self, context: InvocationContext) -> AsyncGenerator[Event, None]:
        return
        yield Event(author=self.name)


class Files(InMemoryArtifactService):
    """Counts what is kept."""

    kept: int = 0

    async def save_artifact(self, **named: Any) -> int:
        self.kept += 1
        return await super().save_artifact(**named)


print(Model(model="word"), Planner(), Tools(), Watch(), Silent(name="silent"), Files())

"""A plugin that watches an app, and an agent of its own."""

from collections.abc import AsyncGenerator

from google.adk.agents import BaseAgent, InvocationContext, LlmAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.plugins import BasePlugin
from google.adk.tools import BaseTool, ToolContext


class AuditPlugin(BasePlugin):
    """Counts what happens."""

    def __init__(self) -> None:
        super().__init__(name="audit")
        self.seen = 0

    async def before_tool_callback(self, *, tool: BaseTool, args: dict, tool_context: ToolContext) -> dict | None:  # wrong: unfit-override a plugin gets tool_args
        self.seen += 1

    async def on_event_callback(self, event: Event) -> Event | None:  # wrong: unfit-override invocation_context is passed
        self.seen += 1

    def after_run_callback(self, *, invocation_context: InvocationContext) -> None:  # wrong: unfit-override the caller awaits the result
        self.seen = 0

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context) -> None:
        self.seen += 1


class EchoAgent(BaseAgent):
    """Repeats what the user says."""

    async def _run_async_impl(self) -> AsyncGenerator[Event, None]:  # wrong: unfit-override the context is passed
        yield Event(author=self.name)


app = App(name="audit", root_agent=LlmAgent(name="root", model="gemini-2.5-flash"), plugins=[AuditPlugin()])

"""Plugins with fewer, more or other parameters that still fit."""

from typing import Any, Optional

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.plugins import BasePlugin, LoggingPlugin, ReflectAndRetryToolPlugin
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin


class Loose(BasePlugin):
    def __init__(self, *, name: str = "loose", level: int = 1, **options: Any) -> None:
        super().__init__(name)
        self.level = level
        self.options = options
        self.count = 0

    async def before_model_callback(self, **kwargs: Any) -> None:
        self.count += len(kwargs)

    async def before_tool_callback(self, tool, tool_context, tool_args, extra=None) -> Optional[dict]:
        return None

    async def after_tool_callback(self, *_: Any, result: Any, **__: Any) -> Any:
        return result if self.level > 3 else None

    async def on_event_callback(self, event, invocation_context):
        event.custom_metadata = {"seen": True}

    def before_agent_callback(self, *, agent, callback_context):
        return self._later(agent, callback_context)

    async def _later(self, agent, context) -> None:
        self.count += 1

    async def before_delivery_callback(self, message: str) -> None:
        self.count += 1


class Tight(Loose):
    def __init__(self) -> None:
        Loose.__init__(self, name="tight", verbose=True)

    async def before_model_callback(self, *, callback_context, llm_request, **rest: Any) -> None:
        await super().before_model_callback(callback_context=callback_context, llm_request=llm_request)
        self.last = callback_context


loose = Loose(color="red")
loose.started = True
app = App(
    name="flexible",
    root_agent=LlmAgent(name="flexible_agent"),
    plugins=[loose, Tight(), LoggingPlugin("log"), ReflectAndRetryToolPlugin("retry", 2), ContextFilterPlugin(3)],
)

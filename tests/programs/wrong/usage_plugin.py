"""A plugin that counts what an application uses."""

from collections import Counter

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.plugins import BasePlugin, LoggingPlugin
from google.adk.plugins.global_instruction_plugin import GlobalInstructionPlugin


class UsagePlugin(BasePlugin):
    def __init__(self, limit: int = 50) -> None:
        super().__init__(name="usage")
        self.limit = limit
        self.calls: Counter[str] = Counter()

    async def before_model_callback(self, *, callback_context, request):  # wrong: unfit-override it is called with llm_request
        self.calls["model"] += 1

    async def before_tool_callback(self, *, tool, args, tool_context):  # wrong: unfit-override it is called with tool_args
        self.calls[tool.name] += 1
        if self.calls[tool.name] > self.limit:
            return {"error": "limit reached"}
        return None

    async def after_tool_callback(self, *, tool, tool_args, tool_context, tool_response):  # wrong: unfit-override it is called with result
        self.calls["results"] += len(tool_response)

    async def on_event_callback(self, invocation_context, event):
        if event.usage_metadata:
            self.calls["tokens"] += event.usage_metadata.total_token_count or 0

    def after_run_callback(self, *, invocation_context):  # wrong: unfit-override it is awaited
        print(self.calls)


app = App(
    name="counted",
    root_agent=LlmAgent(name="counted_agent", model="gemini-2.5-flash"),
    plugins=[
        UsagePlugin(limit=20),
        LoggingPlugin(verbose=True),  # wrong: unknown-keyword no such parameter
        GlobalInstructionPlugin("Answer in English."),
    ],
)

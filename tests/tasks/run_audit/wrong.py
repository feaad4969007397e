"""The methods name their parameters as an agent's callbacks do."""

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner


class Audit(BasePlugin):
    def __init__(self):
        super().__init__(name="audit")
        self.entries = []

    async def before_model_callback(self, callback_context, llm_request):
        self.entries.append(("model", callback_context.agent_name))

    async def after_tool_callback(self, tool, args, tool_context, tool_response):
        self.entries.append(("tool", tool.name))

    async def on_tool_error_callback(self, tool, args, tool_context, error):
        self.entries.append(("failed", tool.name))
        return {"error": str(error)}


def make_runner(agent):
    audit = Audit()
    return InMemoryRunner(agent=agent, app_name="audited", plugins=[audit]), audit

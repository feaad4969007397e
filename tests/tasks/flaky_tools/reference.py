"""The plugin for retries, which also knows the tools' own errors."""

from google.adk.apps import App
from google.adk.plugins import ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner


class Patience(ReflectAndRetryToolPlugin):
    async def extract_error_from_result(self, *, tool, tool_args, tool_context, result):
        if isinstance(result, dict) and result.get("status") == "error":
            return result
        return None


def make_runner(agent):
    plugin = Patience(max_retries=2, throw_exception_if_retry_exceeded=False)
    return InMemoryRunner(app=App(name="patient", root_agent=agent, plugins=[plugin]))

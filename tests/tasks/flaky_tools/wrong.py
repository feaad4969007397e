"""Overrides a method that the plugin does not have."""

from google.adk.apps import App
from google.adk.plugins import ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner


class Patience(ReflectAndRetryToolPlugin):
    def extract_error(self, result):
        return result["message"] if result.get("status") == "error" else None


def make_runner(agent):
    plugin = Patience(max_retries=2, throw_exception_if_retry_exceeded=False)
    return InMemoryRunner(app=App(name="patient", root_agent=agent, plugins=[plugin]))

"""Callbacks and wrappers that take whatever they get."""

from typing import Any

from google.adk.agents import LlmAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import BaseTool


def log(**kwargs: Any) -> None:
    print(sorted(kwargs))


def log_all(*args: Any, **kwargs: Any) -> None:
    print(args, sorted(kwargs))


async def check(tool: BaseTool, *rest: Any, **more: Any) -> dict | None:
    return {"error": "closed"} if tool.name == "order" and not more else None


def make_runner(*services: Any, **options: Any) -> Runner:
    keywords = {"app_name": "any", "session_service": InMemorySessionService(), **options}
    return Runner(**keywords)


def make_agent(*args: Any, **kwargs: Any) -> LlmAgent:
    kwargs.setdefault("name", "any")
    return LlmAgent(*args, **kwargs)


agent = make_agent(
    model="gemini-2.5-flash",
    before_agent_callback=log,
    before_model_callback=log_all,
    after_model_callback=[log, log_all],
    before_tool_callback=check,
)
runner = make_runner(agent=agent)

"""Makes what the pictures of the READMEs show: `python corpus.py ROOT`.

ROOT gets a small corpus in words of our own about names of the ADK, and its index; no model is needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.corpora import Workplace, write_code, write_docs

DOCS_COMMIT = "5d1f0a8c3be7496270d4c9ef8b12a6357c90e4fd"
CODE_COMMIT = "b83e07d1f4265ac99e1d30c7725fb46081a6ce3d"

DOCS: dict[str, str | bytes] = {
    "docs/index.md": """\
# Small guide

An agent answers people and calls tools; a runner keeps the session of each talk.
""",
    "docs/tools/retry.md": """\
# Retry a failing tool

When a tool throws, the runner hands the error to its plugins, before the model hears of it.

## Reflect and retry

Give the runner a `ReflectAndRetryToolPlugin` and say how many times a tool may fail. After each failure the model
is told what went wrong, and that it could call the tool in another way:

```python
runner = InMemoryRunner(
    agent=root_agent,
    plugins=[ReflectAndRetryToolPlugin(max_retries=3)],
)
```

After the last attempt the error is raised, unless you pass `throw_exception_if_retry_exceeded=False`.

## Count failures of one user

A plugin counts the failures of each invocation. Choose another scope where all calls of a tool share one limit, for
instance because the service behind it is down for everybody.
""",
    "docs/tools/confirm.md": """\
# Ask a person before a tool runs

Set `require_confirmation=True` on a `FunctionTool`. The runner stops until the answer of the person is there.
""",
    "docs/callbacks.md": """\
# Callbacks around tools

## Before a tool runs

A `before_tool_callback` that returns a dict takes the place of the tool: the tool does not run, and the model gets the
dict as its result. Return `None` to let the tool run.

## After a tool has failed

An `on_tool_error_callback` gets the exception of a tool that throws. What it returns is the result; with `None` the
error goes on to the caller.
""",
    "docs/sessions.md": """\
# State of a session

A tool writes to `tool_context.state`. Keys with the prefix `user:` live on in other sessions of the same user.
""",
}

CODE: dict[str, str | bytes] = {
    "src/google/adk/__init__.py": '"""A small kit."""\n\nfrom .runners import InMemoryRunner\n',
    "src/google/adk/agents/__init__.py": '"""Agents."""\n\nfrom .llm_agent import LlmAgent\n\n__all__ = ["LlmAgent"]\n',
    "src/google/adk/agents/llm_agent.py": '''\
"""Agents that ask a model."""


class LlmAgent:
    """An agent that answers with a language model and may call tools.

    Args:
        name: How other agents call it.
        model: The name of the model.
        tools: Functions that the model may call.
    """

    def __init__(self, name: str, model: str = "", tools: list[object] | None = None) -> None:
        self.name = name
        self.model = model
        self.tools = tools or []
''',
    "src/google/adk/runners.py": '''\
"""Runs agents."""


class InMemoryRunner:
    """Runs an agent, and keeps sessions in memory.

    Args:
        agent: What answers.
        plugins: Asked in turn before and after each call of a tool or a model.
    """

    def __init__(self, agent: object, plugins: list[object] | None = None) -> None:
        self.agent = agent
        self.plugins = plugins or []

    def call_tool(self, tool: object, arguments: dict[str, object]) -> object:
        """Call a tool; a plugin may answer for a tool that throws."""
        try:
            return tool(**arguments)
        except Exception as error:
            for plugin in self.plugins:
                answer = plugin.on_tool_error_callback(tool, arguments, error)
                if answer is not None:
                    return answer
            raise
''',
    "src/google/adk/plugins/__init__.py": '''\
"""Plugins."""

from .reflect_retry_tool_plugin import ReflectAndRetryToolPlugin

__all__ = ["ReflectAndRetryToolPlugin"]
''',
    "src/google/adk/plugins/reflect_retry_tool_plugin.py": '''\
"""Calls a failed tool again."""


class ReflectAndRetryToolPlugin:
    """Retries a tool that throws, and tells the model what went wrong.

    Args:
        max_retries: How many times a tool may fail in one invocation.
        throw_exception_if_retry_exceeded: Whether the last error is raised.
    """

    def __init__(self, max_retries: int = 3, throw_exception_if_retry_exceeded: bool = True) -> None:
        self.max_retries = max_retries
        self.throw_exception_if_retry_exceeded = throw_exception_if_retry_exceeded
        self.failures: dict[str, int] = {}

    def on_tool_error_callback(self, tool: object, arguments: dict, error: Exception) -> dict | None:
        """Advice for the model; None after the last retry."""
        failed = self.failures.get(str(tool), 0) + 1
        self.failures[str(tool)] = failed
        if failed > self.max_retries:
            return None
        return {"error": str(error), "advice": "Call the tool again in another way.", "attempt": failed}
''',
}


def main() -> None:
    """Write the corpus and ingest it."""
    root = Path(sys.argv[1])
    write_docs(root / "docs", DOCS, DOCS_COMMIT)
    write_code(root / "code", CODE, CODE_COMMIT)
    Workplace(root).ingest()


if __name__ == "__main__":
    main()

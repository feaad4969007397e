"""Tests with mocks in the places of services."""

import asyncio
import contextlib
from types import SimpleNamespace
from unittest.mock import AsyncMock, MagicMock, create_autospec, patch

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import ToolContext


def test_fake_runner() -> None:
    runner = MagicMock(spec=Runner)
    runner.session_service = MagicMock()
    runner.session_service.create_session(1, 2, anything=3)
    runner.run("positional")
    runner.note = "x"
    runner.session_service.create_session.assert_called_once()


def test_fake_context() -> None:
    context = SimpleNamespace(state={}, list_artifacts=lambda: [])
    if context.list_artifacts():
        raise AssertionError
    tool_context = create_autospec(ToolContext, instance=True)
    tool_context.save_artifact = MagicMock(return_value=3)
    assert tool_context.save_artifact("x") == 3


async def test_patched() -> None:
    service = InMemorySessionService()
    with patch.object(InMemorySessionService, "get_session", new=AsyncMock(return_value=None)) as fake:
        assert await service.get_session("app", "user") is None
    fake.assert_awaited()
    service.create_session = lambda *args: "made"
    assert service.create_session("app", "user") == "made"


async def test_closes() -> None:
    runner = InMemoryRunner(agent=LlmAgent(name="fake"), app_name="fake")
    runner.session_service.flush = AsyncMock()
    with contextlib.suppress(ImportError):
        from google.adk.agents import StreamingMode

        assert StreamingMode
    await runner.close()


if __name__ == "__main__":
    test_fake_runner()
    test_fake_context()
    asyncio.run(test_patched())
    asyncio.run(test_closes())

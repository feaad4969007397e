"""Tests a tool with objects that stand in for those of the ADK."""

from unittest.mock import AsyncMock, MagicMock, Mock, create_autospec, patch

from google.adk.agents import InvocationContext, LlmAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import ToolContext


async def keep(text: str, tool_context: ToolContext) -> int:
    """Keeps a text."""
    return await tool_context.save_artifact(text, None)


def test_keep() -> None:
    context: ToolContext = MagicMock(spec=ToolContext)
    context.save_artifact = AsyncMock(return_value=3)
    context.save_artifact.assert_not_called()
    context.list_artifacts = Mock(return_value=["a"])
    assert context.list_artifacts()[0] == "a"


def test_runner() -> None:
    runner = create_autospec(Runner, instance=True)
    runner.session_service = Mock()
    runner.session_service.create_session.return_value.id = "one"
    assert runner.session_service.create_session("app", "ada").id == "one"


def test_service() -> None:
    with patch.object(InMemorySessionService, "get_session", new_callable=Mock, return_value=None) as get:
        service = InMemorySessionService()
        assert service.get_session("any", "thing") is None
        get.assert_called_once_with("any", "thing")


def test_context() -> None:
    context = Mock(spec=InvocationContext)
    context.agent = LlmAgent(name="mocked", model="gemini-2.5-flash")
    context.tenant = "one"
    assert context.tenant == "one"


test_keep()
test_runner()
test_service()
test_context()

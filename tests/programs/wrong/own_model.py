"""A model and services that other code replaces."""

from collections.abc import AsyncGenerator

from google.adk.artifacts import InMemoryArtifactService
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.sessions import InMemorySessionService, Session
from google.genai import types


class EchoModel(BaseLlm):
    """Repeats what it is asked."""

    async def generate_content_async(self, llm_request: LlmRequest) -> AsyncGenerator[LlmResponse, None]:  # wrong: unfit-override stream is passed
        yield LlmResponse(content=llm_request.contents[-1])


class NoMemory(BaseMemoryService):
    """Forgets everything."""

    async def add_session_to_memory(self, session: Session) -> None:
        return None

    def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:  # wrong: unfit-override the caller awaits the result
        return SearchMemoryResponse(memories=[])


class StrictSessions(InMemorySessionService):
    """Keeps sessions with a state."""

    async def create_session(self, app_name: str, user_id: str, state: dict) -> Session:  # wrong: unfit-override session_id is passed, and state may be left out
        return await super().create_session(app_name=app_name, user_id=user_id, state=state)


class Files(InMemoryArtifactService):
    """Keeps small files."""

    async def save_artifact(self, *, app_name: str, user_id: str, filename: str, artifact: types.Part) -> int:  # wrong: unfit-override session_id and custom_metadata are passed
        return await super().save_artifact(app_name=app_name, user_id=user_id, filename=filename, artifact=artifact)

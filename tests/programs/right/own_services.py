"""Services that take more than those of the ADK, and give plain values."""

from typing import Any

from google.adk.memory import InMemoryMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.sessions import InMemorySessionService, Session
from typing_extensions import override


class TenantSessions(InMemorySessionService):
    """Knows tenants."""

    def __init__(self, tenant: str = "one") -> None:
        super().__init__()
        self.tenant = tenant

    @override
    async def create_session(
        self, *, app_name: str, user_id: str, state: dict | None = None, session_id: str | None = None, tenant: str = ""
    ) -> Session:
        return await super().create_session(
            app_name=app_name, user_id=user_id, state={**(state or {}), "tenant": tenant}, session_id=session_id
        )

    def count(self, app_name: str) -> int:
        return len(self.sessions.get(app_name, {}))


class Notes(InMemoryMemoryService):
    """Searches notes."""

    async def search_memory(self, *, app_name: str, user_id: str, query: str, most: int = 5) -> SearchMemoryResponse:
        found = await super().search_memory(app_name=app_name, user_id=user_id, query=query)
        return SearchMemoryResponse(memories=found.memories[:most])

    async def add_session_to_memory(self, *args: Any, **kwargs: Any) -> None:
        await super().add_session_to_memory(*args, **kwargs)


async def use() -> None:
    sessions = TenantSessions("two")
    await sessions.create_session(app_name="own", user_id="ada", tenant="two")
    print(sessions.count("own"), sessions.tenant)
    await Notes().search_memory(app_name="own", user_id="ada", query="tea", most=1)

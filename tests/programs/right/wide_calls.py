"""Calls with keywords that only `**kwargs` of the ADK take, and positional arguments that are allowed."""

import asyncio

from google.adk.agents import LlmAgent, ManagedAgent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.code_executors import UnsafeLocalCodeExecutor
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService, VertexAiMemoryBankService, VertexAiRagMemoryService
from google.adk.plugins import LoggingPlugin, ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner
from google.adk.sessions import Session, VertexAiSessionService
from google.adk.tools import AgentTool, ExampleTool, LongRunningFunctionTool
from google.adk.tools.application_integration_tool import ApplicationIntegrationToolset
from google.adk.workflow import node

helper = LlmAgent(name="helper", model="gemini-2.5-flash")
remote = RemoteA2aAgent("remote", "http://localhost/card.json", timeout=3.0, before_agent_callback=None)
managed = ManagedAgent(name="managed", agent_id="one", api_client=None)
runner = InMemoryRunner(helper)
plugins = [LoggingPlugin("log"), ReflectAndRetryToolPlugin("retry", 2, False)]
tools = [AgentTool(helper, True), ExampleTool([]), LongRunningFunctionTool(print), ApplicationIntegrationToolset]
executor = UnsafeLocalCodeExecutor(timeout_seconds=3)
services = [VertexAiMemoryBankService, VertexAiRagMemoryService, InMemoryMemoryService()]


@node
def start(node_input: str) -> str:
    return node_input


end = node(start, name="end")


async def lasting(service: VertexAiSessionService) -> Session:
    return await service.create_session(app_name="1", user_id="ada", ttl="60s", display_name="Lasting")


async def keep(session: Session) -> None:
    memory = InMemoryMemoryService()
    await memory.add_session_to_memory(session)
    await runner.session_service.append_event(session, Event(author="user"))


kept = Session(id="1", app_name="InMemoryRunner", user_id="ada")
asyncio.run(InMemoryMemoryService().add_session_to_memory(kept))

"""The first steps of somebody who learned the ADK from old pages."""

from google.adk.agents import LlmAgent, LoopAgent  # wrong: deprecated-name Workflow takes its place
from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.evaluation.agent_evaluator import DEFAULT_CRITERIA  # wrong: unknown-import the constant is gone
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, MemorySessionService  # wrong: unknown-import no version has it
from google.adk.tools import ToolContext, built_in_code_execution  # wrong: unknown-import BuiltInCodeExecutor takes its place

coder = LlmAgent(
    name="coder",
    model="gemini-2.5-flash",
    instruction="Write code.",
    code_executor=BuiltInCodeExecutor(),
)
loop = LoopAgent(name="again", sub_agents=[coder], max_iterations=3)


def who(tool_context: ToolContext) -> str:
    """Tells who is served."""
    return tool_context.invocation_context.user_id  # wrong: unknown-name the context has no such attribute


async def main() -> None:
    service = InMemorySessionService()
    session = await service.create_session(app_name="first", user="ada", user_id="ada")  # wrong: unknown-keyword create_session takes no user
    runner = Runner(app_name="first", agent=coder, session_service=service)
    print(runner, session.id, DEFAULT_CRITERIA, MemorySessionService, built_in_code_execution, loop)

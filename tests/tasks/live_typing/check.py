"""The pieces of a reply, and an agent that never ends."""

from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.runners import InMemoryRunner
from tests.tasks.model import USER, ScriptedModel, call


def tick() -> dict:
    """Ticks."""
    return {"tick": True}


async def pieces_of(solution, model):
    runner = InMemoryRunner(agent=LlmAgent(name="clock", model=model, tools=[tick]), app_name="clock")
    await runner.session_service.create_session(app_name="clock", user_id=USER, session_id="first")
    return [piece async for piece in solution.type_reply(runner, USER, "first", "What time is it?")]


async def check(solution):
    pieces = await pieces_of(solution, ScriptedModel.of(call("tick"), "It is noon."))
    assert [piece.strip() for piece in pieces] == ["It", "is", "noon."], f"The pieces are {pieces}."

    endless = ScriptedModel.of(*(call("tick") for _ in range(20)))
    try:
        await pieces_of(solution, endless)
    except LlmCallsLimitExceededError:
        pass
    else:
        raise AssertionError("The endless run was not stopped.")
    assert len(endless.requests) == 3, f"The model was asked {len(endless.requests)} times."

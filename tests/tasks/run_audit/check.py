"""Two agents, a tool that works and a tool that does not."""

from google.adk.agents import LlmAgent
from tests.tasks.model import ScriptedModel, answers, call, last_text, say


def add(a: int, b: int) -> dict:
    """Adds two numbers."""
    return {"sum": a + b}


def explode(why: str) -> dict:
    """Does not work."""
    raise RuntimeError(f"broken: {why}")


async def check(solution):
    model = ScriptedModel.of(
        call("add", a=1, b=2),
        call("transfer_to_agent", agent_name="helper"),
        call("explode", why="rust"),
    )
    helper = LlmAgent(name="helper", model=model, tools=[explode])
    root = LlmAgent(name="root", model=model, tools=[add], sub_agents=[helper])
    runner, audit = solution.make_runner(root)
    events = await say(runner, "Go")

    assert last_text(events) == "done", "The run did not reach its end."
    assert {"error": "broken: rust"} in answers(model.requests[-1]), "The model does not get the message."
    # The transfer is a tool as well, and what is answered for a failed tool may count as an answer.
    ignored = (("tool", "transfer_to_agent"), ("tool", "explode"))
    entries = [entry for entry in audit.entries if entry not in ignored]
    assert entries == [
        ("model", "root"),
        ("tool", "add"),
        ("model", "root"),
        ("model", "helper"),
        ("failed", "explode"),
        ("model", "helper"),
    ], f"The entries are {audit.entries}."
    assert runner.app_name == "audited", "The application has another name."

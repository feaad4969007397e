"""A sum comes back, other code does not run, and the model may try again once."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import ScriptedModel, say

BAD = "```python\nprint('hello')\n```"


async def check(solution):
    model = ScriptedModel.of("```python\n2 + 30 + 4\n```")
    agent = solution.make_agent(model)
    await say(InMemoryRunner(agent=agent, app_name="sums"), "Add 2, 30 and 4")
    assert len(model.requests) == 2, "The model does not get to say what came out."
    assert "36" in str(model.requests[1].contents), "The sum does not reach the model."
    assert isinstance(agent.code_executor, solution.Sums), "The code went elsewhere."

    model = ScriptedModel.of(BAD, BAD, BAD, BAD)
    await say(InMemoryRunner(agent=solution.make_agent(model), app_name="sums"), "Say hello")
    assert len(model.requests) == 2, f"The model was asked {len(model.requests)} times for code that fails."
    assert "only sums" in str(model.requests[1].contents), "The error does not reach the model."

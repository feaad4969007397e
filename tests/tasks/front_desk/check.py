"""Where a question ends up, and an answer that no model words."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import USER, ScriptedModel, call, last_text, offered, parts, say


async def check(solution):
    for topic, agent in (("invoice", "billing"), ("printer", "technology")):
        model = ScriptedModel.of(call("route", topic=topic), f"I am {agent}.")
        runner = InMemoryRunner(agent=solution.make_agent(model), app_name="desk")
        events = await say(runner, "A question")
        assert len(model.requests) == 2 and last_text(events) == f"I am {agent}.", "The turn does not end with a reply."
        assert events[-1].author == agent, f"The topic {topic} ended up at {events[-1].author}."
        assert "transfer_to_agent" not in offered(model.requests[1]), "The agent below can hand on."
        session = await runner.session_service.get_session(app_name="desk", user_id=USER, session_id="first")
        assert session.state.get("topic") == topic, "The topic is not kept."

    model = ScriptedModel.of(call("opening_hours"))
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="desk")
    events = await say(runner, "When are you open?")
    assert len(model.requests) == 1, "The model was asked again."
    answers = [part.function_response.response for part in parts(events) if part.function_response]
    assert answers == [{"hours": "9 to 5"}], "The answer is another one."

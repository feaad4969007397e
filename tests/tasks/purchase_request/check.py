"""The call is marked as one that goes on, and the decision becomes its answer."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import USER, ScriptedModel, answers, call, calls, read, say


def reply(request):
    decided = answers(request)[-1].get("status") == "approved"
    return "It is approved." if decided else "I have asked."


async def check(solution):
    model = ScriptedModel.of(call("request_purchase", item="desk", price=400.0), reply, reply)
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="purchases")
    events = await say(runner, "Buy a desk")
    (asked,) = calls(events, "request_purchase")
    going_on = set().union(*(event.long_running_tool_ids or () for event in events))
    assert asked.id in going_on, "Nothing says that the call goes on."
    (tool,) = [one for group in model.requests[0].config.tools for one in group.function_declarations]
    assert "again" in tool.description + read(model.requests[0]), "The model may make the call again."

    text = await solution.deliver(runner, USER, "first", asked.id, {"status": "approved", "by": "Mia"})
    assert {"status": "approved", "by": "Mia"} in answers(model.requests[-1]), "The decision is no answer to the call."
    assert text == "It is approved.", "The text of the agent is not returned."

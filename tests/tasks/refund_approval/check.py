"""Small refunds are made at once, large ones only after a yes."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import ScriptedModel, answer, call, calls, say

REQUEST = "adk_request_confirmation"


async def check(solution):
    small = call("refund", order_id="A", amount=50.0)
    large = call("refund", order_id="B", amount=500.0)
    runner = InMemoryRunner(agent=solution.make_agent(ScriptedModel.of(small)), app_name="refunds")
    assert not calls(await say(runner, "Refund A"), REQUEST), "A small refund asked for approval."
    assert solution.REFUNDS == [("A", 50.0)], "The small refund was not made."

    for confirmed, made in ((False, 1), (True, 2)):
        runner = InMemoryRunner(agent=solution.make_agent(ScriptedModel.of(large)), app_name="refunds")
        asked = calls(await say(runner, "Refund B"), REQUEST)
        assert len(asked) == 1 and len(solution.REFUNDS) == 1, "A large refund did not wait for approval."
        await say(runner, answer(asked[0], {"confirmed": confirmed}))
        assert len(solution.REFUNDS) == made, f"With confirmed={confirmed} the refund went wrong."

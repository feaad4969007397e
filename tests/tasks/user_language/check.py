"""The instruction has the values of three scopes of state, also after a switch."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import USER, ScriptedModel, read, say


async def check(solution):
    model = ScriptedModel.of()
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="shop")
    sessions = runner.session_service

    async def begin(session_id, user_id=USER, **state):
        return await sessions.create_session(app_name="shop", user_id=user_id, session_id=session_id, state=state)

    first = await begin("first", **{"app:product": "Kettle", "user:language": "French"})
    await begin("other", user_id="ben", **{"user:language": "Thai", "topic": "warranty"})
    await say(runner, "Hello")
    await say(runner, "Hello", session_id="other", user_id="ben")
    await solution.switch_language(sessions, first, "German")
    await begin("second", topic="refunds")
    await say(runner, "Hello", session_id="second")
    await say(runner, "Hello")

    french, thai, second, switched = (read(request) for request in model.requests)
    assert "French" in french and "Kettle" in french and "{" not in french, "The instruction lacks values of state."
    assert all(word in thai for word in ("Thai", "Kettle", "warranty")), "Another user's instruction lacks values."
    assert "German" in second and "refunds" in second and "French" not in second, (
        "A later session has the old language."
    )
    assert "German" in switched and "refunds" not in switched, "The session itself has the old language."
    stored = await sessions.get_session(app_name="shop", user_id=USER, session_id="first")
    changes = [event.actions.state_delta for event in stored.events]
    assert any("German" in change.values() for change in changes), "The switch is not in the history."

"""What was said in one session is there in the next one of the same user."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import ScriptedModel, last_text, offered, read, say


async def check(solution):
    model = ScriptedModel.of()
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="friends")
    await say(runner, "My cat is called Miso.")
    events = await say(runner, "What is my cat called?", session_id="second")
    await say(runner, "What is my cat called?", session_id="third", user_id="ben")

    first, second, of_other = model.requests
    assert not offered(first) and not offered(second), "The model is offered tools."
    assert last_text(events) == "done", "The turn does not end with the model's reply."
    assert "Miso" in read(second), "The memory of the first session is not in the request."
    assert "Miso" not in read(of_other), "Another user sees the memory."

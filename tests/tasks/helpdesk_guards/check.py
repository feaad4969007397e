"""A message with the word never reaches the model, nor does the number of a card."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import ScriptedModel, answers, call, last_text, say


async def check(solution):
    model = ScriptedModel.of(call("lookup_customer", name="Ann"))
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="helpdesk")
    refused = await say(runner, "I lost my PassWord!")
    assert not model.requests, "The model was asked."
    assert last_text(refused) == "I cannot help with passwords.", "The answer is another one."

    # The earlier message is still in the conversation, but no longer the latest.
    events = await say(runner, "Who is Ann?")
    assert last_text(events) == "done", "A harmless question was refused."
    assert answers(model.requests[-1])[-1] == {"name": "Ann", "email": "ann@example.com", "card": "****"}, (
        "The model sees another answer of the tool."
    )
    assert solution.lookup_customer("Ann")["card"] == "4111 1111", "The function itself was changed."

"""What the models are asked, and what of a plan is shown."""

from google.adk.runners import InMemoryRunner
from google.genai import types
from tests.tasks.model import ScriptedModel, last_text, parts, read, say

PLAN = "/*PLANNING*/ 1. Look at the map."


async def check(solution):
    model = ScriptedModel.of([types.Part(text=PLAN), types.Part(text="/*FINAL_ANSWER*/ Take the train.")])
    runner = InMemoryRunner(agent=solution.make_planning_agent(model), app_name="trips")
    events = await say(runner, "How do I get to Rome?")
    assert "/*PLANNING*/" in read(model.requests[0]), "The model is not told to plan."
    thoughts = [part.text for part in parts(events) if part.thought]
    assert any("Look at the map" in text for text in thoughts), "The plan is shown as the answer."
    assert "Take the train." in (last_text(events) or ""), "The answer is missing."

    model = ScriptedModel.of()
    await say(InMemoryRunner(agent=solution.make_thinking_agent(model), app_name="trips"), "How do I get to Rome?")
    thinking = model.requests[0].config.thinking_config
    assert thinking and thinking.thinking_budget == 512, "The model has another budget."
    assert thinking.include_thoughts, "The thoughts do not come back."

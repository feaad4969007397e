"""Tools that raise, that return errors, and that work in between."""

from google.adk.agents import LlmAgent
from tests.tasks.model import ScriptedModel, answers, call, last_text, say


def fetch(page: str) -> dict:
    """Fetches a page."""
    if page == "raise":
        raise RuntimeError("no network")
    if page == "return":
        return {"status": "error", "message": "not there"}
    return {"status": "ok"}


async def check(solution):
    pages = ["raise", "return", "good", "return", "return", "raise"]
    model = ScriptedModel.of(*(call("fetch", page=page) for page in pages))
    runner = solution.make_runner(LlmAgent(name="root", model=model, tools=[fetch]))
    events = await say(runner, "Fetch")
    assert runner.app_name == "patient", "The application has another name."
    assert last_text(events) == "done" and len(model.requests) == 7, "The run did not reach its end."
    found = answers(model.requests[-1])
    counts = [one.get("retry_count") for one in found]
    assert counts[:5] == [1, 2, None, 1, 2], f"The failures are counted as {counts}."
    assert found[2] == {"status": "ok"}, "A success is changed."
    assert "not there" in str(found[1]), "The model is not told the error."
    assert "no network" in str(found[5]), "The model is not told the last error."

"""Versions of a session's file, and a file of the user."""

from google.adk.runners import InMemoryRunner
from tests.tasks.model import USER, ScriptedModel, answers, call, say


async def check(solution):
    model = ScriptedModel.of(
        call("save_report", text="# One"),
        call("save_report", text="# Two"),
        call("read_report", version=0),
        call("read_report", version=1),
        call("read_report", version=7),
    )
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="reports")
    await say(runner, "Report")
    assert answers(model.requests[-1]) == [
        {"version": 0},
        {"version": 1},
        {"text": "# One"},
        {"text": "# Two"},
        {"error": "not found"},
    ], "The tools answer otherwise."

    place = {"app_name": "reports", "user_id": USER}
    store = runner.artifact_service
    elsewhere = await store.list_artifact_keys(**place, session_id="second")
    assert elsewhere == ["user:latest.md"], "Another session of the user sees other files."
    part = await store.load_artifact(**place, session_id="first", filename="report.md")
    assert part.inline_data and part.inline_data.mime_type == "text/markdown", "The file is not Markdown."

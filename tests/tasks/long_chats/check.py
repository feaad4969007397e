"""The settings, and a summary after three turns."""

from google.adk.apps import App
from google.adk.runners import InMemoryRunner
from tests.tasks.model import USER, ScriptedModel, read, say

SUMMARY = "They spoke of trains."


async def check(solution):
    # Three turns, then the summary.
    model = ScriptedModel.of("One.", "Two.", "Three.", SUMMARY, "Four.")
    app = solution.make_app(model)
    assert isinstance(app, App) and app.name == "travel" and app.root_agent.name == "guide", (
        "This is not the application."
    )
    cache = app.context_cache_config
    assert cache is not None, "Nothing is cached."
    assert (cache.cache_intervals, cache.ttl_seconds, cache.min_tokens) == (5, 600, 4096), "The cache is set otherwise."
    assert app.resumability_config and app.resumability_config.is_resumable, "Runs cannot be resumed."
    compaction = app.events_compaction_config
    assert compaction is not None, "Nothing is summed up."
    assert (compaction.compaction_interval, compaction.overlap_size) == (3, 1), "Summaries are set otherwise."

    runner = InMemoryRunner(app=app)
    for question in ("Trains to Rome?", "And back?", "At night?", "How much?"):
        await say(runner, question)
    session = await runner.session_service.get_session(app_name="travel", user_id=USER, session_id="first")
    summaries = [event.actions.compaction for event in session.events if event.actions.compaction]
    assert len(summaries) == 1, "There is no summary after three turns."
    assert SUMMARY in read(model.requests[-1]), "The model does not get the summary in the next turn."

"""An App with compaction, resumability and context caching."""

from google.adk.agents import LlmAgent
from google.adk.agents.context_cache_config import ContextCacheConfig
from google.adk.apps import App, ResumabilityConfig
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer


def make_app(model):
    return App(
        name="travel",
        root_agent=LlmAgent(name="guide", model=model),
        events_compaction_config=EventsCompactionConfig(
            summarizer=LlmEventSummarizer(llm=model), compaction_interval=3, overlap_size=1
        ),
        resumability_config=ResumabilityConfig(is_resumable=True),
        context_cache_config=ContextCacheConfig(cache_intervals=5, ttl_seconds=600, min_tokens=4096),
    )

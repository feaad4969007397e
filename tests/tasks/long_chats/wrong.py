"""Names of settings that the application does not have."""

from google.adk.agents import LlmAgent
from google.adk.agents.context_cache_config import ContextCacheConfig
from google.adk.apps import App, ResumabilityConfig
from google.adk.apps.app import EventsCompactionConfig


def make_app(model):
    return App(
        name="travel",
        root_agent=LlmAgent(name="guide", model=model),
        events_compaction_config=EventsCompactionConfig(interval=3, overlap=1, model=model),
        resumability_config=ResumabilityConfig(resumable=True),
        context_cache_config=ContextCacheConfig(max_uses=5, ttl="600s", min_tokens=4096),
    )

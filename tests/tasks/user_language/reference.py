"""An agent whose instruction is filled from state."""

import time

from google.adk.agents import LlmAgent
from google.adk.events import Event, EventActions


def make_agent(model):
    return LlmAgent(
        name="support",
        model=model,
        instruction="Answer in {user:language}. You support {app:product}. The topic is: {topic?}.",
    )


async def switch_language(session_service, session, language):
    actions = EventActions(state_delta={"user:language": language})
    event = Event(invocation_id="switch", author="system", actions=actions, timestamp=time.time())
    await session_service.append_event(session, event)

"""Settings of a run that do not exist."""

from google.adk.agents.run_config import RunConfig
from google.genai import types


async def type_reply(runner, user_id, session_id, text):
    config = RunConfig(streaming=True, max_turns=3)
    message = types.Content(role="user", parts=[types.Part(text=text)])
    async for event in runner.run_async(user_id=user_id, session_id=session_id, new_message=message, run_config=config):
        if event.partial and event.content:
            for part in event.content.parts or []:
                if part.text:
                    yield part.text

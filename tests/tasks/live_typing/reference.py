"""A run with streaming and a limit."""

from google.adk.agents.run_config import RunConfig, StreamingMode
from google.genai import types


async def type_reply(runner, user_id, session_id, text):
    config = RunConfig(streaming_mode=StreamingMode.SSE, max_llm_calls=3)
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = runner.run_async(user_id=user_id, session_id=session_id, new_message=message, run_config=config)
    async for event in events:
        if event.partial and event.content:
            for part in event.content.parts or []:
                if part.text:
                    yield part.text

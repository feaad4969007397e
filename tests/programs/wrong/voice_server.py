"""Streams audio between a client and an agent."""

from google.adk.agents import Agent, LiveRequestQueue
from google.adk.agents import StreamingMode  # wrong: unknown-import it is in run_config
from google.adk.agents.run_config import RunConfig
from google.adk.runners import InMemoryRunner
from google.adk.tools import built_in_code_execution  # wrong: unknown-import it is BuiltInCodeExecutor
from google.genai import types

runner = InMemoryRunner(agent=Agent(name="voice", model="gemini-2.0-flash-live-001"), app_name="voice")


def run_config(audio: bool) -> RunConfig:
    config = RunConfig(response_modality=["AUDIO" if audio else "TEXT"])  # wrong: unknown-keyword it is response_modalities
    config.max_llm_calls = 30
    return config


async def talk(user: str, audio_chunks) -> None:
    session = await runner.session_service.create_session(app_name="voice", user_id=user)
    queue = LiveRequestQueue()
    for chunk in audio_chunks:
        queue.send_realtime(types.Blob(data=chunk, mime_type="audio/pcm"))
    async for event in runner.run_live(user, session.id, live_request_queue=queue, run_config=run_config(True)):  # wrong: positional keywords only
        print(event.content)
    queue.close()

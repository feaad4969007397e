"""A room for talk with voices."""

import asyncio

from google.adk.agents import LiveRequestQueue, LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import MCPToolset  # wrong: deprecated-name the class is McpToolset
from google.genai import types

agent = LlmAgent(name="room", model="gemini-2.5-flash")
runner = InMemoryRunner(agent=agent, app_name="room")
config = RunConfig(
    streaming_mode=StreamingMode.BIDIRECTIONAL,  # wrong: unknown-name the member is BIDI
    speech_config=types.SpeechConfig(language="de-DE"),  # wrong: neighbour-keyword the field is language_code
)


async def hear(queue: LiveRequestQueue, session_id: str) -> None:
    for event in runner.run_live(user_id="ada", session_id=session_id, live_request_queue=queue, run_config=config):  # wrong: missing-await an asynchronous generator needs async for
        print(event.author, event.is_final_response())


async def talk(text: str) -> None:
    queue = LiveRequestQueue()
    session = await runner.session_service.create_session(app_name="room", user_id="ada")
    hearing = asyncio.create_task(hear(queue, session.id))
    queue.send_text(text)  # wrong: unknown-name the method is send_content
    queue.send_content(types.UserContent(text))
    queue.close()
    await hearing


print(MCPToolset)

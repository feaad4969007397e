"""A weather agent for the command line."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

APP = "weather"


def forecast(city: str) -> dict:
    """Gives the forecast of a city."""
    return {"city": city, "sky": "clear"}


agent = LlmAgent(name="weather", model="gemini-2.5-flash", tools=[forecast])


async def talk(question: str) -> None:
    sessions = InMemorySessionService()
    runner = Runner(agent, APP, sessions)  # wrong: extra-argument all parameters of Runner are keyword-only
    session = await sessions.create_session(APP, "ada")  # wrong: extra-argument create_session takes keywords only
    message = types.Content(role="user", parts=[types.Part(text=question)])
    async for event in runner.run_async("ada", session.id, message):  # wrong: extra-argument run_async takes keywords only
        if event.content and event.content.parts:
            print(event.content.parts[0].text)
    await runner.close()


async def try_out(question: str) -> None:
    runner = InMemoryRunner(agent, APP)  # wrong: extra-argument only the agent may be positional
    await runner.run_debug(question, "ada")  # wrong: extra-argument user_id is keyword-only


if __name__ == "__main__":
    asyncio.run(talk("How is the weather in Oslo?"))

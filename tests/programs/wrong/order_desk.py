"""A console chat with the order desk of a shop."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

APP = "order_desk"
ORDERS = {"A-1": "shipped", "A-2": "waiting for payment"}


def order_status(order_id: str) -> dict:
    """Tells where an order is."""
    return {"status": ORDERS.get(order_id, "unknown")}


root_agent = LlmAgent(
    name="order_desk",
    model="gemini-2.5-flash",
    instructions="Answer questions about orders. Be short.",  # wrong: unknown-keyword the field is instruction
    tools=[order_status],
)

sessions = InMemorySessionService()
runner = Runner(root_agent, APP, sessions)  # wrong: positional Runner takes keywords only


async def ask(text: str, session_id: str) -> str:
    content = types.Content(role="user", parts=[types.Part.from_text(text)])  # wrong: foreign text is keyword-only
    stream = runner.run_async(user_id="guest", session_id=session_id, message=content)  # wrong: unknown-keyword it is new_message
    async for event in stream:
        if event.is_final_response and event.content:  # wrong: uncalled-method a bound method is always true
            return event.content.parts[0].text
    return ""


async def main() -> None:
    session = sessions.create_session(app_name=APP, user_id="guest")  # wrong: missing-await a coroutine has no id
    while text := input("> "):
        print(await ask(text, session.id))


if __name__ == "__main__":
    asyncio.run(main())

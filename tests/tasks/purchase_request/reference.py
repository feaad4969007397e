"""A tool whose result comes later."""

from google.adk.agents import LlmAgent
from google.adk.tools import LongRunningFunctionTool
from google.genai import types


def request_purchase(item: str, price: float) -> dict:
    """Files a request to buy an item."""
    return {"status": "pending", "ticket": "T-1"}


def make_agent(model):
    return LlmAgent(name="purchases", model=model, tools=[LongRunningFunctionTool(request_purchase)])


async def deliver(runner, user_id, session_id, call_id, decision):
    response = types.FunctionResponse(id=call_id, name="request_purchase", response=decision)
    message = types.Content(role="user", parts=[types.Part(function_response=response)])
    text = ""
    async for event in runner.run_async(user_id=user_id, session_id=session_id, new_message=message):
        if event.is_final_response() and event.content:
            text = "".join(part.text or "" for part in event.content.parts)
    return text

"""Callbacks before the model and after a tool."""

from google.adk.agents import LlmAgent
from google.adk.models import LlmResponse
from google.genai import types


def lookup_customer(name: str) -> dict:
    """Finds a customer by name."""
    return {"name": name, "email": "ann@example.com", "card": "4111 1111"}


def refuse_passwords(callback_context, llm_request):
    message = callback_context.user_content
    text = " ".join(part.text or "" for part in message.parts) if message else ""
    if "password" not in text.lower():
        return None
    part = types.Part(text="I cannot help with passwords.")
    return LlmResponse(content=types.Content(role="model", parts=[part]))


def hide_card(tool, args, tool_context, tool_response):
    if "card" not in tool_response:
        return None
    return {**tool_response, "card": "****"}


def make_agent(model):
    return LlmAgent(
        name="helpdesk",
        model=model,
        tools=[lookup_customer],
        before_model_callback=refuse_passwords,
        after_tool_callback=hide_card,
    )

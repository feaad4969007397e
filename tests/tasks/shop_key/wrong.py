"""Asks for the scheme alone, and looks for the key where it is not."""

from fastapi.openapi.models import APIKey, APIKeyIn
from google.adk.agents import LlmAgent
from google.adk.tools import ToolContext

KEY = APIKey(**{"in": APIKeyIn.header, "name": "X-Shop-Key"})


def fetch_orders(key):
    return ["lamp"] if key == "k-42" else []


def list_orders(tool_context: ToolContext) -> dict:
    """Lists the user's orders."""
    key = tool_context.state.get("api_key")
    if key is None:
        tool_context.request_credential(auth_scheme=KEY)
        return {"status": "waiting for the key"}
    return {"orders": fetch_orders(key)}


def make_agent(model):
    return LlmAgent(name="shop", model=model, tools=[list_orders])

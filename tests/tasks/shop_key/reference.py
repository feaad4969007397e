"""A tool that asks for a credential."""

from fastapi.openapi.models import APIKey, APIKeyIn
from google.adk.agents import LlmAgent
from google.adk.auth import AuthConfig
from google.adk.tools import ToolContext

KEY = AuthConfig(auth_scheme=APIKey(**{"in": APIKeyIn.header, "name": "X-Shop-Key"}))


def fetch_orders(key):
    return ["lamp"] if key == "k-42" else []


def list_orders(tool_context: ToolContext) -> dict:
    """Lists the user's orders."""
    credential = tool_context.get_auth_response(KEY)
    if credential is None:
        tool_context.request_credential(KEY)
        return {"status": "waiting for the key"}
    return {"orders": fetch_orders(credential.api_key)}


def make_agent(model):
    return LlmAgent(name="shop", model=model, tools=[list_orders])

"""Tools that ask before they act."""

from google.adk.agents import LlmAgent
from google.adk.tools import ToolContext
from google.adk.tools.openapi_tool import OpenAPIToolset
from google.adk.workflow import FunctionNode
from google.genai import types

SPEC = {"openapi": "3.0.0", "info": {"title": "Bank", "version": "1"}, "paths": {}}


async def transfer(amount: int, tool_context: ToolContext) -> dict:
    """Transfers money."""
    if not tool_context.tool_confirmation:
        tool_context.request_confirmation("Transfer the money?")  # wrong: extra-argument hint is keyword-only
        return {"state": "waiting"}
    receipt = types.Part(text=f"{amount} euros")
    version = await tool_context.save_artifact("receipt.txt", receipt, None, 1)  # wrong: extra-argument three arguments at most
    past = await tool_context.search_memory("transfers", 5)  # wrong: extra-argument only the query is taken
    return {"state": "done", "version": version, "past": len(past.memories)}


def balance(tool_context: ToolContext) -> int:
    """Tells the balance."""
    return tool_context.state.get("balance", 0)


bank = OpenAPIToolset(SPEC)  # wrong: extra-argument spec_dict is keyword-only
step = FunctionNode(balance)  # wrong: extra-argument func is keyword-only
agent = LlmAgent(name="bank", model="gemini-2.5-flash", tools=[transfer, balance, bank])

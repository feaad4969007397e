"""The condition takes all arguments as one, as it does nowhere in the ADK."""

from google.adk.agents import LlmAgent
from google.adk.tools import FunctionTool

REFUNDS = []


def refund(order_id: str, amount: float) -> dict:
    """Pays back an amount for an order."""
    REFUNDS.append((order_id, amount))
    return {"status": "refunded"}


def make_agent(model):
    tool = FunctionTool(refund, require_confirmation=lambda tool_args: tool_args["amount"] > 100)
    return LlmAgent(name="refunds", model=model, tools=[tool])

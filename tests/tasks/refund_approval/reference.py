"""A tool whose larger calls a person confirms."""

from google.adk.agents import LlmAgent
from google.adk.tools import FunctionTool

REFUNDS = []


def refund(order_id: str, amount: float) -> dict:
    """Pays back an amount for an order."""
    REFUNDS.append((order_id, amount))
    return {"status": "refunded"}


def is_large(order_id: str, amount: float) -> bool:
    return amount > 100


def make_agent(model):
    return LlmAgent(name="refunds", model=model, tools=[FunctionTool(refund, require_confirmation=is_large)])

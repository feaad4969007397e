"""A reply with a schema, kept in state, and a tool."""

from google.adk.agents import LlmAgent
from pydantic import BaseModel


class Line(BaseModel):
    text: str
    amount: float


class Invoice(BaseModel):
    number: str
    total: float
    lines: list[Line]


def exchange_rate(currency: str) -> dict:
    """Returns the rate of a currency."""
    return {"rate": 0.5}


def make_agent(model):
    return LlmAgent(name="reader", model=model, tools=[exchange_rate], output_schema=Invoice, output_key="invoice")

"""The schema as the model's own client takes it, which the agent does not."""

from google.adk.agents import LlmAgent
from google.genai import types
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
    return LlmAgent(
        name="reader",
        model=model,
        tools=[exchange_rate],
        generate_content_config=types.GenerateContentConfig(response_schema=Invoice),
        output_key="invoice",
    )

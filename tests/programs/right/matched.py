"""Finds out by patterns and dispatch what a value is."""

from functools import singledispatch
from typing import Any, TypeGuard, cast

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.events import Event
from google.adk.models import LlmResponse
from google.adk.sessions import Session


@singledispatch
def title(value: Any) -> str:
    return str(value)


@title.register
def _(value: Event) -> str:
    return value.author


@title.register
def _(value: Session) -> str:
    return value.id


def kind(value: object) -> str:
    match value:
        case Event(author="user"):
            return "question"
        case LlmResponse(error_code=str(code)):
            return code
        case {"author": str(author)}:
            return author
        case LlmAgent(name=name) | BaseAgent(name=name):
            return name
    return ""


def is_text(values: list[Any]) -> TypeGuard[list[str]]:
    return all(isinstance(value, str) for value in values)


def model_of(agent: BaseAgent) -> str:
    if not isinstance(agent, LlmAgent):
        return agent.name
    return str(agent.model)


def read(value: Event | str | list[Any], strict: bool = False) -> str:
    if isinstance(value, str) or (strict and not hasattr(value, "author")):
        return cast(str, value).upper()
    if isinstance(value, list):
        return ", ".join(value) if is_text(value) else str(len(value))
    return value.author


session: Session | str = "none"
print(session.upper(), title(Event(author="a")), kind({"author": "b"}), read("c"))

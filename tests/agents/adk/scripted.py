"""A model that follows a script, and what an agent that has it went through."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import PrivateAttr

Answers = list[dict[str, Any]]
# A tool with its arguments.
ToolCall = tuple[str, dict[str, Any]]


class Scripted(BaseLlm):
    """Calls the tools of its script one after another, then says that it is done."""

    model: str = "scripted"
    _calls: list[ToolCall] = PrivateAttr(default_factory=list)
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._requests.append(llm_request.model_copy(deep=True))
        turn = len(self._requests) - 1
        if turn < len(self._calls):
            name, arguments = self._calls[turn]
            part = types.Part.from_function_call(name=name, args=arguments)
        else:
            part = types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


@dataclass
class Run:
    """A run of an agent: what the model was offered and what it was answered, call by call."""

    requests: list[LlmRequest]
    events: list[Event]

    @property
    def offered(self) -> dict[str, types.FunctionDeclaration]:
        """The tools that the model can choose from, by their names."""
        tools = self.requests[0].config.tools or []
        return {one.name: one for tool in tools for one in tool.function_declarations}

    @property
    def answers(self) -> Answers:
        """The answers of the tools as the model saw them."""
        return answers_in(self.requests[-1])

    @property
    def ended_well(self) -> bool:
        """Whether the model had the last word."""
        return self.events[-1].content.parts[0].text == "done"


async def run(agent: LlmAgent, *calls: ToolCall) -> Run:
    """Have an agent call tools, whatever model it has."""
    agent.model = scripted = Scripted()
    scripted._calls.extend(calls)
    runner = InMemoryRunner(agent=agent, app_name="agents")
    try:
        events = await runner.run_debug("How do I retry a tool?", quiet=True)
    finally:
        # Of its toolsets, too.
        await runner.close()
    return Run(scripted._requests, events)


def answers_in(request: LlmRequest) -> Answers:
    """What tools answered, in the order of their calls."""
    parts = [part for content in request.contents for part in content.parts]
    return [part.function_response.response for part in parts if part.function_response]

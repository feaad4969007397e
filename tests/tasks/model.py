"""A model that follows a script, and conversations with agents that have it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.genai import types
from pydantic import PrivateAttr

USER = "ann"
# A reply: a text, or a call of a tool, or several of both.
Reply = str | types.Part | list[types.Part]
# A step of the script may depend on what the model is asked.
Step = Reply | Callable[[LlmRequest], Reply]


class ScriptedModel(BaseLlm):
    """Replies with the steps of its script, then with "done"."""

    model: str = "scripted"
    _steps: list[Step] = PrivateAttr(default_factory=list)
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list)

    @classmethod
    def of(cls, *steps: Step) -> ScriptedModel:
        model = cls()
        model._steps.extend(steps)
        return model

    @property
    def requests(self) -> list[LlmRequest]:
        """What the model was asked, copied when it was asked."""
        return self._requests

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._requests.append(llm_request.model_copy(deep=True))
        reply = self._steps.pop(0) if self._steps else "done"
        if callable(reply):
            reply = reply(llm_request)
        if stream and isinstance(reply, str):
            for word in reply.split(" "):
                yield _response(f"{word} ", partial=True)
        yield _response(reply)


def call(tool: str, **arguments: Any) -> types.Part:
    """A call of a tool by the model."""
    return types.Part.from_function_call(name=tool, args=arguments)


def answer(question: types.FunctionCall, response: dict[str, Any]) -> types.Part:
    """What a client answers to a call that waits for the client."""
    return types.Part(function_response=types.FunctionResponse(id=question.id, name=question.name, response=response))


async def say(runner: Runner, message: str | types.Part, session_id: str = "first", user_id: str = USER) -> list[Event]:
    """The events of one turn; the session begins where there is none."""
    place = {"app_name": runner.app_name, "user_id": user_id, "session_id": session_id}
    if await runner.session_service.get_session(**place) is None:
        await runner.session_service.create_session(**place)
    part = types.Part(text=message) if isinstance(message, str) else message
    content = types.Content(role="user", parts=[part])
    return [event async for event in runner.run_async(user_id=user_id, session_id=session_id, new_message=content)]


def parts(events: list[Event]) -> list[types.Part]:
    """All parts of some events."""
    return [part for event in events if event.content for part in event.content.parts or []]


def last_text(events: list[Event]) -> str | None:
    """The text at the end of a turn, thoughts left out."""
    texts = [part.text for part in parts(events) if part.text and not part.thought]
    return texts[-1] if texts else None


def calls(events: list[Event], name: str) -> list[types.FunctionCall]:
    """The calls of one tool."""
    return [part.function_call for part in parts(events) if part.function_call and part.function_call.name == name]


def answers(request: LlmRequest) -> list[dict[str, Any]]:
    """What tools answered, as the model sees it, in the order of their calls."""
    found = [part for content in request.contents for part in content.parts or []]
    return [part.function_response.response for part in found if part.function_response]


def offered(request: LlmRequest) -> set[str]:
    """The names of the tools that the model can choose from."""
    tools = request.config.tools or []
    return {one.name for tool in tools for one in tool.function_declarations or []}


def read(request: LlmRequest) -> str:
    """All texts that the model is given, its instruction included."""
    texts = [str(request.config.system_instruction or "")]
    texts += [part.text for content in request.contents for part in content.parts or [] if part.text]
    return "\n".join(texts)


def _response(reply: Reply, partial: bool | None = None) -> LlmResponse:
    if isinstance(reply, str):
        reply = types.Part(text=reply)
    content = types.Content(role="model", parts=reply if isinstance(reply, list) else [reply])
    return LlmResponse(content=content, partial=partial)

"""Callbacks of many shapes, all of which can be called."""

import functools

from google.adk.agents import LlmAgent
from google.adk.models import LlmRequest, LlmResponse
from google.genai import types


def reply(text, callback_context, llm_request):
    if text in str(llm_request.contents):
        return LlmResponse(content=types.ModelContent(text))
    return None


def by_position(ctx, request: LlmRequest):
    request.config.temperature = 0.0


def tool_by_position(t, a, c, response):
    return None


async def anything(*args, **kwargs):
    return None


def with_default(callback_context, note="start"):
    callback_context.state["note"] = note


class Filter:
    def __init__(self, words):
        self.words = words

    def __call__(self, callback_context, llm_response):
        return None

    def check(self, tool, args, tool_context):
        return {"error": "no"} if set(self.words) & set(args) else None

    @staticmethod
    def after(callback_context):
        return None


def logged(func):
    @functools.wraps(func)
    async def inner(**kwargs):
        return func(**kwargs)

    return inner


@logged
def audited(callback_context, llm_request):
    return None


words = Filter(["secret"])
root_agent = LlmAgent(
    name="loose",
    model="gemini-2.5-flash",
    before_agent_callback=[with_default, lambda callback_context: None, anything],
    after_agent_callback=Filter.after,
    before_model_callback=[functools.partial(reply, "stop"), by_position, audited],
    after_model_callback=[words, lambda c, r: None],
    before_tool_callback=words.check,
    after_tool_callback=tool_by_position,
    on_tool_error_callback=lambda tool, args, tool_context, error: {"error": str(error)},
)

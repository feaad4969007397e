"""Callbacks that are objects, static methods and class methods."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import BaseTool, ToolContext


class Guard:
    """Refuses words."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def __call__(self, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        return LlmResponse(error_code="WORD") if any(word in str(llm_request.contents) for word in self.words) else None

    @staticmethod
    def started(callback_context: CallbackContext) -> None:
        print(callback_context.agent_name)

    @classmethod
    async def tool(cls, tool: BaseTool, args: dict, tool_context: ToolContext) -> dict | None:
        return None

    def answered(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        print(llm_response.error_code)


guard = Guard(["secret"])
callbacks = [guard]
agent = LlmAgent(
    name="objects",
    model="gemini-2.5-flash",
    before_agent_callback=Guard.started,
    before_model_callback=callbacks,
    after_model_callback=guard.answered,
    before_tool_callback=[Guard.tool],
    on_tool_error_callback=None,
)
callbacks.append(Guard([]))

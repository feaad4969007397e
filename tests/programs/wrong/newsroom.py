"""A newsroom that builds its agents in a class."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import BaseTool, ToolContext


class Newsroom:
    """Makes reporters, and counts what they do."""

    def __init__(self) -> None:
        self.count = 0
        self.reporter = LlmAgent(
            name="reporter",
            model="gemini-2.5-flash",
            before_agent_callback=self._start,
            before_model_callback=self._ask,  # wrong: unfit-callback llm_request cannot be passed
            after_model_callback=[self._hear, self.hear_all],  # wrong: unfit-callback the second one lacks llm_response
            on_model_error_callback=self._fail,  # wrong: unfit-callback error cannot be passed
            after_tool_callback=Newsroom.after,  # wrong: unfit-callback four values are passed, and five are required
        )

    def _start(self, callback_context: CallbackContext) -> None:
        self.count += 1

    async def _ask(self, callback_context: CallbackContext) -> LlmResponse | None:
        return None

    def _hear(self, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        self.count += 1

    def hear_all(self, *, callback_context: CallbackContext) -> None:
        self.count += 1

    def _fail(self, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        self.count = 0

    @staticmethod
    def after(tool: BaseTool, args: dict, tool_context: ToolContext, tool_response: dict, agent: str) -> dict | None:
        return tool_response

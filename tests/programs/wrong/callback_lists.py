"""Agents with lists of callbacks, methods and lambdas."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest


class Quota:
    """Counts calls of the model."""

    def __init__(self) -> None:
        self.calls = 0

    def count(self, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        self.calls += 1

    def count_short(self, callback_context: CallbackContext) -> None:
        self.calls += 1


async def log_request(callback_context: CallbackContext, *, request: LlmRequest) -> None:
    print(request.model)


quota = Quota()

writer = LlmAgent(
    name="writer",
    model="gemini-2.5-flash",
    before_model_callback=[
        quota.count,
        quota.count_short,  # wrong: unfit-callback llm_request cannot be passed
        log_request,  # wrong: unfit-callback the keyword-only parameter has another name
    ],
    after_agent_callback=lambda: None,  # wrong: unfit-callback callback_context cannot be passed
)

reader = LlmAgent(name="reader", model="gemini-2.5-flash", before_tool_callback=lambda tool, args: None)  # wrong: unfit-callback tool_context cannot be passed
reader.after_model_callback = [lambda callback_context, llm_response: None]

"""An agent with guards, some of which cannot be called as the ADK calls them."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import BaseTool, ToolContext


def note_start() -> None:
    print("start")


def guard_input(ctx: CallbackContext) -> LlmResponse | None:
    return None


def guard_output(callback_context: CallbackContext, llm_request: LlmRequest, llm_response: LlmResponse) -> None:
    print(llm_response.error_code)


def guard_tool(callback_context: CallbackContext, tool: BaseTool, args: dict, tool_context: ToolContext) -> dict | None:
    return None


def guard_result(tool: BaseTool, args: dict, tool_context: ToolContext) -> dict | None:
    return None


def guard_error(tool: BaseTool, args: dict, tool_context: ToolContext, error: Exception) -> dict | None:
    return {"error": str(error)}


agent = LlmAgent(
    name="guarded",
    model="gemini-2.5-flash",
    before_agent_callback=note_start,  # wrong: unfit-callback the function takes no argument
    before_model_callback=guard_input,  # wrong: unfit-callback llm_request cannot be passed
    after_model_callback=guard_output,  # wrong: unfit-callback nobody passes llm_request here
    before_tool_callback=guard_tool,  # wrong: unfit-callback nobody passes callback_context here
    after_tool_callback=guard_result,  # wrong: unfit-callback tool_response cannot be passed
    on_tool_error_callback=guard_error,
)

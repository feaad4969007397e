"""Tools and toolsets by position, with own signatures."""

from google.adk.agents import Agent
from google.adk.planners import PlanReActPlanner
from google.adk.tools import AgentTool, BaseTool, FunctionTool, LongRunningFunctionTool, ToolContext
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types


def pay(amount: float, ctx: ToolContext) -> dict:
    """Pays."""
    if ctx.tool_confirmation is None:
        ctx.request_confirmation(hint="Pay?", payload={"amount": amount})
        ctx.actions.skip_summarization = True
        return {"status": "waiting"}
    ctx.state["user:paid"] = amount
    return {"status": "paid" if ctx.tool_confirmation.confirmed else "refused"}


class Echo(BaseTool):
    def __init__(self, name="echo", *rest, **options):
        super().__init__(name=name, description="Says it again.", is_long_running=False)
        self.rest = rest

    async def run_async(self, args, tool_context, **_):
        return args

    def _get_declaration(self):
        return types.FunctionDeclaration(name=self.name, parameters={"type": "OBJECT", "properties": {}})


class Sync(Echo):
    def run_async(self, *, args, tool_context):
        return super().run_async(args=args, tool_context=tool_context)


class Box(BaseToolset):
    def __init__(self, *tools):
        super().__init__(tool_filter=[tool.name for tool in tools])
        self.tools = tools

    async def get_tools(self, readonly_context=None, cached=True):
        return list(self.tools)

    async def close(self, *, force=False):
        self.tools = ()


echo = Echo("say", 1, 2, color="red")
echo.color = "blue"
confirmed = ToolConfirmation(hint="x", confirmed=True)
root_agent = Agent(
    name="plain",
    model="gemini-2.5-flash",
    planner=PlanReActPlanner(),
    tools=[
        pay,
        FunctionTool(pay, require_confirmation=lambda amount, **_: amount > 10),
        LongRunningFunctionTool(pay),
        AgentTool(Agent(name="inner"), True, include_plugins=False),
        echo,
        Sync(),
        Box(echo),
    ],
)

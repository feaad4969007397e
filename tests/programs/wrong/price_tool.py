"""A tool and a toolset of a shop."""

from google.adk.agents import LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.tools import BaseTool, ToolContext
from google.adk.tools.base_toolset import BaseToolset


class PriceTool(BaseTool):
    """Tells the price of an article."""

    def __init__(self) -> None:
        super().__init__("price", "Tells the price of an article.")  # wrong: extra-argument BaseTool takes keywords only

    async def run_async(self, args: dict, context: ToolContext) -> dict:  # wrong: unfit-override the caller passes tool_context by name
        return {"price": 3}


class StockTool(BaseTool):
    """Tells how many articles there are."""

    def __init__(self) -> None:
        super().__init__(name="stock", description="Tells how many articles there are.")

    async def run_async(self, *, args: dict, tool_context: ToolContext) -> dict:
        return {"count": 12}

    async def process_llm_request(self, llm_request) -> None:  # wrong: unfit-override tool_context is missing
        llm_request.append_tools([self])


class ShopToolset(BaseToolset):
    """The tools of the shop."""

    async def get_tools(self) -> list[BaseTool]:  # wrong: unfit-override readonly_context is passed
        return [PriceTool(), StockTool()]


class QuietToolset(BaseToolset):
    """No tools."""

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        return []


agent = LlmAgent(name="shop", model="gemini-2.5-flash", tools=[ShopToolset(), QuietToolset()])

"""A bridge between a server of tools and an agent of another house."""

from a2a.client import A2AClient, ClientConfig  # wrong: neighbour-import the class is gone in a2a 1
from a2a.server.events import EventQueue
from a2a.types import Message, Part, Role
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamablehttp_client  # wrong: neighbour-import the function is streamable_http_client
from mcp.types import CallToolResult, TextContent, Tool

config = ClientConfig(streaming=False)
parameters = StdioServerParameters("npx")  # wrong: neighbour-positional command must be named
adder = Tool(name="add", description="Adds numbers.")  # wrong: neighbour-argument input_schema is required


def failed() -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text")], is_error=True)  # wrong: neighbour-argument text is required


async def call(number: int) -> None:
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        session.call_tool("add", {"a": number})  # wrong: neighbour-await the statement calls nothing


async def say(queue: EventQueue, text: str) -> None:
    message = Message(message_id="one", role=Role.ROLE_AGENT, parts=[Part(text=text)])
    await queue.enqueue_event(message)
    print(A2AClient, streamablehttp_client, config)

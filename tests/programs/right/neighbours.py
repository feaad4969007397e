"""Right uses of google-genai, mcp and a2a that look strange."""

from a2a.types import AgentCard, AgentInterface, AgentSkill, Part
from google import genai
from google.genai import types
from google.genai.types import GenerateContentConfigDict
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, Tool

client = genai.Client(api_key="none", http_options={"timeout": 1000})
chat = client.chats.create(model="gemini-2.5-flash", config={"temperature": 0.2})
options: GenerateContentConfigDict = {"temperature": 0.1, "max_output_tokens": 20}
text = types.Part.from_text(text="one")
pieces = [types.Part.from_uri(file_uri="gs://a/b.txt"), types.Part("positional"), types.Part.from_bytes(data=b"", mime_type="a/b")]
schema = types.Schema(type="STRING", anyOf=[types.Schema(type=types.Type.STRING)])

parameters = StdioServerParameters(command="npx")
tool = Tool(name="add", inputSchema={"type": "object"})
also = Tool(name="add", input_schema={"type": "object"}, _meta={"a": 1})
result = CallToolResult(content=[TextContent(text="3", type="text")], isError=False, structuredContent={"sum": 3})
said = Part(text="hello", media_type="text/plain")
card = AgentCard(name="add", skills=[AgentSkill(id="add", name="Add", tags=["sums"])])
card.description = "Adds."
card.supported_interfaces.append(AgentInterface(url="http://localhost", protocol_binding="JSONRPC"))


async def ask(text: str) -> str:
    response = await client.aio.models.generate_content(model="gemini-2.5-flash", contents=text, config=options)
    async for chunk in await client.aio.models.generate_content_stream(model="gemini-2.5-flash", contents=[text]):
        print(chunk.text)
    return response.text or ""


async def list_tools() -> list[str]:
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        return [each.name for each in (await session.list_tools()).tools]

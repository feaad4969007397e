"""Declares functions and requests for a model."""

from google import genai
from google.genai import types
from google.genai.types import HarmBlockThreshold, SafetySettings  # wrong: neighbour-import the class is SafetySetting

client = genai.Client("secret")  # wrong: neighbour-positional the parameters are keyword-only

add = types.FunctionDeclaration(
    name="add",
    description="Adds numbers.",
    params={"type": "OBJECT"},  # wrong: neighbour-keyword the field is parameters
)
tools = [types.Tool(functions=[add])]  # wrong: neighbour-keyword the field is function_declarations
mode = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY"))
open_mind = types.SafetySetting(
    category=types.HarmCategory.HARM_CATEGORY_HARASSMENT,
    threshold=HarmBlockThreshold.BLOCK_ALL,  # wrong: neighbour-name the enumeration has no such member
)
again = types.HttpOptions(retry_options=types.HttpRetryOptions(attempts=3))


def told(text: str) -> list[types.Content]:
    answer = types.Part.from_function_response(name="add")  # wrong: neighbour-argument response is required
    return [types.UserContent(text), types.Content(role="user", parts=[answer])]


async def stream(text: str) -> None:
    async for chunk in await client.aio.models.generate_content_stream(model="gemini-2.5-flash", contents=text):
        print(chunk.text, SafetySettings, mode, open_mind, again)

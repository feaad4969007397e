"""Pydantic models that are filled by their names on the wire, by position or from dictionaries."""

from google.adk.apps import App
from google.adk.agents import LlmAgent
from google.adk.events import Event, EventActions
from google.adk.models import LlmResponse
from google.genai import types
from mcp import StdioServerParameters
from mcp.types import ImageContent, TextContent, Tool

config = types.GenerateContentConfig(
    maxOutputTokens=100,
    topP=0.9,
    safetySettings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    responseMimeType="application/json",
    system_instruction="Be short.",
)
event = Event(
    invocationId="i",
    author="user",
    content={"role": "user", "parts": [{"text": "hi", "thoughtSignature": b"x"}]},
    actions=EventActions(stateDelta={"a": 1}, skipSummarization=True),
    longRunningToolIds={"x"},
)
answer = LlmResponse(errorCode="429", errorMessage="later", turnComplete=True)
blob = types.Part(inlineData=types.Blob(mimeType="image/png", data=b""))
call = types.Part.from_function_call(name="f", args={})
tools = [
    Tool(name="a", inputSchema={"type": "object"}),
    Tool(name="b", input_schema={"type": "object"}),
]
contents = [TextContent(text="x"), TextContent(type="text", text="y"), ImageContent(data="", mimeType="image/png")]
server = StdioServerParameters(**{"command": "npx", "args": ["-y"]})
copied = event.model_copy(update={"author": "model"})
raw = types.Content.model_validate({"role": "user", "parts": [{"fileData": {"fileUri": "gs://x", "mimeType": "text/plain"}}]})
options = dict(name="wire", model="gemini-2.5-flash", generate_content_config=types.GenerateContentConfig(topK=5, maxOutputTokens=9))
app = App(name="wire", root_agent=LlmAgent(**options))
user = types.UserContent("hi")
model = types.ModelContent(parts=["a", "b"])
event.turn_complete = True
event.actions.state_delta["b"] = 2
assert event.invocation_id == "i" and answer.error_code == "429" and config.max_output_tokens == 100

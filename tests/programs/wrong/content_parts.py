"""Builds what a model is asked."""

from google import genai
from google.adk.agents import LlmAgent
from google.genai import types

client = genai.Client(api_key="none")

exact = types.GenerateContentConfig(temprature=0.1, max_output_tokens=200)  # wrong: neighbour-keyword temperature is misspelt
agent = LlmAgent(
    name="writer",
    model="gemini-2.5-flash",
    generate_content_config=types.GenerateContentConfig(
        top_p=0.9,
        max_tokens=500,  # wrong: neighbour-keyword the field is max_output_tokens
        thinking_config=types.ThinkingConfig(thinking_budget=0),
    ),
)


def question(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part.from_text(text)])  # wrong: neighbour-positional text is keyword-only


def picture(data: bytes) -> types.Part:
    return types.Part.from_bytes(data=data)  # wrong: neighbour-argument mime_type is required


def ask(text: str) -> str:
    response = client.models.generate_content("gemini-2.5-flash", text)  # wrong: neighbour-positional model and contents are keyword-only
    return response.text or ""


async def ask_later(text: str) -> str:
    response = client.aio.models.generate_content(model="gemini-2.5-flash", contents=text)  # wrong: neighbour-await a coroutine has no text
    return response.text or ""

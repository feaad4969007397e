"""An album in which agents keep pictures."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.artifacts import InMemoryArtifactService
from google.adk.tools import ToolContext
from google.genai import types

album = InMemoryArtifactService()
OWNER = {"app_name": "album", "user_id": "ada"}


async def add(name: str, tool_context) -> dict:
    """Adds a picture."""
    tool_context.save_artifact(name, types.Part(text=name))  # wrong: await-on-attribute a tool's context without an annotation
    return {"added": name}


async def newest(tool_context: ToolContext) -> str:
    """Tells the newest picture."""
    names = await tool_context.list_artifacts()
    assert tool_context.load_artifact(names[-1]), "no picture"  # wrong: await-in-condition a coroutine is always true
    return names[-1] if tool_context.get_artifact_version(names[-1]) else ""  # wrong: await-in-condition a coroutine is always true


def sizes() -> list[int]:
    return [
        len(name)
        for name in album.list_artifact_keys(app_name="album", user_id="ada")  # wrong: missing-await a coroutine cannot be iterated
    ]


async def clean() -> None:
    if await album.list_artifact_keys(**OWNER) or album.list_versions(app_name="album", user_id="ada", filename="a"):  # wrong: await-in-condition the second part is always true
        await album.delete_artifact(app_name="album", user_id="ada", filename="a")


async def closing(callback_context: CallbackContext) -> None:
    if callback_context.search_memory("pictures") == []:  # wrong: await-in-condition a coroutine equals no list
        print("no memory")


agent = LlmAgent(name="album", model="gemini-2.5-flash", tools=[add, newest], after_agent_callback=closing)

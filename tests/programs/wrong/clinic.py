"""The front office of a clinic: agents, an app and their services."""

from google.adk.agents import LiveRequestQueue, LlmAgent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.apps import App
from google.adk.artifacts import FileArtifactService, GcsArtifactService, InMemoryArtifactService
from google.adk.planners import BuiltInPlanner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.tools import LongRunningFunctionTool
from google.genai import types


def approve(visit: str) -> dict:
    """Asks a person to approve a visit."""
    return {"visit": visit, "state": "asked"}


laboratory = RemoteA2aAgent("laboratory", "http://localhost:9000/card.json", "Measures blood.")  # wrong: extra-argument description is keyword-only
office = LlmAgent(
    name="office",
    model="gemini-2.5-flash",
    planner=BuiltInPlanner(types.ThinkingConfig(thinking_budget=100)),  # wrong: extra-argument thinking_config is keyword-only
    tools=[LongRunningFunctionTool(approve, "approve")],  # wrong: extra-argument only the function is taken
    sub_agents=[laboratory],
)
clinic = App("clinic", office)  # wrong: extra-argument a pydantic model takes keywords only
recent = GetSessionConfig(num_recent_events=5)
queue = LiveRequestQueue()
files = GcsArtifactService("clinic-files", "visits")  # wrong: extra-argument one bucket is all that is positional
local = FileArtifactService()  # wrong: missing-argument root_dir is required


async def file_away(text: str) -> int:
    store = InMemoryArtifactService()
    return await store.save_artifact(
        app_name="clinic", user_id="ada", filename="visit.txt", artifact=types.Part(text=text)
    )

"""An agent that searches the papers of a library."""

from google.adk.agents import LlmAgent
from google.adk.tools import AgentTool, FunctionTool, VertexAiSearchTool

PAPERS = "projects/library/locations/global/collections/default_collection/dataStores/papers"


def reserve(title: str) -> str:
    """Reserves a book."""
    return f"{title} waits for you."


papers = LlmAgent(
    name="papers",
    model="gemini-2.5-flash",
    tools=[VertexAiSearchTool(PAPERS)],  # wrong: extra-argument data_store_id is keyword-only
)

librarian = LlmAgent(
    name="librarian",
    model="gemini-2.5-flash",
    instruction="Find papers, and reserve books.",
    tools=[
        AgentTool(papers, False, True),  # wrong: extra-argument include_plugins is keyword-only
        FunctionTool(reserve, True),  # wrong: extra-argument require_confirmation is keyword-only
    ],
)

archive = LlmAgent("archive", model="gemini-2.5-flash")  # wrong: extra-argument pydantic models take no positional arguments

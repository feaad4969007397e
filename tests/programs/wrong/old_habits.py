"""A program that moved from the first version to the second one, but not in every line."""

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import LlmResponse
from google.adk.plugins import ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner
from google.adk.telemetry import trace_tool_response  # wrong: unknown-import the function is gone
from google.adk.tools import ToolContext
from google.adk.workflow import Workflow

agent = LlmAgent(name="moved", model="gemini-2.5-flash")
app = App(
    name="moved",
    root_agent=agent,
    plugins=[ReflectAndRetryToolPlugin(retries=2)],  # wrong: unknown-keyword the parameter is max_retries
    events_compaction_config=EventsCompactionConfig(interval=5, overlap_size=1),  # wrong: unknown-keyword the field is compaction_interval
)
sets = LocalEvalSetsManager(agent_dir="agents")  # wrong: unknown-keyword the parameter is agents_dir
graph = Workflow(edges=[("START", agent)])  # wrong: missing-argument name is required
entry = MemoryEntry(author="ada")  # wrong: missing-argument content is required


async def read(tool_context: ToolContext) -> str:
    """Reads the newest file."""
    names = await tool_context.list_artifacts()
    return str(await tool_context.load_artifact(names[0]))


def text_of(event: Event, response: LlmResponse) -> str:
    return event.author + str(response.content) + str(trace_tool_response)


def start(text: str) -> object:
    return InMemoryRunner(app=app).run_debug(text)

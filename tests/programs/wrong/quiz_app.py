"""A quiz with misspelt keywords, and calls that lack arguments."""

from google.adk.agents import LlmAgent, RunConfig
from google.adk.apps import App, ResumabilityConfig
from google.adk.planners import BuiltInPlanner
from google.adk.plugins import LoggingPlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import google_search

asker = LlmAgent(
    name="asker",
    model="gemini-2.5-flash",
    instructions="Ask one question.",  # wrong: unknown-keyword the field is instruction
    tools=[google_search],
)
judge = LlmAgent(model="gemini-2.5-flash", output_key="verdict")  # wrong: missing-argument name is required
planner = BuiltInPlanner()  # wrong: missing-argument thinking_config is required
quiz = App(root_agent=asker, plugins=[LoggingPlugin()])  # wrong: missing-argument name is required
resumable = App(name="quiz", root_agent=asker, resumability_config=ResumabilityConfig(is_resumable=True))
runner = Runner(app=resumable)  # wrong: missing-argument session_service is required
config = RunConfig(max_llm_call=5)  # wrong: unknown-keyword the field is max_llm_calls


def blank(user: str) -> Session:
    return Session(id="blank", app_name="quiz", user_id=user)


good = Runner(app=resumable, session_service=InMemorySessionService())

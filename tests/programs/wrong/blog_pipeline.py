"""Writes a post in rounds: draft, review, polish."""

from google.adk.agents import LlmAgent, LoopAgent  # wrong: deprecated-name Workflow takes its place
from google.adk.apps import App
from google.adk.runners import Runner
from google.adk.tools import exit_loop

MODEL = "gemini-2.5-flash"

writer = LlmAgent(name="writer", model=MODEL, instruction="Write a draft about {topic}.", output_key="draft")
writer.max_retries = 2  # wrong: unknown-attribute no such field

reviewer = LlmAgent(
    name="reviewer",
    model=MODEL,
    instruction="Criticise {draft}. Call exit_loop when it is good.",
    tools=[exit_loop],
    output_schema=None,
    temperature=0.2,  # wrong: unknown-keyword it belongs to generate_content_config
)

rounds = LoopAgent(
    name="rounds",
    sub_agents=[writer, reviewer],
    max_iteration=3,  # wrong: unknown-keyword it is max_iterations
)

app = App(name="blog", root_agent=rounds)
runner = Runner(app=app)  # wrong: missing-argument session_service

"""An agent with tuned generation, and a workflow of two steps."""

from google import genai
from google.adk import Context
from google.adk.agents import LlmAgent
from google.adk.planners import BuiltInPlanner
from google.adk.workflow import START, RetryConfig, Workflow, node
from google.genai import types

client = genai.Client("not-a-key")  # wrong: foreign keywords only

root_agent = LlmAgent(
    name="tuned",
    model="gemini-2.5-pro",
    planner=BuiltInPlanner(thinking_config=types.ThinkingConfig(thinking_budget=512)),
    generate_content_config=types.GenerateContentConfig(
        temperature=0.1,
        max_tokens=256,  # wrong: foreign it is max_output_tokens
    ),
)


@node(name="fetch", retry_config=RetryConfig(max_retries=3))  # wrong: unknown-keyword dropped silently, it is max_attempts
async def fetch(ctx: Context, node_input: str) -> str:
    answer = ctx.run_node(root_agent, node_input)  # wrong: missing-await answer is a coroutine
    return str(answer)


flow = Workflow(name="flow", edges=[(START, fetch)])

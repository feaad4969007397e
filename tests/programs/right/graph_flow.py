"""A workflow of functions and agents."""

from typing import Any

from google.adk import Context, Event, Workflow
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.workflow import DEFAULT_ROUTE, START, FunctionNode, JoinNode, RetryConfig, node


def split(node_input: Any):
    yield Event(output=node_input, route="long" if len(str(node_input)) > 80 else "short")


@node
async def shorten(ctx: Context, node_input: str) -> str:
    return await ctx.run_node(summary, node_input)


@node(name="tell", rerun_on_resume=True)
def tell(node_input: str, ctx: Context):
    ctx.state["told"] = node_input
    ctx.route = "done"
    return node_input


def fallback(node_input: Any) -> str:
    return str(node_input)


summary = LlmAgent(name="summary", model="gemini-2.5-flash", mode="single_turn", timeout=20.0)
again = FunctionNode(func=fallback, name="again", retry_config=RetryConfig(max_attempts=2, backoff_factor=1.5))
join = JoinNode(name="join")
flow = Workflow(
    name="flow",
    edges=[
        (START, split),
        (split, {"long": shorten, DEFAULT_ROUTE: again}),
        (shorten, tell),
    ],
    max_concurrency=2,
)
app = App(name="graph", root_agent=flow, resumability_config=ResumabilityConfig(is_resumable=True))

"""Both ways of the graph, and the steps that were taken."""

from google.adk.runners import InMemoryRunner
from google.adk.workflow import Workflow
from tests.tasks.model import say


async def check(solution):
    workflow = solution.make_workflow()
    assert isinstance(workflow, Workflow) and workflow.name == "orders", "This is not the workflow."
    runner = InMemoryRunner(node=workflow, app_name="orders")
    for text, output, taken, not_taken in (
        ("lamp 3", "ship lamp for 15", "ship", "backorder"),
        ("desk 21", "backorder desk", "backorder", "ship"),
    ):
        events = await say(runner, text, session_id=text.replace(" ", "-"))
        outputs = [event.output for event in events if event.output is not None]
        assert outputs and outputs[-1] == output, f"{text} ends with {outputs[-1:]}."
        steps = {event.node_info.name for event in events}
        assert {"parse", "price", "stock", taken} <= steps, f"The steps of {text} are {sorted(steps)}."
        assert not_taken not in steps, f"{text} takes both ways."
    assert {"parse", "price", "stock", "ship", "backorder"} <= {node.name for node in workflow.graph.nodes}, (
        "A node is missing."
    )

"""A tool is called, then the reply in its form ends up in the state."""

import json

from google.adk.runners import InMemoryRunner
from tests.tasks.model import USER, ScriptedModel, answers, call, offered, say

INVOICE = {"number": "7", "total": 12.5, "lines": [{"text": "lamp", "amount": 12.5}]}


def reply(request):
    # Where tools are there too, some models reply through a tool of the framework.
    if "set_model_response" in offered(request):
        return call("set_model_response", **INVOICE)
    assert request.config.response_schema or request.config.response_json_schema, "The model is not held to a form."
    return json.dumps(INVOICE)


async def check(solution):
    model = ScriptedModel.of(call("exchange_rate", currency="USD"), reply)
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="invoices")
    await say(runner, "Read the invoice: lamp, 25 dollars")
    assert answers(model.requests[1])[0] == {"rate": 0.5}, "The function cannot be called."
    session = await runner.session_service.get_session(app_name="invoices", user_id=USER, session_id="first")
    assert session.state.get("invoice") == INVOICE, f"The state has {session.state.get('invoice')!r}."

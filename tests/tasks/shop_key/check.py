"""The client is asked for the key, and the tool runs again with it."""

from google.adk.auth import AuthConfig, AuthCredential, AuthCredentialTypes
from google.adk.runners import InMemoryRunner
from tests.tasks.model import ScriptedModel, answer, answers, call, calls, say


async def check(solution):
    model = ScriptedModel.of(call("list_orders"))
    runner = InMemoryRunner(agent=solution.make_agent(model), app_name="shop")
    events = await say(runner, "What did I order?")
    asked = calls(events, "adk_request_credential")
    assert len(asked) == 1, "The client is not asked for the key."
    wanted = AuthConfig.model_validate(asked[0].args.get("authConfig") or asked[0].args.get("auth_config"))
    assert (wanted.auth_scheme.type_.value, wanted.auth_scheme.in_.value, wanted.auth_scheme.name) == (
        "apiKey",
        "header",
        "X-Shop-Key",
    ), "The client is asked for something else."

    wanted.exchanged_auth_credential = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="k-42")
    await say(runner, answer(asked[0], wanted.model_dump(mode="json", by_alias=True, exclude_none=True)))
    assert {"orders": ["lamp"]} in answers(model.requests[-1]), "The tool did not get the key."
    assert all("k-42" not in str(request.contents) for request in model.requests), "The model sees the key."

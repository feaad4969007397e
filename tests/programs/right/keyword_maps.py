"""Arguments that come from dictionaries and tuples."""

from google.adk.agents import LlmAgent, RunConfig
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

SAMPLING = {"temperature": 0.2, "topK": 3}
LIMITS = {"max_llm_calls": 4}
CALLBACKS = {
    "before_model_callback": lambda callback_context, llm_request: None,
    "after_agent_callback": lambda **_: None,
}


def options(**more: object) -> dict:
    return {"app_name": "maps", "session_service": InMemorySessionService(), **more}


model_options = types.GenerateContentConfig(**SAMPLING, maxOutputTokens=50)
agent = LlmAgent(**{"name": "maps", "model": "gemini-2.5-flash"}, generate_content_config=model_options, **CALLBACKS)
runner = Runner(**options(agent=agent))
limits = RunConfig(**LIMITS)
parts = [types.Part(**{field: value}) for field, value in {"text": "one"}.items()]
first, *others = (types.UserContent(*[parts]), types.ModelContent("two"))
who = ("maps", "ada")


async def open_one(*identity: str) -> str:
    keys = dict(zip(("app_name", "user_id"), identity, strict=True))
    return (await runner.session_service.create_session(**keys)).id


async def run() -> None:
    print(await open_one(*who), first, others, limits)

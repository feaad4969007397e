"""A greenhouse whose code sets fields that nobody declared."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.apps import App
from google.adk.models import Gemini, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

gardener = LlmAgent(name="gardener", model=Gemini(model="gemini-2.5-flash"))
gardener.goal, gardener.description = "grow", "Grows plants."  # wrong: unknown-attribute LlmAgent has no goal
greenhouse = App(name="greenhouse", root_agent=gardener)
greenhouse.version = "2"  # wrong: unknown-attribute App has no version
request = types.GenerateContentConfig(temperature=0)
request.max_tokens = 200  # wrong: unknown-attribute the field is max_output_tokens
plants: list[str] = []
LlmAgent(name="weeder", model="gemini-2.5-flash").plants = plants  # wrong: unknown-attribute LlmAgent has no plants


def polite(callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
    if llm_response.partial:
        return None
    llm_response.text = "With pleasure."  # wrong: unknown-attribute a response has content
    callback_context.state["polite"] = True
    return llm_response


async def water(text: str) -> None:
    runner = InMemoryRunner(app=greenhouse)
    session = await runner.session_service.create_session(app_name="greenhouse", user_id="ada")
    session.title = text  # wrong: unknown-attribute Session has no title
    session.state = {"text": text}
    await runner.run_debug(text, session_id=session.id)


gardener.after_model_callback = polite

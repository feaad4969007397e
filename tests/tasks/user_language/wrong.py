"""Changes the state of a session that was fetched, which is a copy."""

from google.adk.agents import LlmAgent


def make_agent(model):
    return LlmAgent(
        name="support",
        model=model,
        instruction="Answer in {user:language}. You support {app:product}. The topic is: {topic?}.",
    )


async def switch_language(session_service, session, language):
    session.state["user:language"] = language

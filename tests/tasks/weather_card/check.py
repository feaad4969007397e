"""What the published card says."""

from google.adk.agents import LlmAgent
from starlette.testclient import TestClient
from tests.tasks.model import ScriptedModel


def forecast(city: str) -> dict:
    """Forecasts the weather of a city."""
    return {"city": city, "weather": "sun"}


async def check(solution):
    agent = LlmAgent(name="weather", model=ScriptedModel.of(), description="Knows the weather.", tools=[forecast])
    card = await solution.make_card(agent)
    with TestClient(solution.make_server(agent, card)) as client:
        published = client.get("/.well-known/agent-card.json").json()
    assert (published["name"], published["version"]) == ("weather", "2.1.0"), "The name or version is another one."
    assert published["description"] == "Knows the weather.", "The description is another one."
    assert published["documentationUrl"].rstrip("/") == "https://example.com/docs", "The documentation is elsewhere."
    assert "https://agents.example.com/weather" in str(published), "The address is missing."
    assert not published["capabilities"].get("streaming"), "The agent says that it streams."
    assert any(skill["name"] == "forecast" for skill in published["skills"]), "The tool is missing."

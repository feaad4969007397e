"""Models that take more fields than they declare, in several ways."""

from typing import Any

from google.adk.agents import LlmAgent, RunConfig
from google.adk.auth import AuthCredential, AuthCredentialTypes, OAuth2Auth
from google.adk.events import Event
from google.adk.sessions import Session
from pydantic import create_model, model_validator


class LooseAgent(LlmAgent, extra="allow"):
    """Takes any field."""


class LooseSession(Session):
    """Takes any field, too."""

    model_config = {"extra": "allow"}


class FriendlyAgent(LlmAgent):
    """Reads an older name of a field."""

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, data: Any) -> Any:
        if isinstance(data, dict) and "prompt" in data:
            data = {**data, "instruction": data["prompt"]}
            data.pop("prompt")
        return data


class MessageEvent(Event):
    """Has a message of its own."""

    message: str = ""
    mood: str | None = None


Timed = create_model("Timed", __base__=RunConfig, seconds=(int, 3))

agent = LooseAgent(name="loose", model="gemini-2.5-flash", colour="red")
agent.size = 3
session = LooseSession(id="one", app_name="open", user_id="ada", title="One")
session.pages = [session.title, agent.colour]
friendly = FriendlyAgent(name="friendly", model="gemini-2.5-flash", prompt="Be kind.")
event = MessageEvent(author="a", message="Hello", mood="good")
event.mood = event.message
credential = AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(clientId="a", tenant="b"), note="c")
credential.owner = "ada"
timed = Timed(seconds=5)
timed.seconds = 6

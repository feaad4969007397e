"""Models that take their fields in two cases, and more than their fields."""

from google.adk.events import Event, EventActions
from google.adk.sessions import Session
from google.genai import types

event = Event(author="model", invocationId="one", errorCode="NONE", turnComplete=True)
told = Event(author="model", message="Hello", state={"told": True}, route="next")
told.message = "Good morning"
actions = EventActions(skipSummarization=True, stateDelta={"a": 1}, transferToAgent="b")
session = Session(id="one", appName="camel", userId="ada", lastUpdateTime=1.0)

config = types.GenerateContentConfig(
    maxOutputTokens=100,
    topP=0.5,
    thinkingConfig=types.ThinkingConfig(thinkingBudget=0, includeThoughts=False),
    safetySettings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
)
blob = types.Blob(mimeType="text/plain", data=b"text")
part = types.Part("The first argument of Part may be positional.")
content = types.UserContent(["one", "two"])
call = types.Part(functionCall=types.FunctionCall(name="add", args={"a": 1}))
declared = types.FunctionDeclaration.model_validate({"name": "add", "parametersJsonSchema": {"type": "object"}})

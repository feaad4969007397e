"""Own classes with the names of the ADK, and names that are bound twice."""

from contextlib import asynccontextmanager

import google.adk.agents as ag
from google.adk import Runner as AdkRunner
from google.adk.sessions import InMemorySessionService
from google.genai import types


class Runner:
    def __init__(self, agent, *plugins, verbose=False):
        self.inner = AdkRunner(agent=agent, app_name="own", session_service=InMemorySessionService())
        self.verbose = verbose

    def run(self, text):
        return [text, *self.inner.run.__name__]


class Service:
    def create_session(self, app, user="u"):
        return {"app": app, "user": user}

    def list(self):
        return self.create_session("a")


class Agent(ag.LlmAgent):
    def __init__(self, name, prompt="", **rest):
        super().__init__(name=name, instruction=prompt, **rest)


def types_of(types):
    return [types.Part("x"), types.Content(text="y")]


class types_fake:
    class Part:
        def __init__(self, text):
            self.text = text

    class Content:
        def __init__(self, text=None):
            self.text = text


@asynccontextmanager
async def Session(name, **options):
    yield {"name": name, **options}


def main(event=None):
    LlmAgent = dict
    return LlmAgent(name="x", system="y")


runner = Runner(Agent("own", "Be short."), verbose=True)
agent = Agent("other", prompt="x", model="gemini-2.5-flash")
session = Service().create_session("own", "me")
assert session["user"] == "me" and Service().list()["app"] == "a"
assert types_of(types_fake)[0].text == "x" and main()["system"] == "y"
assert runner.run("x") and types.Part(text="z").text == "z"
for ag in [runner]:
    ag.anything = 1

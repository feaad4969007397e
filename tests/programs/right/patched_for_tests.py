"""Tests with replaced methods and expected failures."""

import types as python_types
import unittest
from unittest import mock

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import ToolContext, VertexAiSearchTool
from pydantic import ValidationError


class RunnerTest(unittest.TestCase):
    """Tests how a runner is made."""

    def setUp(self) -> None:
        self.runner = mock.Mock(spec=Runner)
        self.runner.close = mock.Mock(return_value="closed")
        self.context = mock.MagicMock(ToolContext)
        self.context.save_artifact = mock.Mock(side_effect=lambda name, part: name)

    def test_a_runner_takes_keywords_only(self) -> None:
        with self.assertRaises(TypeError):
            Runner(LlmAgent(name="a"), "app")
        self.assertRaises(TypeError, VertexAiSearchTool, "papers")

    def test_an_agent_has_no_colour(self) -> None:
        agent = LlmAgent(name="a")
        with self.assertRaisesRegex(ValueError, "colour"):
            agent.colour = "red"
        with self.assertRaises(ValidationError):
            LlmAgent(name="a", colour="red")

    def test_a_replaced_method_gives_plain_values(self) -> None:
        self.assertEqual(self.runner.close().upper(), "CLOSED")
        self.assertEqual(self.context.save_artifact("a", None)[0], "a")
        runner = InMemoryRunner(LlmAgent(name="a"))
        runner.run_debug = python_types.MethodType(lambda self, text: [text], runner)
        self.assertEqual(runner.run_debug("hi")[0], "hi")

    @mock.patch("google.adk.sessions.InMemorySessionService.get_session", new=lambda self, **keys: keys)
    def test_a_patched_class(self) -> None:
        found = InMemorySessionService().get_session(app_name="a", user_id="b", session_id="c")
        self.assertEqual(found["user_id"], "b")

    def test_an_event_that_stands_in(self) -> None:
        event = mock.create_autospec(Event, instance=True)
        event.is_final_response = True
        event.mood = "good"
        self.assertTrue(event.is_final_response and event.mood)


if __name__ == "__main__":
    unittest.main()

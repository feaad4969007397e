"""Skills are loaded, and only one of them brings a tool."""

import tempfile
from pathlib import Path

from google.adk.runners import InMemoryRunner
from tests.tasks.model import ScriptedModel, answers, call, offered, say

CURRENCY = """\
---
name: currency
description: Converts amounts of money.
metadata:
  adk_additional_tools:
    - convert
---
Multiply the amount by the rate, and name the SECRET-STEP.
"""
POETRY = """\
---
name: poetry
description: Writes poems.
---
Write four lines.
"""


async def check(solution):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("currency", CURRENCY), ("poetry", POETRY)):
            skill = Path(folder, name)
            skill.mkdir()
            (skill / "SKILL.md").write_text(text, encoding="utf-8")
        model = ScriptedModel.of(
            call("load_skill", skill_name="poetry"),
            call("load_skill", skill_name="currency"),
            call("convert", amount=10.0, rate=1.5),
        )
        runner = InMemoryRunner(agent=solution.make_agent(model, Path(folder)), app_name="skills")
        await say(runner, "Convert 10 dollars")

    assert "load_skill" in offered(model.requests[0]), "The model cannot load skills."
    has_tool = ["convert" in offered(request) for request in model.requests]
    assert has_tool == [False, False, True, True], f"The function is offered at the wrong time: {has_tool}."
    poetry, currency, converted = answers(model.requests[-1])
    assert "four lines" in str(poetry) and "SECRET-STEP" in str(currency), "A skill is not loaded."
    assert converted == {"converted": 15.0}, "The function does not answer."

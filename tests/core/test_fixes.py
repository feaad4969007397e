"""What mends code: each fix makes its own remark go away, leaves text that parses, and changes nothing else."""

from __future__ import annotations

import ast

import pytest

from adk_evidence.api.history import History
from adk_evidence.api.table import make_table
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.fixes import Fix, certain_edits, edited, fix_of
from adk_evidence.checks.remarks import all_remarks
from adk_evidence.documents.document import PythonDocument

NEW = {
    "google.adk": {"": "m"},
    "google.adk.agents": {
        "": "m",
        "Agent": "c: ~pydantic.BaseModel",
        "Agent.name": "r:",
        "Agent.output_key": "o:",
        "Agent.instruction": "o:",
        "Agent.ask": "a:question",
        "Agent.run_async": "a:context",
        "Agent.run_async.__yields__": "y",
    },
    "google.adk.models": {"": "m", "Gemini": "c:", "Gemma": "c:"},
    "google.adk.tools": {
        "": "m",
        "McpTool": "c:",
        "MCPTool": "c:google.adk.tools.McpTool",
        "MCPTool!": "google.adk.tools.McpTool|Use McpTool.",
        "OldTool": "c:google.adk.tools.McpTool",
        "OldTool.name": "v",
        "OldTool!": "google.adk.tools.McpTool|Use McpTool.",
    },
    "google.adk.plugins": {
        "": "m",
        "BasePlugin": "c:",
        "BasePlugin.before_tool": "a:*, tool, tool_args, tool_context",
        "BasePlugin.on_event": "a:event",
        "BasePlugin.on_chunk": "a:chunk, stream=",
        "BasePlugin.describe": "f:",
        "open_plugin": "f:name, folder, *, strict, depth=",
    },
}
OLD = {
    **NEW,
    "google.adk.llms": {"": "m", "Gemini": "c:", "Gemma": "c:", "Palm": "c:"},
    # Another class of the same name.
    "google.adk.models": {"": "m", "Gemma": "c:"},
}
CHECKER = DriftChecker(History(make_table("google-adk", {"1.0.0": OLD, "2.0.0": NEW})).each[-1])
IMPORTS = "from google.adk.agents import Agent\nfrom google.adk.plugins import BasePlugin, open_plugin\n"


def fixes(text: str) -> list[Fix | None]:
    """The fix of each remark. Of each, the mended text must lack the remark and nothing else."""
    document = PythonDocument(text)
    remarks = list(all_remarks(CHECKER, document))
    found = [fix_of(CHECKER, document, remark) for remark in remarks]
    for remark, fix in zip(remarks, found, strict=True):
        if fix is not None:
            mended = edited(document.lines, fix.edits)
            ast.parse(mended)
            left = sorted(one.text for one in all_remarks(CHECKER, PythonDocument(mended)))
            assert left == sorted(one.text for one in remarks if one is not remark)
    return found


def mended(code: str) -> str | None:
    """The code below the imports after the fix of its one remark; None where that has none."""
    (fix,) = fixes(IMPORTS + code)
    return edited((IMPORTS + code).split("\n"), fix.edits).removeprefix(IMPORTS) if fix else None


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("Agent()", "Agent(name=...)"),
        ("Agent(  # later\n)", "Agent(name=...  # later\n)"),
        ("Agent(instruction='é')", "Agent(instruction='é', name=...)"),
        ("Agent(instruction='a',)", "Agent(instruction='a', name=...,)"),
        (
            "Agent(\n    instruction='(',  # )\n)",
            "Agent(\n    instruction='(',  # )\n    name=...,\n)",
        ),
        ("Agent(\n    instruction=(1)  # one\n)", "Agent(\n    instruction=(1), name=...  # one\n)"),
        ("open_plugin(('p'))", "open_plugin(('p'), folder=..., strict=...)"),
        ("open_plugin('p', strict=True)", "open_plugin('p', strict=True, folder=...)"),
        ("open_plugin(x for x in y)", None),
    ],
)
def test_missing_arguments_are_added_behind_those_that_are_given(call: str, fixed: str | None) -> None:
    assert mended(call) == fixed


@pytest.mark.parametrize(
    ("code", "fixed"),
    [
        ("async def f(a: Agent):\n    a.ask(1)", "async def f(a: Agent):\n    await a.ask(1)"),
        ("async def f(a: Agent):\n    é = a.ask(1).text", "async def f(a: Agent):\n    é = (await a.ask(1)).text"),
        ("async def f(a: Agent):\n    return a.ask(1)[0]", "async def f(a: Agent):\n    return (await a.ask(1))[0]"),
        ("async def f(a: Agent):\n  x = a.ask(1)\n  x.y", "async def f(a: Agent):\n  x = await a.ask(1)\n  x.y"),
        ("async def f(a: Agent):\n  for x in a.ask(1): 1", "async def f(a: Agent):\n  for x in await a.ask(1): 1"),
        (
            "async def f(a: Agent):\n    for x in a.run_async(1): ...",
            "async def f(a: Agent):\n    async for x in a.run_async(1): ...",
        ),
        # Only who reads the code knows what else must change.
        ("def f(a: Agent):\n    a.ask(1)", None),
        ("async def f(a: Agent):\n    a.run_async(1)", None),
        ("async def f(a: Agent):\n    return (x.y for x in (1,) if a.ask(x).y)", None),
    ],
)  # fmt: skip
def test_what_is_asynchronous_is_awaited_inside_of_asynchronous_functions(code: str, fixed: str | None) -> None:
    assert mended(code) == fixed


def plugin(method: str, body: str = "return None") -> str:
    return f"class Mine(BasePlugin):\n    {method}:\n        {body}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (plugin("def on_event(self, event)"), plugin("async def on_event(self, event)")),
        (
            plugin("async def before_tool(self, tool: T, args: dict[str, Any], ctx=None) -> D", "return f(args, ctx)"),
            plugin(
                "async def before_tool(self, *, tool: T, tool_args: dict[str, Any], tool_context=None) -> D",
                "return f(tool_args, tool_context)",
            ),
        ),
        (
            plugin("def before_tool(self, tool_context, tool)", "print(tool.args, tool_context)"),
            plugin("async def before_tool(self, tool_context, tool, tool_args)", "print(tool.args, tool_context)"),
        ),
        (
            plugin("async def before_tool(self, args, ctx, tool, note='é')", "def g(): return f'{ctx}'"),
            plugin(
                "async def before_tool(self, *, tool, tool_args, tool_context, note='é')",
                "def g(): return f'{tool_context}'",
            ),
        ),
        (plugin("async def on_chunk(self)"), plugin("async def on_chunk(self, chunk, stream=None)")),
        (
            plugin(
                "async def before_tool(\n        self,\n        *,\n        tool: T,  # one\n"
                "        tool_args,\n    ) -> D"
            ),
            plugin(
                "async def before_tool(\n        self,\n        *,\n        tool: T,  # one\n        tool_args,\n"
                "        tool_context,\n    ) -> D"
            ),
        ),
        (plugin("def describe(self, short)"), plugin("def describe(self)")),
        (plugin("def before_tool(self, **given)"), plugin("async def before_tool(self, **given)")),
        (
            "class Mine(BasePlugin):\n    async def before_tool(self, args): return args\n",
            "class Mine(BasePlugin):\n"
            "    async def before_tool(self, *, tool, tool_args, tool_context): return tool_args\n",
        ),
        (plugin("async def describe(self, short)"), None),
        # The body needs what nobody gives, or has the name for something else.
        (plugin("def describe(self, short)", "return short"), None),
        (plugin("async def before_tool(self, args)", "tool_args = args\n        return tool_args"), None),
        (plugin("async def before_tool(self, args)", "return lambda args: args"), None),
        (plugin("async def before_tool(self, args)", "return lambda tool_args: args"), None),
        (plugin("async def before_tool(self, # all\n        args)"), None),
    ],
)
def test_an_override_gets_the_form_that_the_message_spells_out(before: str, after: str | None) -> None:
    assert mended(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from google.adk.llms import Gemini\nGemini()\n", "from google.adk.models import Gemini\nGemini()\n"),
        ("from google.adk.llms import Gemini as G\n", "from google.adk.models import Gemini as G\n"),
        # The other import stays where it is, and is wrong for itself.
        (
            "from google.adk.agents import Agent, Gemini\n",
            "from google.adk.models import Gemini\nfrom google.adk.agents import Agent\n",
        ),
        (
            "if x:\n    from google.adk.agents import (\n        Gemini,\n        Agent,  # own\n    )\n",
            "if x:\n    from google.adk.models import Gemini\n"
            "    from google.adk.agents import (\n        Agent,  # own\n    )\n",
        ),
        ("from google.adk.llms import Palm\n", None),
        ("if x: from google.adk.llms import Gemini\n", None),
    ],
)  # fmt: skip
def test_what_has_moved_is_imported_from_where_it_is(before: str, after: str | None) -> None:
    (fix,) = fixes(before)
    assert (edited(before.split("\n"), fix.edits) if fix else None) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from google.adk.tools import MCPTool\ntool: MCPTool = MCPTool()\n",
            "from google.adk.tools import McpTool\ntool: McpTool = McpTool()\n",
        ),
        ("from google.adk import tools\ntools.MCPTool()\n", "from google.adk import tools\ntools.McpTool()\n"),
        # It has more than its successor, or the successor's name is taken.
        ("from google.adk.tools import OldTool\n", None),
        ("from google.adk.tools import MCPTool\nMcpTool = 1\n", None),
    ],
)
def test_a_deprecated_other_name_of_a_class_gives_way_to_the_class(before: str, after: str | None) -> None:
    (fix,) = fixes(before)
    assert (edited(before.split("\n"), fix.edits) if fix else None) == after


@pytest.mark.parametrize(
    ("method", "certain"),
    [
        (plugin("def on_event(self, event)"), True),
        (plugin("async def before_tool(self, *, tool, args, ctx)", "return args"), True),
        # What these mean is a guess, or somebody calls them as they are.
        (plugin("async def on_chunk(self)"), False),
        (plugin("def describe(self, short)"), False),
        (plugin("async def before_tool(self, args)", "return args"), False),
        (plugin("async def before_tool(self, *, tool, ctx, args)", "return args"), False),
        (plugin("def on_event(self, event)") + "Mine().on_event(1)\n", False),
    ],
)
def test_an_override_is_mended_without_a_look_only_where_its_parameters_are_sure(method: str, certain: bool) -> None:
    (fix,) = fixes(IMPORTS + method)
    assert fix is not None and fix.certain is certain


def test_a_method_that_is_tested_is_called_where_it_needs_no_argument() -> None:
    assert mended("plugin = BasePlugin()\nif plugin.describe and x:\n    pass\n") == (
        "plugin = BasePlugin()\nif plugin.describe() and x:\n    pass\n"
    )
    assert mended("plugin = BasePlugin()\nif plugin.on_event and x:\n    pass\n") is None


def test_what_is_certain_is_mended_at_once_and_the_rest_stays() -> None:
    text = (
        "from google.adk.agents import Agent\nfrom google.adk.llms import Gemini\n"
        "from google.adk.llms import Gemma\nfrom google.adk.agents import Gemini as Other\n"
        "agent = Agent(name='a', outputKey='k', instructions='i')\n"
        "async def f():\n    agent.ask(1)\n    agent.ask(agent.ask(2).text).text\n    Agent()\n"
    )
    document = PythonDocument(text)
    edits = certain_edits(CHECKER, document, list(all_remarks(CHECKER, document)))
    done = edited(document.lines, edits)
    assert done == (
        # An earlier version had another thing there, or nothing.
        "from google.adk.agents import Agent\nfrom google.adk.models import Gemini\n"
        "from google.adk.llms import Gemma\nfrom google.adk.agents import Gemini as Other\n"
        "agent = Agent(name='a', output_key='k', instructions='i')\n"
        "async def f():\n    await agent.ask(1)\n    (await agent.ask((await agent.ask(2)).text)).text\n    Agent()\n"
    )
    again = PythonDocument(done)
    twice = PythonDocument(f"{IMPORTS}Agent(name='a', outputKey='k', OutputKey='l')\n")
    assert certain_edits(CHECKER, twice, list(all_remarks(CHECKER, twice))) == []
    left = list(all_remarks(CHECKER, again))
    assert {one.kind for one in left} == {"import", "keyword", "argument"}
    assert certain_edits(CHECKER, again, left) == []


def test_a_text_that_is_broken_elsewhere_is_mended_too() -> None:
    text = IMPORTS + "agent = Agent(\n    outputKey='é')\nif True\n    pass\n"
    document = PythonDocument(text)
    found = {one.kind: fix_of(CHECKER, document, one) for one in all_remarks(CHECKER, document)}
    assert found["keyword"] is not None and "output_key='é'" in edited(document.lines, found["keyword"].edits)
    assert found["argument"] is not None and "outputKey='é', name=...)" in edited(
        document.lines, found["argument"].edits
    )

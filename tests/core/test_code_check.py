"""What is said of a piece of code: names, calls, overrides, and what was checked at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.api.history import History
from adk_evidence.api.parameters import Keywords
from adk_evidence.api.table import make_table
from adk_evidence.checks.code import MAX_PROBLEMS, check_code
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.documents.document import MAX_READ_CHARS, split_document
from adk_evidence.models.code import CodeCheck

TABLE = {
    "google.adk": {"": "m"},
    "google.adk.agents": {
        "": "m",
        "Agent": "c: ~pydantic.BaseModel",
        "Agent.name": "r:",
        "Agent.model": "o:",
        "Agent.instruction": "o:",
        "Agent.clone": "f:update=",
        "Agent.run_async": "a:context, /, timeout=",
        "Session": "ck: ~pydantic.BaseModel",
        "Session.app_name": "r:",
        "OldAgent": "c: google.adk.agents.Agent",
        "OldAgent!": "google.adk.agents.Agent|Use Agent.",
    },
    "google.adk.plugins": {
        "": "m",
        "BasePlugin": "c:",
        "BasePlugin.__init__": "f:name",
        "BasePlugin.before_model": "a:*, context, request",
        "BasePlugin.on_event": "a:event",
        "BasePlugin.is_ready": "f:",
        "BasePlugin.agent": "p",
        "BasePlugin.agent.__type__": "google.adk.agents.Agent",
        "BasePlugin.on_chunk": "a:chunk, stream=",
        "BasePlugin.describe": "f:",
        "BasePlugin.configure": "f:**settings",
        "open_plugin": "f:name, folder, *, strict, depth=",
    },
}
CHECKER = DriftChecker(History(make_table("google-adk", {"1.0.0": TABLE, "2.0.0": TABLE})).each[1])
RELEASED = DriftChecker(next(api for api in History.load().each if api.version == "2.13.0"))
IMPORTS = "from google.adk.agents import Agent, Session\nfrom google.adk.plugins import BasePlugin, open_plugin\n"


def check(code: str) -> CodeCheck:
    return check_code(CHECKER, IMPORTS + code)


def told(code: str) -> list[tuple[str, int, str]]:
    """The kind, the line below the imports and the sentence of each problem."""
    return [(one.kind, one.line - 2, one.text) for one in check(code).problems]


def kinds(code: str) -> list[str]:
    return [one.kind for one in check(code).problems]


def test_names_that_the_version_lacks_are_told_with_what_it_has() -> None:
    assert told("Agent(name='a', instructions='x')\nAgent(name='a').cloned()\n") == [
        (
            "keyword",
            1,
            "google-adk 2.0.0 has no `Agent(instructions=)`: no version has it. The nearest keyword is `instruction`.",
        ),
        ("name", 2, "google-adk 2.0.0 has no `Agent.cloned`: no version has it. `Agent` has `clone`."),
    ]


def test_what_is_like_nothing_comes_with_all_that_there_is_once() -> None:
    first, second = told("Agent(name='a', temperature=1)\nAgent(name='a', top_p=1)\n")
    assert first[2].endswith("`Agent` takes name, instruction, model.")
    assert second[2].endswith("no version has it.")
    ((_, _, member),) = told("Agent(name='a').stop()\n")
    assert member.endswith("`Agent` has instruction, clone, model, run_async, name.")


def _lacks(path: str, names: str) -> str:
    return f"`{path}` of google-adk 2.0.0 requires {names}, which the call lacks."


@pytest.mark.parametrize(
    ("call", "lacking"),
    [
        ("Agent(model='m')", _lacks("Agent", "`name`")),
        (
            "open_plugin()",
            _lacks("open_plugin", "`folder`, `name` and `strict`"),
        ),
        ("open_plugin('p', strict=True)", _lacks("open_plugin", "`folder`")),
        ("open_plugin('p', 'here')", _lacks("open_plugin", "`strict`")),
        ("open_plugin('p', 'here', strict=False)", None),
        ("open_plugin(*given)", None),
        ("open_plugin(**given)", None),
        ("BasePlugin('p')", None),
        ("BasePlugin()", _lacks("BasePlugin", "`name`")),
        # Called with the object itself.
        ("Agent.run_async(agent, context)", None),
        ("Session()", _lacks("Session", "`app_name`")),
        ("Session(app_name='a')", None),
        ("Session(appName='a')", None),
    ],
)
def test_a_call_that_lacks_an_argument_is_told(call: str, lacking: str | None) -> None:
    assert [text for kind, _, text in told(f"x = {call}\n") if kind == "argument"] == ([lacking] if lacking else [])


@pytest.mark.parametrize(
    "code",
    [
        "with pytest.raises(TypeError):\n    Agent()\n",
        "try:\n    Agent()\nexcept TypeError:\n    log()\n",
        "try:\n    Agent()\nexcept Exception:\n    pass\n",
        "with suppress(Exception):\n    Agent()\n",
        "if Version(adk.__version__) < Version('1'):\n    Agent(flow='auto')\nelse:\n    Agent()\n",
        "if 'flow' in Agent.model_fields:\n    Agent(name='a', flow='auto')\n",
        "agent = Agent(name='a')\nif getattr(agent, 'flow', None):\n    agent.flow()\n",
        "plugin = BasePlugin(name='p')\nplugin.extra = 1\nprint(plugin.extra)\n",
        "monkeypatch.setattr(Agent, 'extra', 1)\nAgent.extra\n",
        "Agent.mro()\nBasePlugin.register(int)\n",
        "agent = Agent(name='a')\ndef use(other):\n    global agent\n    agent = other\ndef tell():\n    agent.own()\n",
        # Methods that another thing may change.
        "class Mine(Adapter, BasePlugin):\n    def on_event(self): ...\n",
        "class Mine(BasePlugin, metaclass=Meta):\n    def on_event(self): ...\n",
        "@adapted\nclass Mine(BasePlugin):\n    def on_event(self): ...\n",
        "class Mine(BasePlugin):\n    def on_event(self): ...\n    on_event = adapt(on_event)\n",
        "class Mine(BasePlugin):\n    @no_override\n    def on_event(self): ...\n",
        "class Mine(BasePlugin):\n    class Inner:\n        def on_event(self): ...\n",
    ],
)
def test_what_may_be_right_is_left_out(code: str) -> None:
    assert kinds(code) == []


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("Agent('a')", "`Agent` of google-adk 2.0.0 takes no positional arguments, and the call gives 1."),
        (
            "BasePlugin('p', 1)",
            "`BasePlugin` of google-adk 2.0.0 takes at most 1 positional argument, and the call gives 2.",
        ),
        ("Agent(name='a').clone({}, 1)", "takes at most 1 positional argument, and the call gives 2."),
        ("open_plugin('p', 'here', name='q', strict=True)", "gets `name` twice: by its place and by its name."),
        ("open_plugin('p', 'here', 2, strict=True)", "takes at most 2 positional arguments, and the call gives 3."),
        ("Agent(...)", None),
        ("Agent(*given)", None),
        ("Agent.clone(agent, {})", None),
    ],
)
def test_a_call_that_gives_too_many_arguments_is_told(call: str, problem: str | None) -> None:
    found = told(f"x = {call}\n")
    assert [kind for kind, _, _ in found] == (["extra"] if problem else [])
    assert problem is None or found[0][2].endswith(problem)


def test_a_constructor_gives_its_base_no_more_than_it_takes() -> None:
    made = "class Mine({}):\n    def __init__(self):\n        super().__init__('p', 'here')\n"
    assert told(made.format("BasePlugin"))[0][:2] == ("extra", 3)
    assert kinds(made.format("BasePlugin, Other")) == []


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("agent = Agent(name='a')\nagent.extra = 1\n", 2),
        ("Agent(name='a').modle = 1\n", 1),
        ("def use(agent: Agent | None):\n    agent.extra += 1\n", 2),
        ("agent = Agent(name='a')\nagent.model = 'm'\nagent._own = 1\n", None),
        ("class Mine(Agent):\n    extra: int = 0\ndef use(agent: Agent):\n    agent.extra = 1\n", None),
        ("Agent.extra = 1\n", None),
        ("agent = Agent(name='a')\nif hasattr(agent, 'extra'):\n    agent.extra = 1\n", None),
        ("try:\n    Agent(name='a').extra = 1\nexcept ValueError:\n    pass\n", None),
        ("with suppress(ValueError):\n    Agent(name='a').extra = 1\n", None),
        # A derived class may have more.
        ("def use(plugin: BasePlugin):\n    plugin.agent.extra = 1\n", None),
    ],
)
def test_an_attribute_that_a_model_cannot_be_given_is_told(code: str, line: int | None) -> None:
    assert [(kind, at) for kind, at, _ in told(code)] == ([("name", line)] if line else [])


@pytest.mark.parametrize(
    "use",
    [
        "if plugin.is_ready and x:\n    pass\n",
        "while not plugin.is_ready:\n    pass\n",
        "assert plugin.is_ready\n",
        "x = 1 if plugin.is_ready else 2\n",
        "x = [y for y in z if plugin.is_ready]\n",
        "x = plugin.is_ready is True\n",
        "x = not plugin.is_ready\n",
    ],
)
def test_a_method_that_is_tested_and_not_called_is_told(use: str) -> None:
    ((kind, line, text),) = told(f"plugin = BasePlugin(name='p')\n{use}")
    assert (kind, line) == ("method", 2)
    assert text == "`BasePlugin.is_ready` of google-adk 2.0.0 is a method, which is always true: call it."


@pytest.mark.parametrize(
    "use",
    [
        "if plugin.is_ready():\n    pass\n",
        "if BasePlugin.is_ready:\n    pass\n",
        "x = plugin.is_ready or y\n",
        "x = plugin.is_ready == other\n",
        "if plugin.agent:\n    pass\n",
        "plugin.is_ready = True\nif plugin.is_ready:\n    pass\n",
        "if hasattr(plugin, 'is_ready') and plugin.is_ready:\n    pass\n",
    ],
)
def test_a_method_that_may_be_meant_as_a_value_is_not_told(use: str) -> None:
    assert kinds(f"plugin = BasePlugin(name='p')\n{use}") == []


def calls_back(callback: str, name: str = "before_model_callback", version: str = "2.13.0") -> list[tuple[str, int]]:
    """What is told of an agent with a callback: the kinds, and the lines from that of the agent on."""
    code = f"from google.adk.agents import LlmAgent\n{callback}\nLlmAgent(name='a', {name}=f)\n"
    checker = DriftChecker(next(api for api in History.load().each if api.version == version))
    found = check_code(checker, code).problems
    return [(one.kind, one.line - code.count("\n")) for one in found]


@pytest.mark.parametrize(
    ("callback", "name"),
    [
        ("def f(callback_context): ...", "before_model_callback"),
        ("def f(callback_context, llm_request, more): ...", "before_model_callback"),
        ("async def f(*, context, llm_request): ...", "before_model_callback"),
        ("def f(): ...", "before_agent_callback"),
        ("def f(tool, args, tool_context): ...", "after_tool_callback"),
        ("def f(callback_context, llm_request): ...", "on_model_error_callback"),
    ],
)
def test_a_callback_that_an_agent_cannot_call_is_told(callback: str, name: str) -> None:
    assert calls_back(callback, name) == [("callback", 0)]


@pytest.mark.parametrize(
    "callback",
    [
        "def f(callback_context, llm_request): ...",
        "async def f(*, llm_request, callback_context, more=None): ...",
        "def f(**given): ...",
        "def f(*given): ...",
        "@wrapped\ndef f(): ...",
        "def f(): ...\nf = wrapped(f)",
        "f = partial(print, 1)",
        "f = None",
    ],
)
def test_a_callback_that_an_agent_can_call_is_not_told(callback: str) -> None:
    assert calls_back(callback) == []


def test_a_callback_is_told_wherever_it_stands() -> None:
    made = (
        "class Guard:\n    def check(self, context): ...\n    def fits(self, context, request): ...\nguard = Guard()\n"
    )
    listed = "\nLlmAgent(name='b', before_model_callback=[guard.check, guard.fits, lambda context: None])\nf = None"
    assert calls_back(made + listed) == [("callback", -2), ("callback", -2)]


def test_callbacks_are_called_by_position_in_later_versions_alone() -> None:
    callback = "def f(context, request): ..."
    assert calls_back(callback, version="2.9.0") == []
    assert calls_back(callback, version="2.8.0") == [("callback", 0)]
    # The field came in with 1.19.0.
    assert calls_back("def f(): ...", "on_model_error_callback", "1.18.0") == [("keyword", 0)]


def test_calls_whose_failure_is_told_are_not_left_out() -> None:
    assert kinds("try:\n    Agent()\nexcept Exception as error:\n    print(error)\n") == ["argument"]


def plugin(method: str, body: str = "return None") -> str:
    return f"class Mine(BasePlugin):\n    {method}:\n        {body}\n"


FORM = "write `async def before_model(self, *, context, request)`."


@pytest.mark.parametrize(
    "method",
    [
        "async def before_model(self, *, context, request)",
        "async def before_model(self, context, request, note=None)",
        "async def before_model(self, **given)",
        "async def before_model(self, *, request, **rest)",
        # Called by position, so that the name is free.
        "async def on_event(self, what)",
        "async def on_event(self, *args)",
        # The framework may give by name what may be given so.
        "async def on_chunk(self, chunk, **rest)",
        "def describe(self, short=False)",
        "def configure(self, **given)",
        # No method of the base class, or a private one.
        "def own(self, anything)",
        "def _before_model(self)",
        # What decorators do with a method is not known.
        "@wrapped\n    def before_model(self)",
    ],
)
def test_a_method_that_fits_is_not_told(method: str) -> None:
    assert kinds(plugin(method)) == []


@pytest.mark.parametrize(
    ("method", "form"),
    [
        ("async def before_model(self, ctx, req)", FORM),
        ("async def before_model(self, *, context)", FORM),
        ("async def before_model(self, *, context, request, more)", FORM),
        ("def before_model(self, *, context, request)", FORM),
        ("@override\n    def before_model(self, *, context, request)", FORM),
        ("async def on_event(self)", "write `async def on_event(self, event)`."),
        ("async def on_chunk(self, chunk)", "write `async def on_chunk(self, chunk, stream=None)`."),
        ("def describe(self, short)", "write `def describe(self)`."),
    ],
)
def test_a_method_that_does_not_fit_is_told_with_the_form_that_fits(method: str, form: str) -> None:
    ((kind, _, text),) = told(plugin(method))
    name = form.partition("def ")[2].partition("(")[0]
    assert kind == "override"
    assert text == f"`Mine.{name}` does not fit `BasePlugin.{name}` of google-adk 2.0.0, which it overrides: {form}"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return super().on_event(event)", []),
        ("return self.first(event) if event else self.last()", []),
        ("return self._futures[0]", []),
        ("raise NotImplementedError", []),
        ("return {'a': 1}", ["override"]),
        ("print(event)", ["override"]),
        ("yield event", ["override"]),
    ],
)
def test_a_method_may_give_something_to_await_without_being_asynchronous(body: str, found: list[str]) -> None:
    assert kinds(plugin("def on_event(self, event)", body)) == found


def test_an_argument_whose_name_is_misspelt_is_not_missing_too() -> None:
    assert kinds("Agent(nme='a')\n") == ["keyword"]
    # Whoever leaves out the remark does not call the keyword a slip of the pen.
    assert kinds("Agent(nme='a')  # adk: ignore[unknown-keyword]\n") == ["argument"]
    found = {one.kind: one.text for one in check("open_plugin(nme='p', strict=True)\n").problems}
    assert "The nearest keyword is `name`." in found["keyword"]
    assert found["argument"] == _lacks("open_plugin", "`folder`")


def test_a_missing_await_and_a_deprecated_name_are_told() -> None:
    found = check("from google.adk.agents import OldAgent\nagent = Agent(name='a')\nagent.run_async(None)\n")
    assert [(one.kind, one.line, one.instead) for one in found.problems] == [
        ("deprecated", 3, "google.adk.agents.Agent"),
        ("await", 5, None),
    ]
    assert all(one.text for one in found.problems)
    # Code with a deprecated name still works.
    assert found.errors == 1


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# adk: ignore[unknown-keyword]", ["argument"]),
        ("# type: ignore # adk: ignore[unknown-keyword, missing-argument]", []),
        ("#adk:ignore", []),
        ("# adk: ignore[unknown-keyword", ["argument", "keyword"]),
        ("# adk: ignored", ["argument", "keyword"]),
        ("# adk: ignore[]", ["argument", "keyword"]),
    ],
)
def test_a_comment_leaves_out_what_its_line_has_and_the_summary_says_so(comment: str, left: list[str]) -> None:
    found = check(f"Agent(instructions='x')  {comment}\nAgent(\n    temperature=1,\n)\n")
    assert sorted(one.kind for one in found.problems if one.line == 3) == left
    assert sorted(one.kind for one in found.problems if one.line > 3) == ["argument", "keyword"]
    told = f"Comments in the code leave out problems: {2 - len(left)}. The rest fits"
    assert found.summary.startswith(told if len(left) < 2 else "The rest fits")
    assert check_code(CHECKER, "from google.adk import Nothing  # adk: ignore\n").summary == (
        "Comments in the code leave out problems: 1. Nothing else of google-adk in the code can be checked."
    )


def test_what_was_checked_is_named() -> None:
    found = check("agent = Agent(name='a', model='m')\nclass Mine(BasePlugin):\n    async def on_event(self, e): ...\n")
    assert found.problems == ()
    assert found.summary == (
        "No problem was found: the code fits google-adk 2.0.0 as far as can be told without running it. "
        "Checked: Agent(model, name), Session, BasePlugin, BasePlugin.on_event, open_plugin."
    )
    assert check_code(CHECKER, "print(1)\n").summary.startswith("The code names nothing of google-adk")


def test_code_that_does_not_parse_is_checked_around_what_is_broken() -> None:
    found = check("agent = Agent(instruct='x', name='a')\nif True\n    pass\n")
    assert [(one.kind, one.line) for one in found.problems] == [("keyword", 3), ("unread", 4)]
    assert found.problems[1].text.endswith("which checks the code, cannot read it: expected ':'.")
    assert found.errors == 1 and found.summary.startswith("The rest of what could be read fits")


def test_the_blocks_of_a_text_are_read_as_one_module_and_may_be_shortened() -> None:
    page = (
        "Import it:\n```python\nfrom google.adk.agents import Agent\n```\nand use it:\n\n    no code\n\n"
        "```py\nAgent(x=1, ...)\n```\n```python\nif so:\n```\n"
    )
    assert [(one.kind, one.line) for one in check_code(CHECKER, page, "md").problems] == [("keyword", 10)]
    assert check_code(CHECKER, "No code at all.", "md").problems == ()
    shortened = (
        "```python\nfrom google.adk.agents import Agent\nagent = Agent(\n    # ... as before\n    model='m',\n)\n```\n"
    )
    assert check_code(CHECKER, shortened, "md").problems == ()
    whole = shortened.replace("    # ... as before\n", "")
    assert [one.kind for one in check_code(CHECKER, whole, "md").problems] == ["argument"]


def test_a_mark_at_the_beginning_and_strange_characters_are_read() -> None:
    marked = "\ufeff" + IMPORTS + "Agent(name='a')\n"
    assert check_code(CHECKER, marked).problems == ()
    for strange, why in (("x = '\0'\n", "null bytes"), ("x = '\ud800'\n", "half of a character")):
        (problem,) = check_code(CHECKER, strange).problems
        assert problem.line == 1 and why in problem.text
    nested = check_code(CHECKER, "x = " + "(" * 5000 + ")" * 5000)
    assert [one.kind for one in nested.problems] == ["unread"]
    (problem,) = check_code(CHECKER, "x = 1\n" * MAX_READ_CHARS).problems
    assert problem.kind == "unread" and "was not read" in problem.text


def test_more_problems_than_anybody_reads_are_cut_and_said_to_be() -> None:
    many = "".join(f"Agent(name='a').wrong_{number}()\n" for number in range(150))
    found = check(many)
    assert len(found.problems) == 100 and found.summary.startswith("Only the first problems are told.")
    often = check("Agent(name='a', nme=1)\n" * (MAX_PROBLEMS + 1))
    assert len(often.problems) == MAX_PROBLEMS and often.summary.startswith("Only the first problems are told.")


@given(
    st.text(alphabet=st.sampled_from("Agent(name=')\n: *,[]{}def class@.\\\t#é\0\ufeff\ud800\r\f\u2028"), max_size=200)
)
def test_no_text_makes_the_check_fail(text: str) -> None:
    found = check(text)
    assert all(1 <= one.line <= len(split_document(IMPORTS + text)) for one in found.problems)
    assert check(text) == found


def test_the_released_table_knows_what_the_plugins_of_the_adk_are_called_with() -> None:
    code = (
        "from google.adk.plugins import BasePlugin\n"
        "class Mine(BasePlugin):\n"
        "    async def before_tool_callback(self, tool, args, context): ...\n"
    )
    (problem,) = check_code(RELEASED, code).problems
    assert "async def before_tool_callback(self, *, tool, tool_args, tool_context)" in problem.text


def test_the_released_table_knows_which_functions_give_events_one_by_one() -> None:
    code = (
        "from google.adk.runners import Runner\nfrom google.adk.tools import BaseTool\n"
        "async def ask(runner: Runner, tool: BaseTool):\n"
        "    for event in runner.run_async(user_id='u', session_id='s'):\n        print(event)\n"
        "    tool.run_async(args={}, tool_context=None).get('a')\n"
    )
    each, once = check_code(RELEASED, code).problems
    assert each.text.endswith("`Runner.run_async` as an asynchronous generator: the code lacks `async for`.")
    assert once.text.endswith("`BaseTool.run_async` as an asynchronous function: the code lacks `await`.")


PROGRAMS = sorted((Path(__file__).parents[1] / "tasks").glob("*/*.py"))


@pytest.mark.parametrize(
    "program", [one for one in PROGRAMS if one.name == "reference.py"], ids=lambda one: one.parent.name
)
def test_nothing_is_told_of_programs_that_work(program: Path) -> None:
    found = check_code(RELEASED, program.read_text(encoding="utf-8"))
    assert found.problems == () and found.confirmed


def test_most_programs_with_invented_names_are_told_so() -> None:
    wrong = [one for one in PROGRAMS if one.name == "wrong.py"]
    told = {one.parent.name for one in wrong if check_code(RELEASED, one.read_text(encoding="utf-8")).errors}
    # The others use what is there in a way that does something else.
    assert told == {
        *("front_desk", "live_typing", "long_chats", "notes_server", "order_graph", "report_files", "run_audit"),
        *("shop_key", "sum_executor", "trip_planner", "weather_card", "helpdesk_guards"),
    }


def test_a_field_that_a_class_takes_in_two_cases_is_named_once() -> None:
    takes = Keywords(frozenset({"state_delta", "stateDelta", "author", "maxItems"}))
    assert takes.shown == ["author", "maxItems", "state_delta"]

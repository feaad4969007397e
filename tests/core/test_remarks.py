"""What an open document names and the version of its project lacks, and what is near it."""

from __future__ import annotations

import time

import pytest

from adk_evidence.api.history import History
from adk_evidence.api.table import make_table
from adk_evidence.checks.calls import Remark
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.remarks import remark_at, remarks_on, renamed
from adk_evidence.documents.document import PythonDocument

OLD = {
    "google.adk": {"": "m"},
    "google.adk.agents": {"": "m", "LlmAgent": "=google.adk.agents.llm_agent.LlmAgent", "Flow": "c:"},
    "google.adk.agents.llm_agent": {
        "": "m",
        "BaseAgent": "c: ~pydantic.BaseModel",
        "BaseAgent.name": "r:",
        "BaseAgent.sub_agents": "o:",
        "BaseAgent.run_async": "a:context, user_id=",
        "LlmAgent": "c: google.adk.agents.llm_agent.BaseAgent",
        "LlmAgent.model": "o:",
        "LlmAgent.instruction": "o:",
        "LlmAgent.flow": "o:",
        "LlmAgent.output_key": "o:",
        "open_agent": "f:name, **settings",
    },
}
NEW = {
    **OLD,
    "google.adk.agents": {"": "m", "LlmAgent": "=google.adk.agents.llm_agent.LlmAgent"},
    "google.adk.agents.llm_agent": {
        **{name: kind for name, kind in OLD["google.adk.agents.llm_agent"].items() if name != "LlmAgent.flow"},
        "LlmAgent.mode": "o:",
    },
}
NEWER = {**NEW, "google.adk.agents.llm_agent": {**NEW["google.adk.agents.llm_agent"], "LlmAgent.output_keyed": "o:"}}
HISTORY = History(make_table("google-adk", {"1.0.0": OLD, "2.0.0": NEW, "3.0.0": NEWER}))
CHECKERS = {api.version: DriftChecker(api) for api in HISTORY.each}
IMPORT = "from google.adk.agents import LlmAgent\n"


def remarks(text: str, version: str = "2.0.0") -> list[Remark]:
    return list(remarks_on(CHECKERS[version], PythonDocument(text)))


def told(text: str, version: str = "2.0.0") -> list[tuple[str, str | None]]:
    """The text that each remark stands on, and what the remark would put in its place."""
    lines = text.split("\n")
    return [(lines[one.line][one.start : one.end], one.replacement) for one in remarks(text, version)]


def test_a_wrong_keyword_is_told_with_the_nearest_one_and_its_definition() -> None:
    (remark,) = remarks(f"{IMPORT}agent = LlmAgent(name='ä', instructions='x')\n")
    assert remark.text == (
        "google-adk 2.0.0 has no `LlmAgent(instructions=)`: no version has it. The nearest keyword is `instruction`."
    )
    assert (remark.kind, remark.replacement, remark.cited) == (
        "keyword", "instruction", "google.adk.agents.LlmAgent.instruction",
    )  # fmt: skip


def test_keywords_of_methods_and_inherited_fields_count() -> None:
    text = f"{IMPORT}async def f(other: LlmAgent):\n    await other.run_async(1, userid=2)\nLlmAgent(subagents=[])\n"
    assert told(text) == [("userid", "user_id"), ("subagents", "sub_agents")]


def test_history_says_when_a_keyword_came_and_went() -> None:
    (gone,) = remarks(f"{IMPORT}LlmAgent(flow='auto')\n")
    assert "the last version that has it is 1.0.0" in gone.text
    # What comes with a later version is no slip of the pen, however near another keyword is.
    (later,) = remarks(f"{IMPORT}LlmAgent(mode='task')\n", "1.0.0")
    assert (later.text, later.replacement) == (
        "google-adk 1.0.0 has no `LlmAgent(mode=)`: it came in with 2.0.0.", None,
    )  # fmt: skip


def test_a_keyword_that_the_call_has_already_is_not_offered() -> None:
    assert told(f"{IMPORT}LlmAgent(instruction='x', instructions='y')\n") == [("instructions", None)]
    # Nor what would be the next nearest.
    assert told(f"{IMPORT}LlmAgent(output_key='x', output_keys='y')\n", "3.0.0") == [("output_keys", None)]


@pytest.mark.parametrize(
    ("keyword", "near"),
    [("outputKey", "output_key"), ("model_name", "model"), ("output", "output_key"), ("temperature", None)],
)
def test_case_underscores_and_words_at_the_end_do_not_hide_what_is_near(keyword: str, near: str | None) -> None:
    assert told(f"{IMPORT}LlmAgent({keyword}=1)\n") == [(keyword, near)]


def test_imports_that_the_version_lacks_are_told_with_the_name_in_that_module() -> None:
    (remark,) = remarks("from google.adk.agents import (\n    LLMAgent,\n)\n")
    assert (remark.line, remark.replacement, remark.cited) == (1, "LlmAgent", "google.adk.agents.LlmAgent")
    assert remark.text.endswith("no version has it. `google.adk.agents` has `LlmAgent`.")
    assert told("from google.adk.agents import Flow\n") == [("Flow", None)]


def test_an_import_of_modules_is_offered_modules_alone() -> None:
    assert told("import google.adk.agent\n") == [("agent", "agents")]
    assert told("import google.adk.agents.Flows\n", "1.0.0") == [("Flows", None)]
    assert told("from google.adk.agents import Flows\n", "1.0.0") == [("Flows", "Flow")]
    assert told("from google.adk import agent\n") == [("agent", "agents")]
    assert told("import google.adk.agent as agents\n") == [("agent", "agents")]


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("from google.adk.agents import LLMAgent\nx: LLMAgent = LLMAgent()\n",
         "from google.adk.agents import LlmAgent\nx: LlmAgent = LlmAgent()\n"),
        ("from google.adk.agents import LLMAgent as A\nA()\nLLMAgent = 1\n",
         "from google.adk.agents import LlmAgent as A\nA()\nLLMAgent = 1\n"),
        ("import google.adk.agent\nagent = google.adk.agent.LlmAgent()\n",
         "import google.adk.agents\nagent = google.adk.agents.LlmAgent()\n"),
        # What is not surely a use keeps its meaning.
        ("from google.adk.agents import LLMAgent\ndef f(x: 'LLMAgent'): ...\nLLMAgent()\n",
         "from google.adk.agents import LlmAgent as LLMAgent\ndef f(x: 'LLMAgent'): ...\nLLMAgent()\n"),
        ("if x:\n  from google.adk.agents import LLMAgent\nelse:\n  LLMAgent = None\nLLMAgent()\n",
         "if x:\n  from google.adk.agents import LlmAgent as LLMAgent\nelse:\n  LLMAgent = None\nLLMAgent()\n"),
    ],
)  # fmt: skip
def test_what_uses_an_import_changes_with_it(text: str, mended: str) -> None:
    document, (remark,) = PythonDocument(text), remarks(text)
    lines = text.split("\n")
    changes = renamed(document, remark.line, remark.start, remark.replacement or "")
    for mention, new in sorted(changes, key=lambda one: (one[0].line, -one[0].start)):
        line = lines[mention.line]
        lines[mention.line] = line[: mention.start] + new + line[mention.end :]
    assert "\n".join(lines) == mended


def test_a_keyword_changes_alone() -> None:
    text = f"{IMPORT}LlmAgent(instructions=instructions)\n"
    assert [new for _, new in renamed(PythonDocument(text), 1, 9, "instruction")] == ["instruction"]


def test_a_document_that_does_not_parse_is_read_as_far_as_it_is_whole() -> None:
    text = f"{IMPORT}agent = LlmAgent(instructions='x')\ndef broken(:\nother = LlmAgent(\n"
    assert told(text) == [("instructions", "instruction")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("class Mine(LlmAgent):\n    colour: str\nMine(colour='red')", id="subclass"),
        pytest.param("LlmAgent(**{'instructions': 1})", id="unpacked"),
        pytest.param("from google.adk.agents.llm_agent import open_agent\nopen_agent(colour=1)", id="any keyword"),
        pytest.param("if x:\n    from mine import LlmAgent\nLlmAgent(colour=1)", id="imported in two ways"),
        pytest.param("try:\n    from mine import LlmAgent\nexcept ImportError: pass\nLlmAgent(c=1)", id="tried"),
        pytest.param("if x: a = LlmAgent()\nelse: a = Mine()\na.run_async(colour=1)", id="two values"),
        pytest.param("with pytest.raises(ValidationError):\n    LlmAgent(colour=1)", id="meant to fail"),
        pytest.param("with self.assertRaises(ValueError):\n    LlmAgent(colour=1)", id="asserted"),
        pytest.param("try:\n    LlmAgent(colour=1)\nexcept TypeError:\n    LlmAgent()", id="caught"),
        pytest.param("try:\n    LlmAgent(c=1)\nexcept (KeyError, pydantic.ValidationError): ...", id="caught by path"),
        pytest.param("try:\n    LlmAgent(c=1)\nexcept* TypeError: ...", id="caught in a group"),
        pytest.param("with contextlib.suppress(TypeError):\n    LlmAgent(colour=1)", id="suppressed"),
        pytest.param("with suppress(ImportError):\n    from google.adk.agents import Missing", id="import suppressed"),
        pytest.param(
            "async def f():\n    async with pytest.raises(TypeError):\n        LlmAgent(colour=1)", id="asynchronous"
        ),
        pytest.param("def LlmAgent(colour): ...\nLlmAgent(colour=1)", id="bound again"),
        pytest.param("from .agents import LlmAgent as Own\nOwn(colour=1)", id="relative import"),
        pytest.param("def f(LlmAgent): LlmAgent(colour=1)", id="parameter"),
        pytest.param("x: LlmAgent.Missing", id="annotation"),
        pytest.param("'LlmAgent(colour=1)'  # LlmAgent(colour=1)", id="no code"),
    ],
)
def test_nothing_is_said_where_it_is_not_sure(text: str) -> None:
    assert told(f"import pytest\n{IMPORT}{text}\n") == []


def test_the_remark_at_a_place_is_the_one_of_the_document() -> None:
    document = PythonDocument(f"{IMPORT}agent = LlmAgent(instructions='x')\n")
    checker = CHECKERS["2.0.0"]
    assert [remark_at(checker, document, 1, column) is not None for column in (16, 17, 29, 30)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_a_document_full_of_wrong_names_is_read_in_linear_time() -> None:
    text = IMPORT + "".join(f"LlmAgent(w{number}=1, instructions='x')\n" for number in range(3000))
    checker, document = CHECKERS["2.0.0"], PythonDocument(text)
    started = time.process_time()
    assert len(list(remarks_on(checker, document))) > 3000
    assert time.process_time() - started < 10

"""The table of what each released version has: built from small made-up versions, and asked."""

from __future__ import annotations

import gzip
import itertools
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from adk_evidence.api.facts import read_module
from adk_evidence.api.history import SHIPPED, History, VersionApi, read_call
from adk_evidence.api.lacks import lack
from adk_evidence.api.links import link
from adk_evidence.api.module import ModuleText
from adk_evidence.api.parameters import Keywords
from adk_evidence.api.table import HistoryTable, make_table
from adk_evidence.errors import InvalidRequestError, SourceError
from adk_evidence.paths import config_file
from adk_evidence.settings import Settings, load_settings
from adk_ingest.chunking.python import module_name
from adk_ingest.progress import Progress
from adk_ingest.sources.base import CorpusSource
from tests.corpora import write_files
from tests.releases.__main__ import main as make_releases
from tests.releases.callbacks import otherwise_called
from tests.releases.history import build_history

BASE = """\
from abc import ABC
from typing import ClassVar, Optional

from pydantic import BaseModel, Field, PrivateAttr


class BaseAgent(BaseModel):
    kind: ClassVar[str] = "base"
    model_config = {"extra": "forbid"}
    name: str
    sub_agents: list = Field(default_factory=list)
    _parent: Optional[str] = PrivateAttr(None)

    async def run_async(self, context): ...
"""
LLM = """\
from .base_agent import BaseAgent


class LlmAgent(BaseAgent):
    model: str = ""

    def clone(self, update=None): ...


Agent = LlmAgent
"""
RUNNERS = """\
class Runner:
    def __init__(self, agent, *, session_service, memory_service=None):
        self.agent = agent

    @property
    def ready(self): ...

    def run(self, message): ...
"""
AGENTS = "from .llm_agent import Agent, LlmAgent\nfrom .base_agent import BaseAgent\n"
FIRST = {
    "__init__.py": "from .agents.llm_agent import Agent\nfrom .runners import Runner\n",
    "agents/__init__.py": AGENTS,
    "agents/base_agent.py": BASE,
    "agents/llm_agent.py": LLM,
    "runners.py": RUNNERS,
    "tools/__init__.py": "from .search import search\n",
    "tools/search.py": "def search(query, limit=10, **options): ...\n",
    "tools/toolset.py": "class MCPToolset:\n    def __init__(self, url): ...\n",
}
SECOND = {
    **FIRST,
    # Without `tools.search`, with a keyword of the base and one of the class.
    "tools/__init__.py": "",
    "tools/search.py": "",
    "agents/base_agent.py": BASE.replace("    name: str\n", "    name: str\n    timeout: float = 1.0\n"),
    "agents/llm_agent.py": LLM.replace('model: str = ""', 'model: str = ""\n    output_key: str | None = None'),
}
THIRD = {
    **FIRST,
    "agents/base_agent.py": SECOND["agents/base_agent.py"],
    "agents/llm_agent.py": SECOND["agents/llm_agent.py"],
    "runners.py": RUNNERS.replace("    def run(self, message)", "    async def run(self, message)"),
    "tools/__init__.py": """\
from typing import TYPE_CHECKING
import importlib

if TYPE_CHECKING:
    from ._private import Unseen

_LAZY = {
    "McpToolset": (".toolset", "McpToolset"),
    "MCPToolset": (".toolset", "MCPToolset"),
    "search": ".search",
}


def __getattr__(name):
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name][0], __name__), name)
    if name == "Loaded":
        from ._private import Loaded
        return Loaded
    raise AttributeError(name)
""",
    "tools/_private.py": "class Unseen: ...\n\n\nclass Loaded:\n    def __init__(self, path): ...\n",
    "tools/toolset.py": """\
from typing_extensions import deprecated


class McpToolset:
    def __init__(self, url, *, headers=None): ...


@deprecated("Deprecated name, use `McpToolset` instead.")
class MCPToolset(McpToolset):
    \"\"\"The toolset of before.\"\"\"
""",
    "agents/planner.py": """\
import warnings


class Planner:
    def __init__(self, agent):
        warnings.warn("Planner is deprecated.", DeprecationWarning)

    def run(self): ...


class Thinker:
    \"\"\"Deprecated: plans are made by the model.\"\"\"

    def __init__(self, agent, old=None):
        if old:
            warnings.warn("old is deprecated.", DeprecationWarning)


class Kept:
    def plan(self):
        "Deprecated: use Kept._steps."

    def think(self):
        "Deprecated: use Kept.plan."

    def _steps(self): ...

    def __init__(self, old=None):
        if old:
            warnings.warn("old is deprecated.", DeprecationWarning)
""",
}
VERSIONS = {"1.0.0": FIRST, "1.2.0": SECOND, "1.10.0": THIRD}


def made(versions: dict[str, dict[str, str]]) -> History:
    """A table of versions, each made of files below `google/adk`."""
    snapshots = {}
    for version, files in versions.items():
        paths = {f"google/adk/{name}": text for name, text in files.items()}
        texts = (ModuleText(module_name(path) or "", path, text) for path, text in paths.items())
        snapshots[version] = link("google.adk", [facts for text in texts if (facts := read_module(text)) is not None])
    return History(make_table("google-adk", snapshots))


def made_of(text: str) -> VersionApi:
    """A version with one module `google.adk.made`."""
    return made({"1.0": {"__init__.py": "", "made.py": text}}).each[0]


def at(history: History, version: str) -> VersionApi:
    found = history.nearest(version)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def history() -> History:
    return made(VERSIONS)


# Names


@pytest.mark.parametrize(
    ("name", "had"),
    [
        ("LlmAgent", (True, True, True)),
        ("google.adk.agents.LlmAgent", (True, True, True)),
        ("google.adk.agents.llm_agent.LlmAgent", (True, True, True)),
        ("agents.LlmAgent", (True, True, True)),
        ("google.adk.agents", (True, True, True)),
        ("google.adk.Agent", (True, True, True)),
        # A field of the class, of its base, of the class under its other name; a method that is inherited.
        ("LlmAgent.output_key", (False, True, True)),
        ("LlmAgent.timeout", (False, True, True)),
        ("Agent.timeout", (False, True, True)),
        ("LlmAgent.run_async()", (True, True, True)),
        ("Runner.agent", (True, True, True)),
        ("Runner.ready", (True, True, True)),
        ("Runner.agents", (False, False, False)),
        # Gone, and back again.
        ("google.adk.tools.search", (True, True, True)),
        ("google.adk.tools.search.search", (True, False, True)),
        ("search", (True, True, True)),
        # What is loaded lazily can be imported, what type checkers alone see cannot.
        ("google.adk.tools.McpToolset", (False, False, True)),
        ("google.adk.tools.Loaded", (False, False, True)),
        ("google.adk.tools.Unseen", (False, False, False)),
        ("google.adk.agents.Nothing", (False, False, False)),
        ("Nothing", (False, False, False)),
        # Private names, and what pydantic brings, are not in the table.
        ("google.adk.tools._private.Loaded", (None, None, None)),
        ("LlmAgent.model_dump", (None, None, None)),
        ("no name", (None, None, None)),
        ("", (None, None, None)),
    ],
)
def test_a_version_has_a_name_or_not(history: History, name: str, had: tuple[bool | None, ...]) -> None:
    assert tuple(at(history, version).has(name) for version in VERSIONS) == had


def test_a_version_in_between_answers_as_the_released_one_below_it(history: History) -> None:
    assert at(history, "1.9.3").version == "1.2.0" and history.exactly("1.9.3") is None
    assert at(history, "v1.10.0") is at(history, "3.0") is history.exactly(" v1.10 ")
    assert history.nearest("0.9") is history.nearest("not a version") is history.exactly(None) is None


def test_a_name_may_be_written_as_in_a_text(history: History) -> None:
    for name in ("`LlmAgent.run_async()`", "`LlmAgent.run_async`()", " LlmAgent.run_async "):
        assert at(history, "1.0.0").has(name) is True, name
    assert at(history, "1.2.0").has("`LlmAgent(output_key=)`") is True


def test_a_member_is_found_although_a_module_has_the_name_at_its_top() -> None:
    files = {"__init__.py": "", "made.py": "class Made:\n    parts: list\n"}
    found = made({"1.0": {**files, "tools.py": "def parts(): ...\n"}, "2.0": files})
    assert found.paths("parts") == ["google.adk.tools.parts", "google.adk.made.Made.parts"]
    assert at(found, "2.0").has("parts") is True and lack(found, "2.0", "parts") is None


MADE: dict[str, tuple[str, dict[str, bool | None]]] = {
    "attributes that methods set": (
        """\
LOW, (HIGH, *REST) = 1, (2, 3)
class Made:
    def __init__(self):
        self.left, (self.right, other.up) = 1, (2, 3)
    def open(self):
        with there() as self.stream:
            self.count: int = 0
            self.below.deeper = self.read_only
""",
        {
            **dict.fromkeys(("left", "right", "stream", "count", "made.LOW", "made.HIGH", "made.REST"), True),
            **dict.fromkeys(("up", "deeper", "below", "read_only"), False),
        },
    ),
    "a field that is not to be set": (
        "from pydantic import BaseModel, Field\nclass Made(BaseModel):\n    above: int = Field(1, init=False)\n",
        # Neither offered nor denied.
        {"above": True, "(above=)": None},
    ),
    "what a validator reads before the fields": (
        """\
from pydantic import BaseModel, model_validator
class Made(BaseModel):
    a: int
    @model_validator(mode="before")
    @classmethod
    def read(cls, data):
        data["a"] = data.pop("old", None)
        return data
""",
        {"(a=)": True, "(old=)": None, "(before=)": False, "(b=)": False},
    ),
    "a class that keeps any keyword": (
        "from pydantic import BaseModel\nclass Made(BaseModel, extra='allow'):\n    a: int\n",
        {"a": True, "b": None, "(b=)": None},
    ),
    "a class that keeps its own keywords": (
        "from pydantic import BaseModel\nclass Made(BaseModel):\n    a: int\n",
        {"b": False, "(b=)": False},
    ),
    "a method that sets an inherited field": (
        """\
from pydantic import BaseModel, Field
class Base(BaseModel):
    size: int = Field(1, deprecated="Sizes are found.", alias="no identifier")
class Made(Base):
    def grow(self):
        self.size = 2
""",
        {"(size=)": True, "size": True},
    ),
}


@pytest.mark.parametrize(("text", "has"), MADE.values(), ids=MADE.keys())
def test_a_class_has_what_it_and_its_methods_say(text: str, has: dict[str, bool | None]) -> None:
    found = made_of(text)
    of_class = {name: f"Made{name}" if name[0] == "(" else f"Made.{name}" for name in has if "made." not in name}
    assert {name: found.has(of_class.get(name, name)) for name in has} == has


def test_an_asynchronous_function_gives_one_thing_or_many() -> None:
    found = made_of(
        "class Made:\n    async def each(self): yield 1\n    async def one(self): return 1\n"
        "    async def told(self) -> 'AsyncGenerator[int, None]':\n        raise NotImplementedError\n"
        "    async def twice(self): yield 1\n    async def twice(self): return 1\n"
    )
    path = "google.adk.made.Made"
    assert [found.yields(f"{path}.{name}") for name in ("each", "one", "told", "twice")] == [True, False, True, False]
    assert found.members_of(path) == ["each", "one", "told", "twice"]


def test_members_and_results_say_their_classes() -> None:
    found = made_of(
        "from typing import TYPE_CHECKING, Any, Optional\nfrom collections.abc import AsyncGenerator\n"
        "if TYPE_CHECKING:\n    from .made import Part as Piece\n"
        "class Part: ...\n"
        "class Made:\n    plain: Part\n    may: Optional[Part] = None\n    many: list[Part]\n    either: Part | dict\n"
        "    @property\n    def read(self) -> 'Piece': ...\n"
        "    async def each(self) -> AsyncGenerator[Part, None]: yield 1\n"
        "    def __init__(self, given: Part, *rest: Part, other=None):\n"
        "        self.given = given\n        self.own = Part()\n        self.rest = rest\n        self.other = other\n"
        "        self.late = None\n        self.twice = given\n        self.anything: Any = given\n"
        "    def more(self):\n        self.late = Part()\n        self.twice = Made()\n"
    )
    names = [*found.members_of("google.adk.made.Made")]
    said = {name: found.type_of(f"google.adk.made.Made.{name}").replace("google.adk.made.", "") for name in names}
    assert {name: cls for name, cls in said.items() if cls} == {
        **dict.fromkeys(("plain", "may", "read", "given", "own", "late"), "Part"),
        **dict.fromkeys(("many", "each"), "*Part"),
    }
    assert found.is_derived("google.adk.made.Made") is False


def test_a_model_refuses_attributes_but_for_those_that_it_sets_its_own_way() -> None:
    found = made_of(
        "from pydantic import BaseModel\nclass Plain:\n    name: str\nclass Model(BaseModel):\n    name: str\n"
        "class Open(BaseModel):\n    model_config = {'extra': 'allow'}\n"
        "class Own(Model):\n    def __setattr__(self, name, value): ...\n"
    )
    path = "google.adk.made"
    assert [found.refuses(f"{path}.{cls}", "more") for cls in ("Model", "Plain", "Open", "Own")] == [True, *[False] * 3]
    assert not found.refuses(f"{path}.Model", "name") and found.is_derived(f"{path}.Model")


def test_a_release_that_calls_callbacks_otherwise_is_told() -> None:
    def said(version: str, **files: str) -> list[str]:
        modules = {name: ModuleText(name, f"{name}.py", text) for name, text in files.items()}
        return list(otherwise_called(modules, Version(version)))

    agent = "class LlmAgent:\n    before_model_callback: object = None\n"
    call = "def run_callbacks(callback, a, b):\n    callback(callback_context=a, llm_request=b)\n"
    assert said("1.0.0", llm_agent=agent, flow=call) == []
    assert said("2.9.0", llm_agent=agent, flow=f"{call}def _invoke_callback(callback): ...\n") == []
    (changed,) = said("1.0.0", llm_agent=agent, flow=call.replace("llm_request", "request"))
    assert changed == "No call gives callback_context, llm_request, which before_model_callback is said to get."
    (by_position,) = said("2.9.0", llm_agent=agent, flow=call)
    assert by_position == "Callbacks are said to be called by position from 2.9.0 on, which is not so."


# Keywords


def test_a_call_takes_the_fields_of_a_class_and_of_its_bases(history: History) -> None:
    before = frozenset({"name", "sub_agents", "model"})
    required = frozenset({"name"})
    assert at(history, "1.0.0").keywords("LlmAgent") == Keywords(before, required)
    assert at(history, "1.2.0").keywords("LlmAgent") == Keywords(before | {"timeout", "output_key"}, required)
    assert at(history, "1.2.0").keywords("google.adk.Agent") == at(history, "1.2.0").keywords("LlmAgent")


def test_a_call_takes_the_parameters_of_a_constructor_or_function(history: History) -> None:
    assert at(history, "1.0.0").keywords("Runner") == Keywords(
        frozenset({"agent", "session_service", "memory_service"}), frozenset({"agent", "session_service"})
    )
    assert at(history, "1.10.0").keywords("MCPToolset") == Keywords(frozenset({"url", "headers"}), frozenset({"url"}))
    found = at(history, "1.0.0").keywords("google.adk.tools.search.search")
    assert found == Keywords(frozenset({"query", "limit"}), frozenset({"query"}), open=True)
    assert at(history, "1.0.0").keywords("McpToolset") is None
    assert at(history, "1.0.0").keywords("Runner.ready") is None


@pytest.mark.parametrize(
    ("call", "had"),
    [
        ("LlmAgent(output_key=)", (False, True, True)),
        ("LlmAgent(timeout=3, name='x')", (False, True, True)),
        ("LlmAgent(max_retries=)", (False, False, False)),
        ("LlmAgent(kind=)", (False, False, False)),
        ("Runner(memory_service=)", (True, True, True)),
        ("McpToolset(headers=)", (False, False, True)),
        ("google.adk.tools.search.search(anything=)", (None, False, None)),
    ],
)
def test_a_version_has_a_keyword_or_not(history: History, call: str, had: tuple[bool | None, ...]) -> None:
    assert tuple(at(history, version).has(call) for version in VERSIONS) == had


CALLED: dict[str, tuple[str, set[str], bool]] = {
    "dataclass": (
        """\
from dataclasses import dataclass, field
@dataclass
class Made:
    a: int
    b: int = field(init=False)
""",
        {"a"},
        False,
    ),
    "unknown base": ("from elsewhere import Other\nclass Made(Other):\n    a: int\n", set(), True),
    "aliases": (
        """\
from pydantic import BaseModel, ConfigDict, Field, alias_generators
class Made(BaseModel):
    model_config = ConfigDict(alias_generator=alias_generators.to_camel, populate_by_name=True)
    some_name: int = 1
    step_2x: int = 1
    other: int = Field(alias='another')
""",
        {"some_name", "someName", "step_2x", "step2X", "other", "another"},
        False,
    ),
    "keywords passed on to any": (
        """\
class One:
    def __init__(self, a, **more): ...
class Made(One):
    def __init__(self, b, **more): ...
""",
        {"a", "b"},
        True,
    ),
    "keywords passed on to few": (
        """\
class One:
    def __init__(self, a): ...
class Made(One):
    def __init__(self, b, **more):
        super().__init__(**more)
""",
        {"a", "b"},
        False,
    ),
    "keywords that another callable may take": (
        """\
class One:
    def __init__(self, a): ...
class Made(One):
    def __init__(self, b, **more):
        for key, value in more.items():
            setattr(b, key, value)
        super().__init__(**more)
""",
        {"a", "b"},
        True,
    ),
    "every kind of parameter": ("class Made:\n    def __init__(self, a, /, b, *rest, c): ...\n", {"b", "c"}, False),
}


@pytest.mark.parametrize(("text", "fields", "is_open"), CALLED.values(), ids=CALLED.keys())
def test_classes_of_every_kind_say_what_they_are_made_with(text: str, fields: set[str], is_open: bool) -> None:
    found = made_of(text).keywords("Made")
    assert found is not None and (set(found.names), found.open) == (fields, is_open)


# Deprecations


def test_what_a_version_calls_deprecated_is_told_with_what_to_use_where_the_code_says_so(history: History) -> None:
    planner = "google.adk.agents.planner"
    found = {path: at(history, "1.10.0").deprecation(path) for path in (
        "google.adk.tools.MCPToolset", f"{planner}.Planner", f"{planner}.Thinker", f"{planner}.Kept",
        f"{planner}.Kept.plan", f"{planner}.Kept.think",
    )}  # fmt: skip
    assert list(found.values()) == [
        ("google.adk.tools.McpToolset", "Deprecated name, use `McpToolset` instead."),
        ("", "Planner is deprecated."),
        ("", "Deprecated: plans are made by the model."),
        None,
        ("", "Deprecated: use Kept._steps."),
        (f"{planner}.Kept.plan", "Deprecated: use Kept.plan."),
    ]
    assert at(history, "1.0.0").deprecation("google.adk.tools.toolset.MCPToolset") is None


def test_a_definition_that_is_made_anew_is_no_longer_deprecated() -> None:
    text = """\
def old():
    "Deprecated: use `New`."


def old(): ...


class Made:
    def run(self):
        "Deprecated: use `New`."

    def run(self, again): ...


try:
    from elsewhere import other
except ImportError:
    def left():
        "Deprecated: nobody needs this."
"""
    found = [made_of(text).deprecation(f"google.adk.made.{name}") for name in ("old", "Made.run", "left")]
    assert found == [None, None, ("", "Deprecated: nobody needs this.")]


# What a version lacks


MOVED = {
    "1.0": {"__init__.py": "", "old/__init__.py": "from .it import It\n", "old/it.py": "class It: ...\n"},
    "2.0": {
        "__init__.py": "",
        "old/__init__.py": "",
        "old/it.py": "from ..new.it import It\n",
        "new/__init__.py": "from .it import It\n",
        "new/it.py": "class It: ...\n",
    },
}
NEW = "class New: ...\n"
DEPRECATED = f'{NEW}class Old:\n    "Deprecated: use `New`."\n'


@pytest.mark.parametrize(
    ("versions", "name", "instead"),
    [
        (MOVED, "google.adk.old.It", "google.adk.new.It"),
        ({"1.0": {"__init__.py": DEPRECATED}, "2.0": {"__init__.py": NEW}}, "Old", "google.adk.New"),
        (
            {"1.0": {"__init__.py": f"{NEW}Old = New\n"}, "2.0": {"__init__.py": NEW}},
            "google.adk.Old",
            "google.adk.New",
        ),
    ],
    ids=["moved", "deprecated", "another name"],
)
def test_what_takes_the_place_of_a_name_is_told_where_the_code_proves_it(
    versions: dict[str, dict[str, str]], name: str, instead: str
) -> None:
    said = f"google-adk 2.0 has no `{name}`: the last version that has it is 1.0; 2.0 has `{instead}`."
    assert lack(made(versions), "2.0", name) == said


def test_a_lack_is_of_all_paths_of_a_name() -> None:
    one, two = "class It:\n    def __init__(self, a): ...\n", "class It:\n    def __init__(self, b): ...\n"
    found = made(
        {
            "1.0": {"__init__.py": "", "one.py": one},
            "2.0": {"__init__.py": ""},
            "3.0": {"__init__.py": "", "one.py": one},
            "4.0": {"__init__.py": "", "one.py": one, "two.py": two},
            "5.0": {"__init__.py": "", "two.py": two},
        }
    )
    assert lack(found, "3.0", "It") is None
    assert lack(found, "2.0", "It") == (
        "google-adk 2.0 has no `It`: the last version that has it is 1.0; it comes back with 3.0."
    )
    # In version 4.0 the name means `two.It`, whose path alone takes `b`.
    assert lack(found, "3.0", "It(b=)") == "google-adk 3.0 has no `It(b=)`: it came in with 4.0."


@pytest.mark.parametrize(
    ("version", "name", "said"),
    [
        ("1.0.0", "LlmAgent(output_key=)", "it came in with 1.2.0."),
        ("1.0.0", "Planner.run", "it came in with 1.10.0."),
        (
            "1.0.0",
            "google.adk.runners.LlmAgent",
            "no version has it; 1.0.0 has `google.adk.agents.LlmAgent`.",
        ),
        (
            "1.0.0",
            "google.adk.tools.MCPToolset",
            "it came in with 1.10.0; 1.0.0 has `google.adk.tools.toolset.MCPToolset`.",
        ),
        (
            "1.2.0",
            "google.adk.tools.search.search",
            "the last version that has it is 1.0.0; it comes back with 1.10.0.",
        ),
        *(("1.2.0", name, None) for name in ("LlmAgent", "Nothing", "_hidden")),
        ("0.1", "LlmAgent", None),
    ],
)
def test_a_lack_is_told_in_one_sentence(history: History, version: str, name: str, said: str | None) -> None:
    assert lack(history, version, name) == (f"google-adk {version} has no `{name}`: {said}" if said else None)


def test_a_lack_in_a_version_that_is_not_known_says_which_version_answers(history: History) -> None:
    said = (
        "google-adk 1.5 (known as 1.2.0, the nearest released version below) has no `Planner`: it came in with 1.10.0."
    )
    assert lack(history, "v1.5", "Planner") == said


def test_names_of_strangers_are_read_as_names_or_not_at_all(history: History) -> None:
    for text in ("a" * 100_000, "." * 500, "LlmAgent(" * 50, "[x](y)", "LlmAgent.\x00"):
        assert at(history, "1.0.0").has(text) in (None, False)
        assert lack(history, "1.0.0", text) is None
    assert read_call("LlmAgent( output_key = 1)") == ("LlmAgent", "output_key")


def test_a_file_that_is_not_python_costs_no_more_than_its_names() -> None:
    found = at(made({"1.0": {**FIRST, "runners.py": "class Runner(:\n"}}), "1.0")
    assert found.has("LlmAgent") is True and found.has("google.adk.runners") is False


# Building


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    return load_settings({"home": home}, user_file=home / "no-settings.yaml")


def fetch(requirement: Requirement, folder: Path) -> CorpusSource:
    version = str(requirement.specifier).removeprefix("==")
    if version not in VERSIONS:
        raise SourceError(f"There is no {version}.")
    write_files(folder / "google" / "adk", VERSIONS[version])
    return CorpusSource(
        "adk_python", "google/adk-python", "distribution", folder, f"v{version}", subtrees=("google/adk",)
    )


def build(settings: Settings, path: Path, only: Collection[str] = tuple(VERSIONS)) -> bytes:
    build_history(settings, path, Progress(), only=only, fetch=fetch)
    return path.read_bytes()


def test_a_table_that_is_extended_has_the_same_bytes_as_one_that_is_built_at_once(
    configured: Settings, tmp_path: Path, history: History
) -> None:
    whole = build(configured, tmp_path / "whole.gz")
    for number, order in enumerate(itertools.permutations(VERSIONS)):
        for version in order:
            extended = build(configured, tmp_path / f"{number}.gz", [version])
        assert extended == whole
    assert HistoryTable.parse(whole).dump() == whole == history.table.dump()


def test_only_what_the_table_lacks_is_fetched_and_what_cannot_be_had_is_left_out(
    configured: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.gz"
    before = build(configured, path, ["1.0.0"])
    for table in (path, tmp_path / "none.gz"):
        with pytest.raises(SourceError, match="No version of google-adk could be read"):
            build(configured, table, ["50.0", "51.0"])
    assert path.read_bytes() == before and not (tmp_path / "none.gz").exists()
    only = [*VERSIONS, "v1.0", "1.2", "7.0.0"]
    report = build_history(configured, path, Progress(), only=only, first="1", fetch=fetch)
    assert report.versions == ("1.0.0", "1.2.0", "1.10.0") and report.added == ("1.10.0", "1.2.0")
    assert report.left_out == ("7.0.0",)
    monkeypatch.setattr("tests.releases.history.released_versions", lambda name: ["1.10.0", "1.2.0", "1.0.0"])
    report = build_history(configured, tmp_path / "offered.gz", Progress(), first="1.1", fetch=fetch)
    assert report.versions == ("1.2.0", "1.10.0")


NO_LINES = b'{"format":1,"distribution":"google-adk","versions":["1.0"],"modules":{"google.adk":1}}'
OTHER = make_table("other", {"1.0": {"other": {"": "m"}}}).dump()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *((data, "damaged") for data in (b"", b"no gzip", OTHER[:-9], gzip.compress(NO_LINES, mtime=0))),
        (OTHER, "is a table of other"),
    ],
)
def test_a_table_that_is_damaged_or_of_something_else_is_refused_and_kept(
    configured: Settings, tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(data)
    with pytest.raises((SourceError, InvalidRequestError), match=said):
        build(configured, path)
    assert path.read_bytes() == data


@pytest.mark.parametrize("line", ["It\t0 0", "It\tzero 0 v", "It\t0 0 ", "It"])
def test_a_damaged_line_is_told_in_a_sentence_when_the_name_is_asked_for(line: str) -> None:
    table = HistoryTable("google-adk", ["1.0"], {"google.adk": f"\t0 0 m\n{line}"})
    with pytest.raises(SourceError, match="damaged"):
        History(HistoryTable.parse(table.dump())).each[0].has("google.adk.It")


# The script


def test_the_script_adds_versions_to_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.releases.history.open_registry", lambda wanted, place, *_, **__: fetch(wanted, place))
    monkeypatch.setitem(VERSIONS, "99.0.0", FIRST)
    table = tmp_path / "history.json.gz"
    shutil.copy(config_file(SHIPPED), table)
    make_releases(["--only", "99.0.0", "--out", str(table)])
    assert "Added 1 of google-adk to" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        make_releases(["--only", "latest", "--out", str(table)])
    assert "is not a version" in capsys.readouterr().err
    own = History(HistoryTable.parse(table.read_bytes()))
    assert own.versions == (*History.load().versions, "99.0.0")
    assert at(own, "2.13.0").has("google.adk.apps.App") is True and own.each[-1].has("google.adk.apps.App") is False


# The table that ships


def test_the_table_that_ships_answers() -> None:
    shipped = History.load()
    assert len(shipped.versions) >= 90 and Version(shipped.versions[-1]) >= Version("2.13.0")
    assert at(shipped, "2.13.0").has("google.adk.agents.LlmAgent") is True
    assert at(shipped, "1.0.0").has("google.adk.apps.App") is False
    # The first versions shipped their tests, which are no public API.
    assert not [module for module in shipped.table.modules if "tests" in module.split(".")]
    assert lack(shipped, "2.13.0", "roll_die") is None
    assert at(shipped, "2.13.0").has("sub_agents") is True

"""The table of what each released version has: built from small made-up versions, and asked."""

from __future__ import annotations

import gzip
import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from adk_evidence.api.history import SHIPPED, History, Keywords, read_call
from adk_evidence.api.stories import Change, Span, lack, story
from adk_evidence.api.table import HistoryTable, make_table
from adk_evidence.errors import InvalidRequestError, SourceError
from adk_evidence.settings import Settings, config_file, load_settings
from adk_ingest.progress import Progress
from adk_ingest.sources.base import CorpusSource
from tests.releases.__main__ import main as make_releases
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


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    return load_settings({"home": home}, user_file=home / "no-settings.yaml")


def source(version: str, files: dict[str, str], place: Path) -> CorpusSource:
    for name, text in files.items():
        file = place / "google" / "adk" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return CorpusSource(
        "adk_python", "google/adk-python", "distribution", place, f"v{version}", subtrees=("google/adk",)
    )


def fetch_from(versions: dict[str, dict[str, str]]) -> Callable[[Requirement, Path], CorpusSource]:
    def fetch(requirement: Requirement, folder: Path) -> CorpusSource:
        version = str(requirement.specifier).removeprefix("==")
        if version not in versions:
            raise SourceError(f"There is no {version}.")
        return source(version, versions[version], folder)

    return fetch


def build(settings: Settings, path: Path, versions: dict[str, dict[str, str]], only: list[str] | None = None) -> bytes:
    build_history(settings, path, Progress(), only=only or list(versions), fetch=fetch_from(versions))
    return path.read_bytes()


@pytest.fixture(scope="module")
def history(configured: Settings, tmp_path_factory: pytest.TempPathFactory) -> History:
    path = tmp_path_factory.mktemp("table") / "history.json.gz"
    return History(HistoryTable.parse(build(configured, path, VERSIONS)))


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
    assert tuple(history.has(version, name) for version in VERSIONS) == had


def test_a_version_in_between_answers_as_the_released_one_below_it(history: History) -> None:
    known = history.nearest("1.9.3")
    assert known is not None and known.version == "1.2.0" and not known.exact
    assert history.has("1.9.3", "LlmAgent.output_key") is True
    assert history.has("v1.10.0", "McpToolset") is history.has("3.0", "McpToolset") is True
    assert history.nearest("0.9") is None and history.has("0.9", "LlmAgent") is None
    assert history.has("not a version", "LlmAgent") is None


def test_a_name_may_be_written_as_in_a_text(history: History) -> None:
    for name in ("`LlmAgent.run_async()`", "`LlmAgent.run_async`()", " LlmAgent.run_async "):
        assert history.has("1.0.0", name) is True, name
    assert history.has("1.2.0", "`LlmAgent(output_key=)`") is True


def built(settings: Settings, place: Path, versions: dict[str, dict[str, str]]) -> History:
    return History(HistoryTable.parse(build(settings, place / "made.gz", versions)))


def test_a_member_is_found_although_a_module_has_the_name_at_its_top(configured: Settings, tmp_path: Path) -> None:
    files = {"__init__.py": "", "made.py": "class Made:\n    parts: list\n"}
    found = built(configured, tmp_path, {"1.0": {**files, "tools.py": "def parts(): ...\n"}, "2.0": files})
    assert found.paths("parts") == ["google.adk.tools.parts", "google.adk.made.Made.parts"]
    assert found.has("2.0", "parts") is True and lack(found, "2.0", "parts") is None
    told = story(found, "parts")
    assert told is not None and told.path == "google.adk.made.Made.parts" and told.gone_since is None


def test_attributes_are_known_wherever_a_method_sets_them(configured: Settings, tmp_path: Path) -> None:
    text = """\
LOW, (HIGH, *REST) = 1, (2, 3)


class Made:
    def __init__(self):
        self.left, (self.right, other.up) = 1, (2, 3)

    def open(self):
        with there() as self.stream:
            self.count: int = 0
            self.below.deeper = self.read_only
"""
    found = built(configured, tmp_path, {"1.0": {"__init__.py": "", "made.py": text}})
    for name in ("Made.left", "Made.right", "Made.stream", "Made.count", "made.LOW", "made.HIGH", "made.REST"):
        assert found.has("1.0", name) is True, name
    for name in ("Made.up", "Made.deeper", "Made.below", "Made.read_only"):
        assert found.has("1.0", name) is False, name


def test_a_method_that_sets_an_inherited_field_leaves_the_field_a_keyword(configured: Settings, tmp_path: Path) -> None:
    text = """\
from pydantic import BaseModel, Field


class Base(BaseModel):
    size: int = Field(1, deprecated="Sizes are found.", alias="no identifier")


class Made(Base):
    def grow(self):
        self.size = 2
"""
    found = built(configured, tmp_path, {"1.0": {"__init__.py": "", "made.py": text}})
    assert found.keywords("1.0", "Made") == Keywords(frozenset({"size"}))
    told = story(found, "Made(size=)")
    assert told is not None and told.deprecation == "Sizes are found."


# Keywords


def test_a_call_takes_the_fields_of_a_class_and_of_its_bases(history: History) -> None:
    before = frozenset({"name", "sub_agents", "model"})
    required = frozenset({"name"})
    assert history.keywords("1.0.0", "LlmAgent") == Keywords(before, required)
    assert history.keywords("1.2.0", "LlmAgent") == Keywords(before | {"timeout", "output_key"}, required)
    assert history.keywords("1.2.0", "google.adk.Agent") == history.keywords("1.2.0", "LlmAgent")


def test_a_field_that_is_not_to_be_set_is_neither_offered_nor_denied(configured: Settings, tmp_path: Path) -> None:
    text = "from pydantic import BaseModel, Field\nclass Made(BaseModel):\n    above: int = Field(1, init=False)\n"
    files = {"__init__.py": "", "made.py": text}
    history = History(HistoryTable.parse(build(configured, tmp_path / "t.gz", {"1.0": files})))
    found = history.keywords("1.0", "Made")
    assert found is not None and not found.names and found.hidden == {"above"}
    assert history.has("1.0", "Made(above=)") is None and history.has("1.0", "Made.above") is True


def test_a_call_takes_the_parameters_of_a_constructor_or_function(history: History) -> None:
    assert history.keywords("1.0.0", "Runner") == Keywords(
        frozenset({"agent", "session_service", "memory_service"}), frozenset({"agent", "session_service"})
    )
    assert history.keywords("1.10.0", "MCPToolset") == Keywords(frozenset({"url", "headers"}), frozenset({"url"}))
    found = history.keywords("1.0.0", "google.adk.tools.search.search")
    assert found == Keywords(frozenset({"query", "limit"}), frozenset({"query"}), open=True)
    assert history.keywords("1.0.0", "McpToolset") is None
    assert history.keywords("1.0.0", "Runner.ready") is None


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
    assert tuple(history.has(version, call) for version in VERSIONS) == had


def test_what_a_validator_reads_before_the_fields_may_be_a_keyword(configured: Settings, tmp_path: Path) -> None:
    text = """\
from pydantic import BaseModel, model_validator
class Made(BaseModel):
    a: int
    @model_validator(mode="before")
    @classmethod
    def read(cls, data):
        data["a"] = data.pop("old", None)
        return data
"""
    files = {"__init__.py": "", "made.py": text}
    history = History(HistoryTable.parse(build(configured, tmp_path / "t.gz", {"1.0": files})))
    assert [history.has("1.0", f"Made({name}=)") for name in ("a", "old", "before", "b")] == [True, None, False, False]


def test_a_class_that_keeps_any_keyword_may_have_any_attribute(configured: Settings, tmp_path: Path) -> None:
    text = """\
from pydantic import BaseModel
class Made(BaseModel, extra="allow"):
    a: int
class Closed(BaseModel):
    a: int
"""
    files = {"__init__.py": "", "made.py": text}
    history = History(HistoryTable.parse(build(configured, tmp_path / "t.gz", {"1.0": files})))
    assert [history.has("1.0", name) for name in ("Made.a", "Made.b", "Closed.b")] == [True, None, False]


MADE: dict[str, tuple[str, set[str], bool]] = {
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
    "extra keywords": (
        "from pydantic import BaseModel\nclass Made(BaseModel, extra='allow'):\n    a: int\n",
        {"a"},
        True,
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


@pytest.mark.parametrize(("text", "fields", "is_open"), MADE.values(), ids=MADE.keys())
def test_classes_of_every_kind_say_what_they_are_made_with(
    configured: Settings, tmp_path: Path, text: str, fields: set[str], is_open: bool
) -> None:
    files = {"__init__.py": "", "made.py": text}
    found = History(HistoryTable.parse(build(configured, tmp_path / "t.gz", {"1.0": files}))).keywords("1.0", "Made")
    assert found is not None
    assert (set(found.names), found.open) == (fields, is_open)


# Stories


def test_a_story_says_what_came_in_and_what_changed(history: History) -> None:
    found = story(history, "LlmAgent")
    assert found is not None
    assert found.path == "google.adk.agents.LlmAgent"
    assert found.spans == (Span("1.0.0", "1.10.0"),) and found.gone_since is None
    assert found.changes == (Change("1.2.0", "parameters `output_key`, `timeout` added"),)
    assert found.sentence == (
        "`LlmAgent`: in every version since 1.0.0; changed in 1.2.0: parameters `output_key`, `timeout` added."
    )
    keyword = story(history, "LlmAgent(output_key=)")
    assert keyword is not None and keyword.facts == ("came in with 1.2.0",)
    assert story(history, "Nothing") is None


def test_a_story_tells_of_a_name_that_went_and_came_back(history: History) -> None:
    found = story(history, "google.adk.tools.search.search")
    assert found is not None
    assert found.spans == (Span("1.0.0", "1.0.0"), Span("1.10.0", "1.10.0"))
    assert "missing after 1.0.0, back with 1.10.0" in found.sentence


def test_a_story_tells_what_must_be_awaited(history: History) -> None:
    found = story(history, "Runner.run")
    assert found is not None and found.changes == (Change("1.10.0", "must be awaited"),)


def test_a_story_tells_of_names_that_are_gone(configured: Settings, tmp_path: Path) -> None:
    versions = {"1.0": {"__init__.py": "class Old: ...\n"}, "2.0": {"__init__.py": ""}, "3.0": {"__init__.py": ""}}
    found = story(History(HistoryTable.parse(build(configured, tmp_path / "t.gz", versions))), "Old")
    assert found is not None and found.gone_since == "2.0"
    assert found.sentence == "`Old`: in the versions up to 1.0; gone since 2.0."


def test_what_takes_the_place_of_a_name_is_told_where_the_code_proves_it(history: History) -> None:
    deprecated = story(history, "MCPToolset")
    assert deprecated is not None
    assert (deprecated.deprecated_since, deprecated.use, deprecated.why) == (
        "1.10.0",
        "google.adk.tools.McpToolset",
        "deprecation",
    )
    alias = story(history, "google.adk.Agent")
    assert alias is not None and (alias.use, alias.why) == ("google.adk.agents.LlmAgent", "alias")
    planner, thinker, kept = (story(history, name) for name in ("Planner", "Thinker", "Kept"))
    assert planner is not None and planner.deprecated_since == "1.10.0" and planner.use is None
    assert thinker is not None and thinker.deprecation == "Deprecated: plans are made by the model."
    assert kept is not None and kept.deprecated_since is None
    plan, think = story(history, "Kept.plan"), story(history, "Kept.think")
    assert plan is not None and plan.deprecated_since == "1.10.0" and plan.use is None
    assert think is not None and think.use == "google.adk.agents.planner.Kept.plan"


def test_a_definition_that_moved_is_found_where_it_is_now(configured: Settings, tmp_path: Path) -> None:
    versions = {
        "1.0": {"__init__.py": "", "old/__init__.py": "from .it import It\n", "old/it.py": "class It: ...\n"},
        "2.0": {
            "__init__.py": "",
            "old/__init__.py": "",
            "old/it.py": "from ..new.it import It\n",
            "new/__init__.py": "from .it import It\n",
            "new/it.py": "class It: ...\n",
        },
    }
    moved = story(History(HistoryTable.parse(build(configured, tmp_path / "t.gz", versions))), "google.adk.old.It")
    assert moved is not None and moved.gone_since == "2.0"
    assert (moved.use, moved.why) == ("google.adk.new.It", "moved")


def test_a_class_that_became_another_name_of_another_class_is_told_with_the_version(
    configured: Settings, tmp_path: Path
) -> None:
    new = {"__init__.py": "class New:\n    def __init__(self, a): ...\n\n\nOld = New\n"}
    versions = {"1.0": {"__init__.py": "class Old: ...\n"}, "2.0": new, "3.0": new}
    found = story(History(HistoryTable.parse(build(configured, tmp_path / "t.gz", versions))), "Old")
    assert found is not None and found.alias_since == "2.0"
    assert found.facts[-1] == "another name of google.adk.New since 2.0"


def test_a_story_is_of_one_path_and_a_lack_of_all(configured: Settings, tmp_path: Path) -> None:
    one, two = "class It:\n    def __init__(self, a): ...\n", "class It:\n    def __init__(self, b): ...\n"
    versions = {
        "1.0": {"__init__.py": "", "one.py": one},
        "2.0": {"__init__.py": ""},
        "3.0": {"__init__.py": "", "one.py": one},
        "4.0": {"__init__.py": "", "one.py": one, "two.py": two},
        "5.0": {"__init__.py": "", "two.py": two},
    }
    found = built(configured, tmp_path, versions)
    told = story(found, "It")
    assert told is not None and told.path == "google.adk.two.It"
    assert told.spans == (Span("4.0", "5.0"),) and told.changes == ()
    assert lack(found, "3.0", "It") is None
    assert told.sentence == "`google.adk.two.It`: came in with 4.0."
    assert lack(found, "2.0", "It") == (
        "google-adk 2.0 has no `It`: the last version that has it is 1.0; it comes back with 3.0."
    )
    # In version 4.0 the name means `two.It`, whose path alone takes `b`.
    assert lack(found, "3.0", "It(b=)") == "google-adk 3.0 has no `It(b=)`: it came in with 4.0."


def test_a_definition_that_is_made_anew_is_no_longer_deprecated(configured: Settings, tmp_path: Path) -> None:
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
    found = built(configured, tmp_path, {"1.0": {"__init__.py": "", "made.py": text}})
    for name, since in (("made.old", None), ("Made.run", None), ("made.left", "1.0")):
        told = story(found, name)
        assert told is not None and told.deprecated_since == since, name


def test_a_lack_is_told_in_one_sentence(history: History) -> None:
    assert lack(history, "1.0.0", "LlmAgent(output_key=)") == (
        "google-adk 1.0.0 has no `LlmAgent(output_key=)`: it came in with 1.2.0."
    )
    assert lack(history, "1.5", "google.adk.tools.search.search") == (
        "google-adk 1.5 (known as 1.2.0, the nearest released version below) has no `google.adk.tools.search.search`: "
        "the last version that has it is 1.0.0; it comes back with 1.10.0."
    )
    assert lack(history, "1.0.0", "google.adk.runners.LlmAgent") == (
        "google-adk 1.0.0 has no `google.adk.runners.LlmAgent`: no version has it; 1.0.0 has "
        "`google.adk.agents.LlmAgent`."
    )
    assert lack(history, "1.0.0", "google.adk.tools.MCPToolset") == (
        "google-adk 1.0.0 has no `google.adk.tools.MCPToolset`: it came in with 1.10.0; "
        "1.0.0 has `google.adk.tools.toolset.MCPToolset`."
    )
    assert lack(history, "1.0.0", "Planner.run") == "google-adk 1.0.0 has no `Planner.run`: it came in with 1.10.0."
    for version, name in (("1.2.0", "LlmAgent"), ("1.2.0", "Nothing"), ("0.1", "LlmAgent"), ("1.0.0", "_hidden")):
        assert lack(history, version, name) is None


def test_names_of_strangers_are_read_as_names_or_not_at_all(history: History) -> None:
    for text in ("a" * 100_000, "." * 500, "LlmAgent(" * 50, "[x](y)", "LlmAgent.\x00"):
        assert history.has("1.0.0", text) in (None, False)
        assert story(history, text) is None
    assert read_call("LlmAgent( output_key = 1)") == ("LlmAgent", "output_key")


# Building


def test_a_table_that_is_extended_has_the_same_bytes_as_one_that_is_built_at_once(
    configured: Settings, tmp_path: Path
) -> None:
    whole = build(configured, tmp_path / "whole.gz", VERSIONS)
    for number, order in enumerate(itertools.permutations(VERSIONS)):
        path = tmp_path / f"{number}.gz"
        for version in order:
            built = build(configured, path, VERSIONS, [version])
        assert built == whole
    assert HistoryTable.parse(whole).dump() == whole
    assert sorted(VERSIONS, key=Version) == list(HistoryTable.parse(whole).versions)


def test_what_the_table_has_is_not_fetched_again(configured: Settings, tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    build(configured, path, VERSIONS, ["1.0.0"])
    fetched: list[str] = []

    def fetch(requirement: Requirement, folder: Path) -> CorpusSource:
        fetched.append(str(requirement))
        return fetch_from(VERSIONS)(requirement, folder)

    report = build_history(configured, path, Progress(), only=list(VERSIONS), first="1.0.0", fetch=fetch)
    assert fetched == ["google-adk==1.10.0", "google-adk==1.2.0"]
    assert report.versions == ("1.0.0", "1.2.0", "1.10.0") and report.added == ("1.10.0", "1.2.0")


def test_the_versions_that_the_registry_offers_are_added_from_the_oldest_that_is_wanted(
    configured: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.releases.history.released_versions", lambda name: ["1.10.0", "1.2.0", "1.0.0"])
    path = tmp_path / "t.gz"
    report = build_history(configured, path, Progress(), first="1.1", fetch=fetch_from(VERSIONS))
    assert report.versions == ("1.2.0", "1.10.0")


def test_a_version_is_added_once_however_it_is_written(configured: Settings, tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    build(configured, path, VERSIONS, ["1.0.0"])
    for only in (["1.0"], ["1", "v1.0.0"], ["1.2.0", "1.2"]):
        build(configured, path, VERSIONS, only)
    assert HistoryTable.parse(path.read_bytes()).versions == ("1.0.0", "1.2.0")


def test_a_run_that_gets_nothing_writes_nothing(configured: Settings, tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    for kept in (False, True):
        if kept:
            build(configured, path, VERSIONS)
        before = path.read_bytes() if kept else None
        with pytest.raises(SourceError, match="No version of google-adk could be read"):
            build(configured, path, VERSIONS, [f"{number}.0" for number in range(50, 56)])
        assert (path.read_bytes() if path.exists() else None) == before


def test_a_version_that_cannot_be_had_is_left_out(configured: Settings, tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    report = build_history(configured, path, Progress(), only=["1.0.0", "7.0.0"], fetch=fetch_from(VERSIONS))
    assert report.left_out == ("7.0.0",) and report.versions == ("1.0.0",)
    with pytest.raises(SourceError, match="No version of google-adk could be read"):
        build_history(configured, tmp_path / "u.gz", Progress(), only=["7.0.0"], fetch=fetch_from(VERSIONS))
    assert not (tmp_path / "u.gz").exists()


def test_a_file_that_is_not_python_costs_no_more_than_its_names(configured: Settings, tmp_path: Path) -> None:
    files = {**FIRST, "runners.py": "class Runner(:\n"}
    found = History(HistoryTable.parse(build(configured, tmp_path / "t.gz", {"1.0": files})))
    assert found.has("1.0", "LlmAgent") is True
    assert found.has("1.0", "google.adk.runners") is False


NO_LINES = b'{"format":1,"distribution":"google-adk","versions":["1.0"],"modules":{"google.adk":1}}'


@pytest.mark.parametrize("data", [b"", b"no gzip", make_table("x", {}).dump()[:-9], gzip.compress(NO_LINES, mtime=0)])
def test_a_damaged_table_is_refused_in_a_sentence(configured: Settings, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="damaged"):
        build(configured, path, VERSIONS)
    assert path.read_bytes() == data


@pytest.mark.parametrize("line", ["It\t0 0", "It\tzero 0 v", "It\t0 0 ", "It"])
def test_a_damaged_line_is_told_in_a_sentence_when_the_name_is_asked_for(line: str) -> None:
    made = HistoryTable("google-adk", ["1.0"], {"google.adk": f"\t0 0 m\n{line}"})
    with pytest.raises(SourceError, match="damaged"):
        History(HistoryTable.parse(made.dump())).has("1.0", "google.adk.It")


def test_what_is_no_version_and_a_table_of_something_else_are_refused(configured: Settings, tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    with pytest.raises(InvalidRequestError, match="is not a version"):
        build(configured, path, VERSIONS, ["latest"])
    path.write_bytes(make_table("other", {"1.0": {"other": {"": "m"}}}).dump())
    with pytest.raises(InvalidRequestError, match="is a table of other"):
        build(configured, path, VERSIONS)


# The script


def test_the_script_adds_versions_to_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unpacked(requirement: Requirement, place: Path, *_: object, **__: object) -> CorpusSource:
        return fetch_from({"99.0.0": FIRST})(requirement, place)

    monkeypatch.setattr("tests.releases.history.open_registry", unpacked)
    table = tmp_path / "history.json.gz"
    shutil.copy(config_file(SHIPPED), table)
    make_releases(["--only", "99.0.0", "--out", str(table)])
    assert "Added 1 of google-adk to" in capsys.readouterr().out
    own = History.load(table)
    assert own.versions == (*History.load().versions, "99.0.0")
    assert own.has("2.13.0", "google.adk.apps.App") is True and own.has("99.0.0", "google.adk.apps.App") is False


def test_the_script_says_in_a_sentence_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_releases(["--only", "latest", "--out", str(tmp_path / "t.gz")])
    assert "is not a version" in capsys.readouterr().err


# The table that ships


def test_the_table_that_ships_answers_and_gives_way_to_a_newer_one(configured: Settings, tmp_path: Path) -> None:
    shipped = History.load()
    assert len(shipped.versions) >= 90 and Version(shipped.versions[-1]) >= Version("2.13.0")
    assert shipped.has("2.13.0", "google.adk.agents.LlmAgent") is True
    assert shipped.has("1.0.0", "google.adk.apps.App") is False
    home = tmp_path / "history.json.gz"
    home.write_bytes(b"damaged")
    assert History.load(home) is shipped
    home.unlink()
    build(configured, home, VERSIONS)
    assert History.load(home) is shipped
    build(configured, home, {"99.0.0": FIRST})
    assert History.load(home).versions == (*VERSIONS, "99.0.0")
    # A table that knows no newer version may be of an older product.
    home.write_bytes(make_table("google-adk", {shipped.versions[-1]: {"google.adk": {"": "m"}}}).dump())
    assert History.load(home) is shipped


def test_the_tests_that_the_first_versions_shipped_are_no_public_api() -> None:
    shipped = History.load()
    assert not [module for module in shipped.table.modules if "tests" in module.split(".")]
    assert lack(shipped, "2.13.0", "roll_die") is None
    assert shipped.has("2.13.0", "sub_agents") is True

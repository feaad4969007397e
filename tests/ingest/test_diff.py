"""What differs between two versions of a made-up package, as people who upgrade are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adk_evidence.api.changes import Changes
from adk_evidence.api.comparison import Comparison
from adk_evidence.errors import InvalidRequestError, SourceError
from adk_evidence.models.difference import Change, SymbolDiff
from adk_evidence.settings import Settings, load_settings
from adk_evidence_cli.main import app
from adk_evidence_cli.versions.diff import compare_symbols
from adk_ingest.progress import Progress
from adk_ingest.releases.wheels import read_releases
from tests.corpora import write_checkout, write_wheel

SEARCH = '''\
class SearchTool:
    """Searches."""

    def find(self, words):
        """Finds pages."""
        pages = self.index.pages(words)
        return [page for page in pages if page.is_open]


SEARCH_LIMIT = 10
'''
OLD = {
    "src/google/adk/__init__.py": "from .runners import Runner\n",
    "src/google/adk/runners.py": '''\
import logging
from typing import Optional, Union

logger = logging.getLogger(__name__)
TIMEOUT = 30


class Runner:
    """Runs an agent."""

    def __init__(self, agent, *, session_service, cache=None):
        self.agent = agent
        self.state = {}

    def run(self, message: str, limit: Optional[int] = None) -> "Union[str, None]":
        """Answers."""
        return self.agent(message)

    def rewind(self, turns):
        """Goes back."""
        found = []
        for turn in turns:
            if turn.is_last:
                found.append(turn)
        return found

    def close(self):
        """Ends."""

    def stop(self, now=False): ...

    @property
    def client(self):
        return object()

    @property
    def size(self):
        return 1

    def _private(self): ...


def make_runner(agent, name="x", cache=None):
    return Runner(agent, session_service=cache)


class RunError(Exception): ...


class TimoutError(RunError): ...


def old_helper(value):
    """Of no use."""
    return value
''',
    "src/google/adk/agents/__init__.py": "from .llm_agent import LlmAgent\n",
    "src/google/adk/agents/llm_agent.py": """\
from pydantic import BaseModel


class LlmAgent(BaseModel):
    name: str
    model: str = "one"
    max_turns: int = 3

    async def answer(self, text): ...

    def describe(self):
        return self.name
""",
    "src/google/adk/tools/__init__.py": "",
    "src/google/adk/tools/search.py": SEARCH,
    "src/google/adk/tools/calendar.py": """\
class CalendarTool:
    def dates(self):
        return []
""",
    "src/google/adk/notes.py": "NAME = 'a'\n",
    "src/google/adk/old/__init__.py": "",
    "src/google/adk/old/things.py": "class Thing:\n    def one(self): ...\n\n\nclass Other:\n    def two(self): ...\n",
}
NEW = {
    "src/google/adk/__init__.py": "from .runners import Runner\n",
    "src/google/adk/runners.py": '''\
import logging
from typing import Optional, Union
import warnings

TIMEOUT = 60


class Runner:
    """Runs an agent or a workflow."""

    def __init__(self, agent, *, session_service, plugins):
        self.agent = agent

    def run(self, message: str, limit: int | None = None) -> str | None:
        """Answers."""
        self.count()
        return self.agent(message)

    def go_back(self, turns):
        """Goes back."""
        found = []
        for turn in turns:
            if turn.is_last:
                found.append(turn)
        return found

    async def close(self):
        """Ends."""

    def stop(self, reason=None, now=False):
        warnings.warn("Use close instead.", DeprecationWarning)

    def count(self): ...

    @LoopCachedProperty
    def client(self):
        return object()

    def size(self):
        return 1


def make_runner(agent, label="x", **kwargs):
    return Runner(agent, session_service=kwargs, plugins=[])


class RunError(Exception): ...


class TimeoutError(RunError): ...
''',
    "src/google/adk/agents/__init__.py": "from ._llm import LlmAgent\n",
    "src/google/adk/agents/_llm.py": '''\
from pydantic import BaseModel


class Base(BaseModel):
    name: str
    owner: str

    def describe(self):
        return self.name


class LlmAgent(Base):
    model: str = "two"

    async def answer(self, text):
        """Answers."""
''',
    "src/google/adk/tools/__init__.py": "",
    "src/google/adk/tools/web/__init__.py": "",
    "src/google/adk/tools/web/search.py": SEARCH,
    "src/google/adk/tools/calendar.py": """\
class CalendarTool:
    def dates( self ):  # as before
        return [ ]
""",
    "src/google/adk/notes.py": "NAME = '\\x1b[31m](http://x) ``` <b>'\n",
    "src/google/adk/workflow.py": "class Workflow:\n    def run(self): ...\n\n\ndef node(): ...\n",
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    return write_wheel(folder, "1.0.0", OLD), write_wheel(folder, "2.0.0", NEW)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    root = tmp_path_factory.mktemp("home")
    return load_settings({"home": root}, user_file=root / "no-settings.yaml")


@pytest.fixture(scope="module")
def whole(settings: Settings, wheels: tuple[Path, Path]) -> SymbolDiff:
    return compare(settings, wheels)


def compare(settings: Settings, wheels: tuple[Path, Path], symbol: str | None = None, **options: Any) -> SymbolDiff:
    old, new = map(str, wheels)
    symbols = (symbol,) if symbol else ()
    return compare_symbols(settings, old, new, symbols, Progress(), allow_network=False, **options)


def change(diff: SymbolDiff, name: str) -> Change:
    found = [one for one in diff.changes if name == one.name]
    assert len(found) == 1, [one.name for one in diff.changes]
    return found[0]


@pytest.mark.parametrize(
    ("name", "kind", "breaking", "details"),
    [
        ("runners.old_helper", "gone", True, ()),
        # The same code under another name; a short definition whose name is spelled correctly now.
        ("Runner.rewind", "renamed", True, ("is called `go_back` now",)),
        ("runners.TimoutError", "renamed", True, ("is called `google.adk.runners.TimeoutError` now",)),
        # Public attributes that no method sets any more.
        ("Runner.state", "gone", True, ()),
        ("tools.search", "moved", True, ("import from `google.adk.tools.web.search` now",)),
        ("old", "gone", True, ("the module is gone",)),
        ("workflow", "added", False, ()),
        (
            "Runner",
            "incompatible",
            True,
            (
                "constructor: parameter `cache` is gone",
                "constructor: new parameter `plugins` is required",
                "docstring changed",
            ),
        ),
        # Another spelling of the same types is no difference.
        ("Runner.run", "text", False, ("code changed",)),
        ("Runner.close", "incompatible", True, ("is a coroutine, to be awaited now, not a plain function",)),
        # A property by a decorator of the project's own is no method.
        ("Runner.client", "text", False, ("has the decorator `LoopCachedProperty` now",)),
        ("Runner.size", "incompatible", True, ("is a method now, not a property",)),
        (
            "Runner.stop",
            "deprecated",
            True,
            ("the order of positional parameters is `reason`, `now` now", "is deprecated: Use close instead."),
        ),
        ("runners.make_runner", "changed", False, ("parameter `cache` is no longer declared; `**kwargs` takes it",)),
        # Fields of a model are its keywords.
        ("agents.LlmAgent.max_turns", "gone", True, ()),
        ("agents.LlmAgent.model", "changed", False, ("its value is `'two'`, not `'one'`",)),
        ("agents.LlmAgent", "incompatible", True, ("constructor: new keyword `owner` is required",)),
        # Its path is lost, although another stays.
        ("agents.llm_agent", "moved", True, ()),
    ],
)
def test_a_difference_is_told_with_what_it_breaks(
    whole: SymbolDiff, name: str, kind: str, breaking: bool, details: tuple[str, ...]
) -> None:
    found = change(whole, f"google.adk.{name}")
    assert (found.change, found.breaking) == (kind, breaking)
    for detail in details:
        assert any(text.startswith(detail) for text in found.details), found.details
    assert found.change != "renamed" or (found.after is not None and found.use == found.after.name)


def test_what_came_or_went_with_a_module_is_told_by_the_module(
    whole: SymbolDiff, settings: Settings, wheels: tuple[Path, Path]
) -> None:
    assert change(whole, "google.adk.old").members == ("google.adk.old.things.Other", "google.adk.old.things.Thing")
    assert change(whole, "google.adk.workflow").members == ("google.adk.workflow.Workflow", "google.adk.workflow.node")
    names = {one.name for one in whole.changes}
    for name, module, kind in (
        ("tools.search.SearchTool", "tools.search", "moved"),
        ("old.things.Thing", "old", "gone"),
        ("workflow.node", "workflow", "added"),
    ):
        assert f"google.adk.{name}" not in names
        found = compare(settings, wheels, f"google.adk.{name}")
        assert [(one.name, one.change) for one in found.changes] == [(f"google.adk.{module}", kind)]
    # Private names and loggers, layout and comments, a member that is inherited now.
    assert not any("_private" in name or name.endswith((".logger", ".describe")) for name in names)
    assert not any("CalendarTool" in name for name in names)


def test_breaking_changes_come_first_and_additions_after_changes(whole: SymbolDiff) -> None:
    breaking = [one.breaking for one in whole.changes]
    assert breaking == sorted(breaking, reverse=True)
    rest = [one.change for one in whole.changes if not one.breaking]
    assert rest.index("changed") < rest.index("added")
    assert whole.counts.breaking == sum(breaking)
    assert sum(whole.counts.by_change.values()) == len(whole.changes)


def test_citations_hold_the_definitions_of_both_versions(whole: SymbolDiff) -> None:
    found = change(whole, "google.adk.runners.TIMEOUT")
    assert found.details == ("its value is `60`, not `30`",)
    assert found.before is not None and found.after is not None
    assert found.before.citation == "adk-python@v1.0.0:src/google/adk/runners.py#L5-L5"
    assert OLD[found.before.path].split("\n")[found.before.lines.start - 1] == "TIMEOUT = 30"
    places = [place for one in whole.changes for place in (one.before, one.after) if place is not None]
    assert {place.verification.state for place in places} == {"exact"}


def test_a_citation_of_a_file_that_changed_meanwhile_is_not_called_exact(settings: Settings, tmp_path: Path) -> None:
    wheels = write_wheel(tmp_path, "3.0.0", OLD), write_wheel(tmp_path, "4.0.0", NEW)
    old, new, table = read_releases(settings, *map(str, wheels), Progress(), allow_network=False)
    comparison = Comparison(old, new, table)
    (settings.paths.corpora / "google-adk-3.0.0/google/adk/runners.py").write_text("# emptied\n")
    pair = next(pair for pair in comparison.pairs if pair.name.endswith("TIMEOUT"))
    found = Changes(comparison).change(pair)
    assert found.before is not None
    assert found.before.verification.state == "unverified"


def test_the_changed_lines_of_a_definition_have_the_numbers_of_their_files(
    settings: Settings, wheels: tuple[Path, Path]
) -> None:
    found = compare(settings, wheels, "Runner.run")
    assert found.symbols == ("google.adk.Runner.run",)
    assert found.changes[0].diff.split("\n") == [
        "--- v1.0.0:src/google/adk/runners.py",
        "+++ v2.0.0:src/google/adk/runners.py",
        "@@ -15,3 +14,4 @@",
        '-    def run(self, message: str, limit: Optional[int] = None) -> "Union[str, None]":',
        "+    def run(self, message: str, limit: int | None = None) -> str | None:",
        '         """Answers."""',
        "+        self.count()",
        "         return self.agent(message)",
    ]


def test_a_package_is_compared_with_all_that_stands_inside(settings: Settings, wheels: tuple[Path, Path]) -> None:
    found = compare(settings, wheels, "google.adk.agents")
    assert found.changes
    assert all(one.name.startswith("google.adk.agents.") for one in found.changes)
    assert not any(one.diff for one in found.changes)
    found = compare(settings, wheels, "google.adk.tools.calendar.CalendarTool")
    assert found.changes == (), "an unchanged definition is cited in both versions"
    assert [place.citation.partition("@")[2][:6] for place in found.unchanged] == ["v1.0.0", "v2.0.0"]


def test_a_path_that_a_module_merely_imported_is_told_when_asked_for(settings: Settings, tmp_path: Path) -> None:
    before = {
        "src/google/adk/__init__.py": "",
        "src/google/adk/one.py": "class One: ...\n",
        "src/google/adk/two.py": "from .one import One\n\n\nclass Two(One): ...\n",
    }
    after = {**before, "src/google/adk/two.py": "from . import one\n\n\nclass Two(one.One): ...\n"}
    wheels = write_wheel(tmp_path, "7.0.0", before), write_wheel(tmp_path, "8.0.0", after)
    assert not compare(settings, wheels).counts.breaking
    found = compare(settings, wheels, "google.adk.two.One")
    assert [(one.name, one.change, one.use) for one in found.changes] == [
        ("google.adk.two.One", "moved", "google.adk.one.One")
    ]
    back = compare(settings, (wheels[1], wheels[0]), "google.adk.two.One")
    assert [(one.name, one.change) for one in back.changes] == [("google.adk.two.One", "added")]


def test_what_is_not_listed_is_counted(settings: Settings, wheels: tuple[Path, Path], whole: SymbolDiff) -> None:
    found = compare(settings, wheels, limit=3)
    assert found.changes == whole.changes[:3]
    assert found.more == len(whole.changes) - 3
    assert found.counts == whole.counts


def test_what_cannot_be_compared_is_refused_in_a_sentence(settings: Settings, wheels: tuple[Path, Path]) -> None:
    with pytest.raises(InvalidRequestError, match=r"Neither 1\.0\.0 nor 2\.0\.0 has a public Nothing"):
        compare(settings, wheels, "Nothing")
    with pytest.raises(InvalidRequestError, match="the same"):
        compare(settings, (wheels[0], wheels[0]))
    with pytest.raises(SourceError):
        compare(settings, (Path("7.7.7"), wheels[1]))


def test_the_command_prints_json_markdown_and_text(
    settings: Settings, wheels: tuple[Path, Path], whole: SymbolDiff
) -> None:
    old, new = map(str, wheels)
    common = ["diff", "--from", old, "--to", new, "--limit", "0", "--offline", "--home", str(settings.paths.root)]
    told = CliRunner().invoke(app, [*common, "--json"])
    assert told.exit_code == 0, told.output
    assert SymbolDiff.model_validate(json.loads(told.stdout)) == whole
    note = CliRunner().invoke(app, [*common, "--markdown"]).stdout
    assert note.startswith("# 1.0.0 to 2.0.0\n")
    assert "- `google.adk.runners.old_helper` (function) gone" in note
    assert "`adk-python@v1.0.0:src/google/adk/runners.py#L5-L5` (exact)" in note
    text = CliRunner().invoke(app, common).stdout
    assert text.index("Breaking changes") < text.index("Other changes") < text.index("New")
    # Texts of the code are no markup.
    assert not any("\x1b[31m" in shown for shown in (told.stdout, note, text)) and "<b>" not in note


def test_the_earlier_version_is_that_of_the_project_in_the_folder(
    settings: Settings, wheels: tuple[Path, Path], whole: SymbolDiff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    common = ["diff", "--to", str(wheels[1]), "--offline", "--home", str(settings.paths.root)]
    told = CliRunner().invoke(app, common)
    assert (told.exit_code, told.stdout) == (2, "")
    assert "--from is missing" in told.stderr
    monkeypatch.setenv("ADK_EVIDENCE_PROJECT__DETECT", "true")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "requirements.txt").write_text("google-adk==1.0.0\n")
    told = CliRunner().invoke(app, [*common, "--limit", "0"])
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith(f"1.0.0 to 2.0.0\n{whole.counts.breaking} breaking;")
    assert "found in requirements.txt" in told.stderr


def compare_module(folder: Path, before: str, after: str) -> dict[str, Change]:
    """What differs in `google.adk.it`, by the names of the definitions in the module."""
    # Unpacked wheels are kept in the home by their versions.
    settings = load_settings({"home": folder / "home"}, user_file=folder / "no-settings.yaml")
    texts = {"9.1.0": before, "9.2.0": after}
    wheels = [
        write_wheel(folder, version, {"src/google/adk/__init__.py": "", "src/google/adk/it.py": text})
        for version, text in texts.items()
    ]
    found = compare(settings, (wheels[0], wheels[1]))
    return {one.name.removeprefix("google.adk.it."): one for one in found.changes}


def test_expressions_of_any_length_are_compared(tmp_path: Path) -> None:
    terms = " + ".join(["'a'"] * 1500)
    union = " | ".join(f"Part{number}" for number in range(1500))
    text = (
        f"VALUE = {terms}\n\n\ndef code():\n    return {terms}\n\n\ndef union(it: {union}): ...\n\n\n"
        f"def default(it={terms}): ...\n\n\n@mark({terms})\ndef marked(): ...\n"
    )
    same = text.replace("Part3 | Part4 ", "Part4 | Part3 ").replace("return ", "return  ")
    assert compare_module(tmp_path / "same", text, same) == {}
    other = "\n".join(line.replace("'a' + 'a'", "'a' + 'b'", 1) for line in text.replace("Part3 ", "Part ").split("\n"))
    found = compare_module(tmp_path / "other", text, other)
    assert found.keys() == {"VALUE", "code", "union", "default", "marked"}
    assert found["code"].details == ("code changed",)
    assert found["union"].details[0].startswith("`it` is `")


BOUND = """\
class It:
    @staticmethod
    def lost(a): ...
    @classmethod
    def made(cls, a): ...
    def kept(self, a): ...
    @staticmethod
    def alike(a): ...
"""
BOUND_OTHERWISE = """\
class It:
    def lost(self, a): ...
    def made(self, a): ...
    @staticmethod
    def kept(a): ...
    @classmethod
    def alike(cls, a): ...
"""


PROPERTY = "class It:\n    def __init__(self) -> int: ...\n\n    @property\n    def size(self) -> int: ...\n"
PLAIN = "import typing_extensions\n\n\ndef it(): ...\n"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            BOUND,
            BOUND_OTHERWISE,
            {
                "It.lost": (True, ("is an instance method now, not a static method",)),
                "It.made": (True, ("is an instance method now, not a class method",)),
                "It.kept": (True, ("is a static method now, not an instance method",)),
                "It.alike": (False, ("is a class method now, not a static method",)),
            },
        ),
        (PROPERTY, PROPERTY.replace("int", "str"), {"It.size": (False, ("gives `str`, not `int`",))}),
        (
            PLAIN,
            PLAIN.replace("def it", '@typing_extensions.deprecated("Use that.")\ndef it'),
            {"it": (False, ("is deprecated: Use that.",))},
        ),
    ],
    ids=["how methods are bound", "what a property gives", "a deprecation"],
)
def test_each_difference_is_told_once_with_what_it_breaks(
    tmp_path: Path, before: str, after: str, told: dict[str, tuple[bool, tuple[str, ...]]]
) -> None:
    found = compare_module(tmp_path, before, after)
    assert {name: (one.breaking, one.details) for name, one in found.items()} == told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "async def it() -> AsyncGenerator[int, None]:\n    yield 1\n",
            "async def it() -> AsyncGenerator[int, None]:\n    return make()\n",
            "is a coroutine, to be awaited now, not an asynchronous generator",
        ),
        (
            "async def it() -> AsyncGenerator[int, None]:\n    raise NotImplementedError\n",
            "async def it() -> 'AsyncGenerator[int, None]':\n    yield 1\n",
            None,
        ),
        (
            "def it() -> AsyncGenerator[int, None]:\n    return make()\n",
            "async def it() -> AsyncGenerator[int, None]:\n    yield 1\n",
            None,
        ),
        ("def it():\n    return []\n", "def it():\n    yield 1\n", "is a generator now, not a plain function"),
        ("def it() -> Iterator[int]:\n    return make()\n", "def it() -> Iterator[int]:\n    yield 1\n", None),
        ("def it():\n    return Open()\n", "@contextmanager\ndef it():\n    yield 1\n", None),
    ],
)
def test_a_body_that_yields_makes_a_generator(tmp_path: Path, before: str, after: str, told: str | None) -> None:
    found = compare_module(tmp_path, before, after)["it"]
    assert found.breaking == (told is not None)
    assert told is None or told in found.details


def test_checkouts_of_one_branch_are_told_apart_by_their_commits(settings: Settings, tmp_path: Path) -> None:
    texts = ("def it(): ...\n", "def it(a): ...\n")
    files = [{"src/google/adk/__init__.py": text} for text in texts]
    folders = tmp_path / "old", tmp_path / "new"
    commits = [write_checkout(folder, one) for folder, one in zip(folders, files, strict=True)]
    found = compare(settings, folders)
    assert (found.before, found.after) == (f"main ({commits[0][:12]})", f"main ({commits[1][:12]})")
    assert found.counts.breaking == 1

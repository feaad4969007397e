"""Ranked targets from code: what is public, what it is called, how it ranks, and sets on disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import adk_evidence.targets.sets as sets
from adk_evidence.api.links import build_export_map
from adk_evidence.api.module import ModuleText
from adk_evidence.errors import IndexMissingError, SourceError, TargetsMissingError
from adk_evidence.symbols.current import CurrentSymbols
from adk_evidence.targets.fields import Fields
from adk_evidence.targets.imports import type_imports
from adk_evidence.targets.members import Members
from adk_evidence.targets.target import Target, Targets, rich_text
from adk_ingest.progress import Progress
from adk_ingest.targets.build import build_targets, read_targets
from adk_ingest.targets.rank import score
from adk_ingest.targets.references import page_rank
from tests.corpora import HashEmbedder, Workplace, change, write_code

pytestmark = pytest.mark.slow

KIT = {
    "src/kit/__init__.py": "from .agents import Agent\n__all__ = ['Agent']\n",
    "src/kit/agents/__init__.py": """\
from ._base import Agent, _load as load_agent
from .planner import Planner

__all__ = ["Agent", "Planner", "load_agent"]
""",
    "src/kit/agents/_base.py": '''\
"""Agents."""


class Agent:
    """Answers a person.

    It calls tools as well.

    Args:
        name: Its name.
    """

    name: str = ""
    """How others call it."""
    secret = 1

    def __init__(self, name: str, *, retries: int = 3) -> None:
        self.name = name

    @property
    def planner(self) -> "Planner":
        """What plans."""

    async def run(self, message: str) -> str:
        """Answer one message."""

    @contextlib.asynccontextmanager
    async def connect(self, model: str) -> "AsyncIterator[Agent]":
        """Speak with a model while the block runs."""
        yield self

    def _hidden(self) -> None:
        """Not for anybody."""

    def reset(self) -> None:
        """For internal framework use only."""


class Helper:
    """Nobody exports it."""


def _load(path: str) -> Agent:
    """Read an agent from a file."""
''',
    "src/kit/agents/planner.py": '''\
"""Planners."""

from typing_extensions import deprecated

from kit.agents._base import Agent


class Planner:
    """Makes a plan for an `Agent`."""

    def plan(self, agent: Agent) -> list[str]:
        """The steps."""


@deprecated("Use Planner.")
class OldPlanner(Planner):
    """The planner before."""


Default = Planner
"""The planner that is used."""
planner = Planner()
Earlier = Planner
step = Planner.plan
_private = Planner()
''',
    "src/kit/shared.py": "from ._impl import Shown, Listed\n__all__ = ['Listed']\n",
    "src/kit/_impl.py": "\n\n".join(
        f"class {name}:\n    '{name} is a class.'\n" for name in ("Shown", "Listed", "Lost")
    ),
    "src/kit/inner.py": '"""This module is for ADK internal use only."""\n\n\ndef helper() -> None:\n    """Help."""\n',
    "src/kit/broken.py": "def broken(:\n",
}
PAGE = "Use `Agent` and its `run`.\n\n```python\nfrom kit.shared import Shown\nfrom kit.agents import Agent\n```\n"


def read(files: dict[str, str], pages: list[str]) -> dict[str, Target]:
    """Targets of a small corpus, by import path."""
    modules = [
        ModuleText(
            path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", "."), path, text
        )
        for path, text in files.items()
    ]
    return {target.import_path: target for target in read_targets(modules, build_export_map(files), pages).targets}


@pytest.fixture(scope="module")
def kit() -> dict[str, Target]:
    return read(KIT, [PAGE])


# What is public


def test_only_public_symbols_are_targets(kit: Any) -> None:
    assert set(kit) == {
        "kit.agents.Agent",
        "kit.agents.Agent.connect",
        "kit.agents.Agent.name",
        "kit.agents.Agent.planner",
        "kit.agents.Agent.run",
        "kit.agents.load_agent",
        "kit.agents.Planner",
        "kit.agents.Planner.plan",
        "kit.agents.planner.OldPlanner",
        "kit.agents.planner.Default",
        "kit.agents.planner.Earlier",
        "kit.shared.Listed",
        "kit.shared.Shown",
    }


def test_a_reexported_symbol_keeps_the_place_of_its_definition(kit: Any) -> None:
    target = kit["kit.agents.load_agent"]
    assert (target.name, target.type, target.path) == ("load_agent", "function", "src/kit/agents/_base.py")
    assert target.signatures == ("load_agent(path: str) -> Agent",)
    assert KIT[target.path].splitlines()[target.lines.start - 1].startswith("def _load")


def test_a_class_has_its_constructor_and_the_signatures_of_its_public_members(kit: Any) -> None:
    agent = kit["kit.agents.Agent"]
    assert agent.summary == "Answers a person. It calls tools as well.", "it stops at a section"
    own, *members = agent.signatures
    assert own == "Agent(name: str, *, retries: int = 3)"
    assert "async run(message: str) -> str" in members and "secret = 1" in members
    assert "async with connect(model: str) -> AsyncIterator[Agent]" in members, "it is entered, not awaited"
    assert not any("_hidden" in member for member in members)


def test_another_name_leads_to_its_symbol_and_borrows_its_summary_only_without_one(kit: Any) -> None:
    target = kit["kit.agents.planner.Default"]
    assert (target.type, target.alias_of) == ("variable", "kit.agents.planner.Planner")
    assert target.summary == "The planner that is used."


def test_another_name_of_a_class_is_public_without_a_docstring(kit: Any) -> None:
    target = kit["kit.agents.planner.Earlier"]
    assert (target.alias_of, target.signatures) == ("kit.agents.planner.Planner", ("Earlier = Planner",))


def test_a_class_has_its_bases_in_the_order_in_which_python_looks_members_up() -> None:
    files = {
        "src/kit/base.py": "class Root: ...\nclass _Hidden(Root): ...\nclass Left(Root): ...\n",
        "src/kit/more.py": "from typing import Generic\nfrom kit.base import Left, _Hidden\nfrom kit import base\n"
        "class Right(base.Root, Generic): ...\nclass Both(Left, Right): ...\nclass Open(_Hidden): ...\n"
        "class Here(There): ...\nclass There(Here): ...\n",
    }
    bases = {target.symbol: target.bases for target in read(files, []).values()}
    assert bases["Both"] == ("kit.base.Left", "kit.more.Right", "kit.base.Root")
    assert bases["Open"] == ("kit.base.Root",) and bases["Root"] == ()
    assert bases["Here"] == ("kit.more.There",)


def test_a_class_has_the_fields_of_its_private_bases() -> None:
    files = {
        "src/kit/_base.py": "from pydantic import BaseModel, Field\n"
        "class Root(BaseModel):\n    key: str | None = None\n    limit: int = Field(ge=1)\n    _cache: int = 0\n",
        "src/kit/more.py": "from kit._base import Root\nclass Config(Root):\n    place: str\n"
        "class Special(Config): ...\n",
    }
    found = read(files, [])
    config = found["kit.more.Config"]
    assert config.bases == () and config.private_fields == ("key: str | None = None", "limit: int = Field(..., ge=1)")
    assert Fields(Targets([config])).of(config) == (
        "place: str",
        "limit: int = Field(..., ge=1)",
        "key: str | None = None",
    )
    # Its base has them already.
    assert found["kit.more.Special"].private_fields == ()
    named = Members(Targets([config])).look_up("Config.limit")
    assert named is not None and [item.target.fqn for item in named.found] == ["kit.more.Config.limit"]


def test_a_class_has_the_methods_of_its_bases_also_by_another_name_of_it() -> None:
    files = {
        "src/kit/base.py": 'class Root:\n    def stop(self):\n        """Stop."""\n\n    def _wait(self): ...\n',
        "src/kit/more.py": "from kit.base import Root\n\n\nclass Runner(Root):\n    limit: int = 3\n\n"
        '    async def run(self, text: str) -> str:\n        """Answer."""\n\n    def pause(self) -> None: ...\n\n\n'
        "Driver = Runner\n",
    }
    found = read(files, [])
    members = Members(Targets(list(found.values())))
    assert set(members.methods(found["kit.more.Runner"])) == {"async run(text)", "pause()", "stop()"}
    assert members.methods(found["kit.more.Driver"]) == members.methods(found["kit.more.Runner"])
    assert members.methods(found["kit.base.Root.stop"]) == ()
    # A class that is no target, as a private one.
    hidden = found["kit.base.Root"].model_copy(update={"fqn": "kit._hidden.Own", "bases": ()})
    assert members.methods(hidden) == ("stop()",)


SYNC = '''\
class Plan:
    """A plan."""

    @property
    def size(self) -> int:
        """How many steps."""

    @size.setter
    def size(self, value: int) -> None:
        """Deprecated: a plan knows its size."""

    def drop_sync(self) -> None:
        """Drop the plan."""
        logger.warning("Deprecated. Please migrate to the async method.")
'''


def test_a_method_that_warns_is_deprecated_and_a_property_whose_setter_alone_is_is_not() -> None:
    found = read({"src/kit/plans.py": SYNC}, [])
    assert [name for name, target in found.items() if target.parts.deprecated] == ["kit.plans.Plan.drop_sync"]
    assert "kit.plans.Plan.size" in found


MODELS = {
    "src/kit/__init__.py": "from .models.made import Made\n__all__ = ['Made']\n",
    "src/kit/models/__init__.py": "from .made import Made\n__all__ = ['Made']\n",
    "src/kit/base.py": "import pydantic\nclass BaseModel(pydantic.BaseModel): ...\n",
    "src/kit/_taken.py": "from elsewhere.flows import Step as Step\n",
    "src/kit/models/made.py": '''\
import typing
from typing import Union
import far.away.keys
import httpx
from made import Client
from .._taken import Step
from elsewhere.schemes import Scheme, Flow as OtherFlow
from pydantic import BaseModel, Field


class Made(BaseModel):
    """Made of fields."""

    key: str | None = None
    """Names it."""
    times: int = Field(default=10, ge=1, description="How often.")
    old: int | None = Field(default=None, description="This will be deprecated soon. Use times.")
    plain: int = 0
    made: typing.ClassVar[int] = 0

    def __init__(self, **data: typing.Any) -> None:
        super().__init__(**data)
        self.key = self.key or make_key()

    def _find(self, model: type[BaseModel]) -> Scheme:
        """Looks it up."""
        def inner(): ...


class Local(Made):
    """Made here."""

    def __init__(self, place: str, model: BaseModel, **data: typing.Any) -> None:
        super().__init__(**data)


class Client:
    """No model."""

    def __init__(self, **options: typing.Any) -> None:
        super().__init__(**options)
        self.speed = 1


class Held(BaseModel):
    """Holds steps."""

    steps: list[Step]
    auth: httpx.Auth | None = Field(default=None)
    key: far.away.keys.Key | None = None
    same: Client | None = None
    made: Made | None = None


AnyScheme = Union[Scheme, OtherFlow, Made, httpx.Auth]
"""Every scheme."""
SameScheme = Scheme
"""Another name."""
_LIMIT = 3


def _load(path: str) -> Made:
    """Read one."""
''',
}


@pytest.fixture(scope="module")
def models() -> dict[str, Target]:
    return {target.symbol: target for target in read(MODELS, []).values()}


def test_a_model_whose_constructor_passes_all_on_is_shown_with_its_fields(models: Any) -> None:
    made = models["Made"]
    assert made.takes_fields and made.signatures == (
        "class Made(BaseModel)",
        "key: str | None = None",
        "times: int = Field(10, ge=1)",
        "old: int | None = None",
        "plain: int = 0",
        "made: typing.ClassVar[int] = 0",
    )
    assert models["Local"].takes_fields and "place: str" in models["Local"].signatures[0]
    assert not models["Client"].takes_fields and models["Client"].signatures[0] == "class Client"


def test_a_described_field_is_a_target_at_its_own_lines(models: Any) -> None:
    times, key = models["Made.times"], models["Made.key"]
    lines = MODELS[times.path].splitlines()
    assert times.summary == "How often." and lines[times.lines.start - 1].strip().startswith("times: int")
    # Not where the constructor assigns it.
    assert lines[key.lines.start - 1].strip() == "key: str | None = None"
    assert "Made.plain" not in models
    assert models["Made.old"].parts.deprecated and not times.parts.deprecated


def test_types_are_those_that_the_module_means(models: Any) -> None:
    # The package has a class of that name as well, which this module does not use.
    assert models["Local"].types == ("pydantic.BaseModel",)
    paths = ("kit.models.Made", "elsewhere.schemes.Scheme", "elsewhere.schemes.Flow as OtherFlow", "httpx")
    assert models["AnyScheme"].types == paths
    assert type_imports(models["AnyScheme"]) == (
        "from kit.models import Made",
        "from elsewhere.schemes import Scheme, Flow as OtherFlow",
        "import httpx",
    )
    # Where it is defined, not where the package passes it on; what is public here is looked up by its name.
    assert models["Held"].types == ("elsewhere.flows.Step", "httpx")
    assert models["SameScheme"].types == ("elsewhere.schemes.Scheme",)


@pytest.mark.parametrize(
    ("shown", "path"),
    [
        ((), "kit.models.Made"),
        (("kit", "kit.models"), "kit.Made"),
        (("kit", "kit.models", "kit.models", "kit.models"), "kit.models.Made"),
        (("kit.models.made",), "kit.models.Made"),
    ],
)
def test_the_import_is_the_shortest_that_docs_use_as_a_rule(shown: tuple[str, ...], path: str) -> None:
    pages = [f"```python\nfrom {package} import Made\n```\n" for package in shown]
    targets = read(MODELS, pages)
    assert path in targets and f"{path}.times" in targets and targets[path].fqn == "kit.models.made.Made"


def test_what_is_not_public_is_kept_apart_with_its_place() -> None:
    modules = [ModuleText("kit.models.made", "src/kit/models/made.py", MODELS["src/kit/models/made.py"])]
    contents = read_targets(modules, {}, [])
    found = {one.symbol: one for one in contents.hidden}
    assert {"Made._find", "_load", "_LIMIT", "Made.__init__"} <= set(found)
    assert not {target.symbol for target in contents.targets} & set(found)
    # Its class lists it; what a function holds nobody can name.
    assert "Made.plain" not in found and not any("inner" in symbol for symbol in found)
    find = found["Made._find"]
    assert (find.type, find.summary, find.fqn) == ("method", "Looks it up.", "kit.models.made.Made._find")
    assert MODELS[find.path].splitlines()[find.lines.start - 1].strip().startswith("def _find")


# Rank


def test_parameters_that_a_docstring_calls_deprecated_are_kept() -> None:
    text = '''
class Runner:
    """Runs.

    Args:
        name: Optional. Deprecated, has no effect.
    """

    def __init__(self, app: str, plugins: list | None = None, other: int = 0, *, name: str = "") -> None:
        """Make one.

        Args:
            app: What runs. Deprecated things are not meant.
            plugins: Deprecated. Use `app`.
            other (int):
                [Deprecated] No longer used.
        """

    def run(self, text: str, mode: str = "", speed: int = 0) -> None:
        """Run it.

        Args:
            text: What is said.
            mode (str): DEPRECATED, no longer read.
            speed: This parameter is deprecated.
        """
'''
    found = {one.symbol: one for one in read_targets([ModuleText("kit.a", "src/kit/a.py", text)], {}, []).targets}
    assert found["Runner"].deprecated_parameters == ("plugins", "other", "name")
    assert found["Runner.run"].deprecated_parameters == ("mode", "speed")


def test_names_of_other_packages_are_kept_with_the_import_that_most_modules_have() -> None:
    rare, usual = "from web.inner import Key\n", "from web.models import Key, Other as Short\nimport web\n"
    own = "from kit.b import X\nfrom .c import Y\nfrom web import *\n\ndef late():\n    from web.late import Late\n"
    texts = {"kit.a": rare + own, "kit.b": usual, "kit.c": usual, "kit.d": "this is no Python ("}
    modules = [ModuleText(name, f"src/{name}.py", text) for name, text in texts.items()]
    assert read_targets(modules, {}, []).outside == {
        "Key": "from web.models import Key",
        "Short": "from web.models import Other as Short",
        "Late": "from web.late import Late",
    }


def test_what_a_distribution_has_itself_is_of_no_other_package() -> None:
    texts = {
        "google.adk.a": "from __future__ import annotations\nfrom google import adk\nfrom google.adk.b import X\n",
        "google.adk.b": "from google.genai import types\nfrom googleapis import Y\n",
        "shop.a": "from shop import helper\nfrom shop.unread.db import Base\n",
    }
    modules = [ModuleText(name, f"src/{name.replace('.', '/')}.py", text) for name, text in texts.items()]
    assert read_targets(modules, {}, []).outside == {
        "types": "from google.genai import types",
        "Y": "from googleapis import Y",
    }


def test_the_score_follows_from_the_parts_that_the_file_shows(kit: Any) -> None:
    for target in kit.values():
        assert target.score == score(target.parts)
    ranked = sorted(kit.values(), key=lambda target: target.rank)
    assert [target.rank for target in ranked] == list(range(1, len(ranked) + 1))
    first, old = ranked[0], kit["kit.agents.planner.OldPlanner"]
    assert first.import_path == "kit.agents.Agent"
    assert first.parts.exported and first.parts.docs_mentions == 1 and first.parts.centrality > 0
    assert old.parts.deprecated and not kit["kit.agents.Planner"].parts.deprecated
    assert old.score == pytest.approx(0.3 * score(old.parts.model_copy(update={"deprecated": False})), abs=1e-4)


def test_a_name_in_the_docs_counts_for_what_the_page_imports_and_words_of_prose_do_not() -> None:
    files = {
        "src/kit/a.py": "class Runner:\n    '''One.'''\n",
        "src/kit/b.py": "class Runner:\n    '''Other.'''\n",
        "src/kit/c.py": "class Event:\n    '''E.'''\n\n\nclass EventLog:\n    '''L.'''\n",
    }
    pages = [
        "```python\nfrom kit.b import Runner\n```\n",
        "The `Runner` runs.\n",
        "Event after Event goes into the EventLog.\n",
    ]
    mentions = {path: target.parts.docs_mentions for path, target in read(files, pages).items()}
    assert mentions == {"kit.a.Runner": 0, "kit.b.Runner": 2, "kit.c.Event": 0, "kit.c.EventLog": 1}


@given(st.integers(1, 12), st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_page_rank_is_a_distribution(nodes: int, pairs: set[tuple[int, int]]) -> None:
    edges = np.array(sorted((a % nodes, b % nodes) for a, b in pairs), dtype=np.int64).reshape(-1, 2)
    rank = page_rank(nodes, np.unique(edges, axis=0))
    assert rank.sum() == pytest.approx(1) and (rank > 0).all()


@settings(max_examples=50)
@given(st.text(max_size=200))
def test_no_source_text_breaks_the_extraction(text: str) -> None:
    read({"src/kit/any.py": text, "src/kit/sound.py": "class Sound:\n    '''S.'''\n"}, [text])


def test_what_no_file_can_hold_is_replaced() -> None:
    source = 'class Odd:\n    "A \\ud800 and \\x00."\n\n    def run(self, text="\\udfff"):\n        "Run."\n'
    odd = read({"src/kit/odd.py": source}, [])["kit.odd.Odd"]
    assert odd.summary == "A \ufffd and \ufffd."
    odd.model_dump_json()


# Sets on disk


def build(workplace: Workplace, **options: Any) -> Path:
    options.setdefault("dense", HashEmbedder())
    return build_targets(workplace.settings, Progress(), **options)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The set of an ingestion, also of one of the docs alone after it."""
    workplace = Workplace(tmp_path_factory.mktemp("built"))
    write_code(workplace.code, {"tests/test_kit.py": "class TestKit:\n    '''T.'''\n"})
    workplace.ingest()
    workplace.ingest("docs")
    (folder,) = workplace.settings.paths.targets.iterdir()
    return folder


def test_a_set_holds_the_files_of_the_specification(built: Path) -> None:
    assert sorted(path.name for path in built.iterdir()) == [
        "about.json",
        "extras.json",
        "hidden_symbols.json",
        "outside_imports.json",
        "ranked_targets.yaml",
        "targets_meta.json",
        "targets_vectors.npy",
    ]
    meta = json.loads((built / "targets_meta.json").read_text())
    vectors = np.load(built / "targets_vectors.npy", allow_pickle=False)
    assert vectors.shape == (len(meta), HashEmbedder.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    listing = yaml.safe_load((built / "ranked_targets.yaml").read_text())
    assert [entry["fqn"] for entry in listing["targets"]] == [entry["fqn"] for entry in meta]
    assert "centrality" in listing["rank"] and {"fqn", "type", "parts"} <= set(listing["targets"][0])
    assert "TestKit" not in {entry["name"] for entry in meta}, "tests of a checkout are no targets"
    for entry, vector in zip(meta, vectors, strict=True):
        text = rich_text(Target.model_validate(entry))
        assert vector == pytest.approx(HashEmbedder().embed_query(text), abs=1e-6)


def test_the_embedded_text_has_the_four_parts(built: Path) -> None:
    entries = json.loads((built / "targets_meta.json").read_text())
    (entry,) = [entry for entry in entries if entry["name"] == "RetryPlugin"]
    lines = rich_text(Target.model_validate(entry)).splitlines()
    assert lines[0] == "Name: RetryPlugin (retry plugin)"
    assert lines[1:3] == ["Type: class", "Docstring: Retries a tool that throws."]
    assert lines[3].startswith("Signatures: RetryPlugin(max_retries: int = MAX_RETRIES); ")
    assert lines[3].endswith("on_tool_error(error: Exception, attempt: int) -> bool")


def test_changed_code_makes_another_set_and_a_rollback_brings_the_earlier_one_back(workplace: Workplace) -> None:
    plugin = workplace.code / "src/google/adk/plugins/retry.py"
    workplace.ingest()
    before = build(workplace)
    shutil.rmtree(before)
    change(plugin, "Retries a tool", "Repeats a tool")
    with pytest.raises(SourceError, match="no longer what was indexed"):
        build(workplace)
    change(plugin, "Repeats a tool", "Retries a tool")
    assert build(workplace) == before
    change(plugin, "Retries a tool", "Repeats a tool")
    embedder = HashEmbedder()
    workplace.ingest(dense=embedder)
    after = build(workplace)
    assert after != before and before.is_dir()
    (embedded,) = (text for text in embedder.embedded if text.startswith("Name: "))
    assert "Repeats a tool" in embedded
    targets = CurrentSymbols(workplace.settings, HashEmbedder())
    assert targets.find("RetryPlugin").results[0].summary.startswith("Repeats")
    shutil.rmtree(after)
    answer = CurrentSymbols(workplace.settings, HashEmbedder()).find("RetryPlugin")
    assert answer.results[0].name == "RetryPlugin" and "earlier state" in answer.warnings[0]
    workplace.generations.rollback()
    answer = targets.find("RetryPlugin")
    assert answer.results[0].summary.startswith("Retries") and not answer.warnings


def test_a_long_constructor_keeps_all_its_parameters_and_searches_read_the_first(tmp_path: Path) -> None:
    parameters = ", ".join(f"parameter_{number}: int = {number}" for number in range(30))
    text = f'class Wide:\n    """Takes much."""\n\n    def __init__(self, {parameters}) -> None: ...\n'
    wide = read({"src/kit/wide.py": text}, [])["kit.wide.Wide"]
    assert wide.signatures[0].endswith("parameter_29: int = 29)")
    assert "parameter_1:" in rich_text(wide) and "parameter_29" not in rich_text(wide)


def test_old_sets_are_removed(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "KEPT_SETS", 1)
    for number in range(3):
        change(workplace.code / "src/google/adk/plugins/retry.py", "MAX_RETRIES = 3", f"N{number} = 1\nMAX_RETRIES = 3")
        workplace.ingest()
    assert 1 <= len(list(workplace.settings.paths.targets.iterdir())) <= 2


def test_without_an_index_or_its_code_there_is_a_sentence(workplace: Workplace) -> None:
    with pytest.raises(IndexMissingError):
        build(workplace)
    workplace.ingest("docs")
    with pytest.raises(TargetsMissingError, match="no code"):
        build(workplace)

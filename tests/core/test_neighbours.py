"""Code is checked against what else the project's environment has installed, by the files of that alone."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from adk_evidence.api.history import History
from adk_evidence.api.table import make_table
from adk_evidence.checks.code import check_code
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.fixes import fix_of
from adk_evidence.checks.remarks import all_remarks, remark_at
from adk_evidence.documents.document import PythonDocument
from adk_evidence.index.neighbours import Environment, neighbours
from adk_evidence.targets.installation import named_beside
from tests.corpora import write_files

ADK = {"google.adk": {"": "m"}, "google.adk.agents": {"": "m", "Agent": "c: ~pydantic.BaseModel", "Agent.name": "r:"}}
API = History(make_table("google-adk", {"2.0.0": ADK})).each[0]
PACKAGES = {
    "google/genai/__init__.py": (
        "import importlib\n"
        "from . import types\n"
        "def __getattr__(name):\n"
        "    if name in {'agents'}:\n"
        "        return importlib.import_module(f'.{name}', __name__)\n"
        "    raise AttributeError(name)\n"
    ),
    "google/genai/agents.py": "class Agent: ...\n",
    "google/genai/_common.py": (
        "import enum, pydantic\n"
        "class BaseModel(pydantic.BaseModel):\n"
        "    model_config = pydantic.ConfigDict(alias_generator=to_camel, populate_by_name=True, extra='forbid')\n"
        "class Word(str, enum.Enum): ...\n"
    ),
    "google/genai/types.py": (
        "from __future__ import annotations\n"
        "from typing import Annotated, Any, Optional, TypedDict\n"
        "from pydantic import Field\n"
        "from . import _common\n"
        "from . import _common as common\n"
        "class Category(_common.Word):\n"
        "    HARM = 'HARM'\n"
        "class Content(_common.BaseModel):\n"
        "    role: Optional[str] = Field(default=None)\n"
        "    max_tokens: Optional[int] = None\n"
        "    note: Annotated[str, Field(default='')]\n"
        "class ContentDict(TypedDict, total=False):\n"
        "    role: str\n"
        "class Open:\n"
        "    def __init__(self, name): ...\n"
        "    def __getattr__(self, name): ...\n"
    ),
    "mcp/__init__.py": "from .client import Parameters, connect\n",
    "mcp/client.py": (
        "from contextlib import asynccontextmanager\n"
        "from pydantic import BaseModel\n"
        "class Parameters(BaseModel):\n"
        "    command: str\n"
        "    args: list[str] = []\n"
        "@asynccontextmanager\n"
        "async def connect(server):\n"
        "    yield server\n"
    ),
    "mcp/types.py": "from mcp_types import *\n",
    "mcp_types/__init__.py": "from ._types import Tool\n__all__ = ['Tool']\n",
    "mcp_types/_types.py": "from pydantic import BaseModel\nclass Tool(BaseModel):\n    name: str\n",
    "a2a/__init__.py": "",
    "a2a/made_pb2.py": "_globals = globals()\n",
    "a2a/card_pb2.py": "_globals = globals()\n",
    "a2a/card_pb2.pyi": (
        "class State(int, metaclass=_wrapper.Wrapper):\n    DONE: State\n"
        "DONE: State\n"
        "class Card(_message.Message):\n    def __init__(self, name: str | None = ...) -> None: ...\n"
    ),
    "a2a/types.py": "from .card_pb2 import Card, State, DONE\nfrom .made_pb2 import Made\n",
    "a2a/lazy.py": "__getattr__, __dir__ = accessors(globals(), {'Card': '.types'})\n",
    "a2a/tests/helper.py": "",
    "a2a/broken.py": "def (",
}
VERSIONS = {"google_genai": "1.2.0", "mcp": "2.3.0", "a2a_sdk": "1.0.1"}


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    site = tmp_path / "env/lib/python3.12/site-packages"
    write_files(site, PACKAGES)
    for name, version in VERSIONS.items():
        write_files(site / f"{name}-{version}.dist-info", {"METADATA": f"Version: {version}\n", "RECORD": ""})
    return Environment(tmp_path / "env", tmp_path / "kept")


@pytest.fixture
def checker(environment: Environment) -> DriftChecker:
    return DriftChecker(API, environment=environment)


def told(checker: DriftChecker, code: str) -> list[str]:
    return [one.text for one in check_code(checker, code).problems]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (
            "from google.genai import types\ntypes.Content(rol='user')",
            "google-genai 1.2.0 has no `Content(rol=)`. The nearest keyword is `role`.",
        ),
        (
            "from google.genai.types import Contents",
            "google-genai 1.2.0 has no `google.genai.types.Contents`. `google.genai.types` has `Content`.",
        ),
        (
            "from google.genai import types\nprint(types.Category.HARMS)",
            "google-genai 1.2.0 has no `Category.HARMS`. `Category` has `HARM`.",
        ),
        (
            "import mcp\nmcp.Parameters(args=[])",
            "`Parameters` of mcp 2.3.0 requires `command`, which the call lacks.",
        ),
        (
            "from mcp import types\ntypes.Tool(nam='x', name='x')",
            "mcp 2.3.0 has no `Tool(nam=)`. `Tool` takes name.",
        ),
        (
            "from a2a.lazy import Card, Cards",
            "a2a-sdk 1.0.1 has no `a2a.lazy.Cards`. `a2a.lazy` has `Card`.",
        ),
        ("import a2a.types as a\na.Card(nme='x')", "a2a-sdk 1.0.1 has no `Card(nme=)`. The nearest keyword is `name`."),
    ],
)
def test_wrong_names_keywords_and_missing_arguments_are_told_with_the_installed_version(
    checker: DriftChecker, code: str, problem: str
) -> None:
    assert told(checker, code) == [problem]


@pytest.mark.parametrize(
    "code",
    [
        "from google.genai import agents, types\nagents.Agent()\ntypes.Content(maxTokens=3, max_tokens=3, role='user')",
        "from google.genai import types\ntypes.ContentDict()\ntypes.ContentDict(role='user')",
        "from google.genai.types import Category\nprint(Category.HARM.value, Category.mro, Category.HARM.upper())",
        "from google.genai.types import Any, Optional, annotations, common",
        "from google.genai import types\nprint(types.common.Word, types.Open('x').whatever)",
        "from google.genai import types\ndef f(word: types.Category): return word.name + word.value + word.upper()",
        "from mcp import Parameters, connect\nmanager = connect(Parameters(command='x'))\nmanager.__aenter__()",
        "from a2a.types import DONE, Card, Made, State\nMade(anything=1)\nState.Name(3)\nprint(State.DONE)",
        "from a2a.made_pb2 import Anything\nfrom a2a.tests.helper import anything\nfrom a2a.broken import more",
        "try:\n    from mcp import Later\nexcept ImportError:\n    Later = None",
        "import mcp.client\nIS_V1 = True\nif IS_V1:\n    from mcp import Older\nelse:\n    mcp.client.older()",
    ],
)
def test_what_may_be_right_is_not_told(checker: DriftChecker, code: str) -> None:
    assert told(checker, code) == []


def test_only_what_is_installed_is_checked(checker: DriftChecker, environment: Environment) -> None:
    (environment.python / "lib/python3.12/site-packages/mcp-2.3.0.dist-info/METADATA").unlink()
    assert told(checker, "from mcp import Nothing") == []
    assert told(DriftChecker(API), "from google.genai import nothing") == []


def test_the_adk_takes_values_of_neighbours_and_both_are_named(checker: DriftChecker) -> None:
    code = "from google.adk.agents import Agent\nfrom google.genai import types\nAgent(name=types.Content(role='user'))"
    found = check_code(checker, code)
    assert found.summary.startswith(
        "No problem was found: the code fits google-adk 2.0.0 and google-genai 1.2.0 as far"
    )
    assert "google.genai.types.Content(role=)" in found.confirmed


def test_editors_tell_and_mend_the_same(checker: DriftChecker) -> None:
    document = PythonDocument("from google.genai import types\ntypes.Content(rol='user')")
    (remark,) = all_remarks(checker, document)
    assert remark_at(checker, document, 1, remark.start) == remark
    fix = fix_of(checker, document, remark)
    assert fix is not None
    assert fix.title == "Change to role"


def test_what_was_read_is_kept_until_something_else_is_installed(environment: Environment) -> None:
    site = environment.python / "lib/python3.12/site-packages"
    told(DriftChecker(API, environment=environment), "from mcp import Parameters")
    (site / "mcp/client.py").write_text("")
    again = environment._replace(kept=environment.kept.rename(environment.kept.with_name("again")))
    assert told(DriftChecker(API, environment=again), "from mcp.client import Parameters, Nothing") == [
        "mcp 2.3.0 has no `mcp.client.Nothing`."
    ]
    os.utime(site / "mcp-2.3.0.dist-info/RECORD", ns=(1, 1))
    problems = told(DriftChecker(API, environment=again), "from mcp.client import Parameters")
    assert problems == ["mcp 2.3.0 has no `mcp.client.Parameters`."]


def test_damaged_notes_of_what_was_read_are_written_anew(environment: Environment) -> None:
    told(DriftChecker(API, environment=environment), "from mcp import Parameters")
    again = environment._replace(kept=environment.kept.rename(environment.kept.with_name("again")))
    (kept,) = again.kept.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(b"damaged")
    assert told(DriftChecker(API, environment=again), "from mcp import Parameters") == []
    assert kept.read_bytes() == whole


@pytest.mark.parametrize(
    ("name", "signature", "fields", "citation"),
    [
        (
            "types.Content",
            "class Content(_common.BaseModel)",
            (
                "max_tokens: Optional[int] = None",
                "note: Annotated[str, Field(default='')]",
                "role: Optional[str] = None",
            ),
            "google-genai@1.2.0:google/genai/types.py#L8-L11",
        ),
        (
            "Category",
            "class Category(_common.Word)",
            ("HARM = 'HARM'",),
            "google-genai@1.2.0:google/genai/types.py#L6-L7",
        ),
        ("a2a.types.Card", "Card(name: str | None=...)", (), "a2a-sdk@1.0.1:a2a/card_pb2.pyi#L4-L5"),
        ("Tool", "class Tool(BaseModel)", ("name: str",), "mcp@2.3.0:mcp_types/_types.py#L2-L3"),
    ],
)
def test_a_symbol_is_found_with_its_fields_and_lines(
    environment: Environment, name: str, signature: str, fields: tuple[str, ...], citation: str
) -> None:
    (found,) = named_beside(environment, name)
    assert (found.signature, found.fields, found.citation) == (signature, fields, citation)


def test_methods_are_shown_as_they_are_called(environment: Environment) -> None:
    write_files(
        environment.python / "lib/python3.12/site-packages",
        {"mcp/client.py": "class Session:\n    async def ask(self, text, *, limit=3):\n        'Asks.'\n"},
    )
    assert [one.methods for one in named_beside(environment, "client.Session")] == [("async ask(text, *, limit=...)",)]
    (method,) = named_beside(environment, "Session.ask")
    assert (method.type, method.summary) == ("method", "Asks.")
    assert named_beside(environment, "Sessions") == []


def test_nothing_that_an_installed_package_has_is_ever_denied(tmp_path: Path) -> None:
    (found,) = neighbours(Environment(Path(sys.executable), tmp_path), {"mcp"})
    importlib.import_module("mcp")
    seen: set[type] = set()
    for name in found.api.history.table.modules.keys() & sys.modules.keys():
        for path, value in ((f"{name}.{one}", getattr(sys.modules[name], one)) for one in dir(sys.modules[name])):
            assert found.api.has(path) is not False, path
            if not isinstance(value, type) or value in seen:
                continue
            seen.add(value)
            assert not [one for one in dir(value) if found.api.has(f"{path}.{one}") is False]
            known = found.api.keywords(path) if issubclass(value, BaseModel) else None
            if known is not None:
                assert known.required <= {one for one, about in value.model_fields.items() if about.is_required()}
                assert known.open or value.model_fields.keys() <= known.names
    assert len(seen) > 300

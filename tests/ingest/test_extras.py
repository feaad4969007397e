"""Which extra of a distribution an import needs, from what the code imports and the distribution requires."""

from pathlib import Path
from textwrap import dedent

import pytest

from adk_evidence.api.module import ModuleText
from adk_ingest.targets.build import read_targets
from adk_ingest.targets.extras import Declared, declared_at

METADATA = """\
Metadata-Version: 2.4
Name: my-kit
Version: 1.0
Requires-Dist: httpx>=0.27
Requires-Dist: python-dotenv
Requires-Dist: not a requirement!
Requires-Dist: mcp>=1.24 ; extra == "mcp"
Requires-Dist: anyio ; extra == "mcp"
Requires-Dist: crew ; extra == "all" and python_version < "3.12"
Requires-Dist: mcp ; extra == "all"
"""
PROJECT = """\
[project]
name = "My_Kit"
dependencies = ["httpx>=0.27", "python-dotenv"]
[project.optional-dependencies]
mcp = ["mcp>=1.24", "anyio"]
all = ["my-kit[mcp]", "crew; python_version < '3.12'"]
"""
EXPECTED = Declared(
    "my-kit",
    frozenset({"httpx", "python-dotenv"}),
    {"mcp": frozenset({"mcp", "anyio"}), "all": frozenset({"mcp", "anyio", "crew"})},
)


class TestDeclared:
    def test_a_wheel_tells_it_in_its_metadata_and_a_checkout_in_its_pyproject(self, tmp_path: Path) -> None:
        folder = tmp_path / "my_kit-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(METADATA)
        found = declared_at(tmp_path, "my-kit")
        assert found is not None and (found.always, found.extras["mcp"]) == (EXPECTED.always, EXPECTED.extras["mcp"])
        assert found.extras["all"] == {"crew", "mcp"}
        assert declared_at(tmp_path, "my") is None
        checkout = tmp_path / "checkout"
        checkout.mkdir()
        (checkout / "pyproject.toml").write_text(PROJECT)
        assert declared_at(checkout, "my-kit") == EXPECTED
        assert declared_at(checkout, "kit") is None, "a project of another name"

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[project]\nname = 'my-kit'\ndependencies = 3",
            "[project]\nname = 'my-kit'\noptional-dependencies = ['mcp']",
            "[project]\nname = 4",
            "project = 'my-kit'",
            "[project",
        ],
    )
    def test_what_cannot_be_read_tells_nothing(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "pyproject.toml").write_text(text)
        assert declared_at(tmp_path, "my-kit") is None and declared_at(tmp_path / "none", "my-kit") is None


KIT = Declared(
    "my-kit",
    frozenset({"httpx", "python-dotenv", "google-genai"}),
    {
        "a2a": frozenset({"a2a-sdk"}),
        "mcp": frozenset({"mcp", "anyio", "aiohttp"}),
        "db": frozenset({"sqlalchemy"}),
        "gcp": frozenset({"google-cloud-bigquery", "google-cloud-pubsub", "google-api-python-client"}),
        "analytics": frozenset({"google-cloud-bigquery"}),
        "extensions": frozenset({"litellm", "llama-index-core", "llama-index-readers", "mcp", "x1", "x2"}),
        "all": frozenset({"a2a-sdk", "mcp", "sqlalchemy", "litellm", "pytest"}),
        "test": frozenset({"pytest", "a2a-sdk", "mcp"}),
    },
)


def needs(**files: str) -> dict[str, str]:
    """What the imports of the classes in the modules of a package `kit` need; `a__b` is the file `kit/a/b.py`."""
    named = {name.replace("__", "/"): dedent(text) for name, text in {"init": "", **files}.items()}
    modules = [
        ModuleText(
            f"kit.{name}".removesuffix("init").rstrip("./").replace("/", "."),
            f"kit/{name.removesuffix('init')}{'__init__' if name.endswith('init') else ''}.py",
            text,
        )
        for name, text in named.items()
    ]
    targets = read_targets(modules, {}, [], KIT).targets
    return {target.name: target.needs for target in targets if target.type == "class"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import mcp.types", "my-kit[mcp]"),
        ("from a2a.client import Client", "my-kit[a2a]"),
        ("from google.cloud import pubsub_v1", "my-kit[gcp]"),
        ("from googleapiclient.discovery import build", "my-kit[gcp]"),
        ("from google.cloud.bigquery import Client", "my-kit[analytics]"),
        # A module that names the extra knows better.
        ("from google.cloud import bigquery\nHINT = 'pip install my-kit[gcp]'", "my-kit[gcp]"),
        ("import pytest", "my-kit[test]"),
        ("import mcp\nimport sqlalchemy as sa", "my-kit[db,mcp]"),
        # What always is there, comes with what is, or is of nobody knows what.
        ("import json, httpx, dotenv\nfrom google.genai import types\nimport anyio\nimport google.auth, what", ""),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import mcp", ""),
        ("import typing\nif not typing.TYPE_CHECKING:\n    import mcp", "my-kit[mcp]"),
        ("try:\n    import mcp\nexcept ImportError:\n    mcp = None", ""),
        ("try:\n    import mcp\nexcept (ValueError, ModuleNotFoundError) as e:\n    raise E() from e", "my-kit[mcp]"),
        ("try:\n    import mcp\nexcept:\n    mcp = None\nfinally:\n    import sqlalchemy", "my-kit[db]"),
        ("def load():\n    import mcp", ""),
        (
            "if not find('litellm'):\n    raise ImportError('Try: pip install my-kit[extensions].')",
            "my-kit[extensions]",
        ),
        ("if not find('litellm'):\n    raise ImportError('Try: pip install my-kit[what].')", ""),
    ],
)
def test_an_import_needs_the_extra_that_brings_what_the_module_imports(text: str, expected: str) -> None:
    body = f"{text}\n\n\nclass Tool:\n    '''A tool.'''\n"
    assert needs(tool=body) == {"Tool": expected}


def test_what_a_module_and_its_packages_import_is_needed_as_well() -> None:
    found = needs(
        tools__init="from .base import Base",
        tools__base="class Base:\n    '''A base.'''",
        tools__remote="from .session import Session\n\nclass Remote:\n    '''A tool.'''",
        tools__session="import mcp\nfrom .remote import Remote\n\nclass Session:\n    '''A session.'''",
        db__init="import sqlalchemy",
        db__store="class Store:\n    '''A store.'''",
        plain="from kit.tools import Base\nimport kit.tools.base\n\nclass Plain:\n    '''Plain.'''",
        wide="import kit.db\n\nclass Wide:\n    '''Wide.'''",
    )
    assert found == {
        "Base": "",
        "Remote": "my-kit[mcp]",
        "Session": "my-kit[mcp]",
        "Store": "my-kit[db]",
        "Plain": "",
        "Wide": "my-kit[db]",
    }


def test_the_statement_that_imports_a_symbol_says_what_the_import_needs() -> None:
    modules = [
        ModuleText("kit", "kit/__init__.py", ""),
        ModuleText(
            "kit.tool", "kit/tool.py", "import mcp\n\nclass Tool:\n    'A tool.'\n\n    def go(self):\n        'Go.'\n"
        ),
    ]
    with_extras = {target.symbol: target for target in read_targets(modules, {}, [], KIT).targets}
    assert with_extras["Tool"].import_statement == "from kit.tool import Tool  # needs my-kit[mcp]"
    assert with_extras["Tool.go"].import_statement == with_extras["Tool"].import_statement
    assert {target.needs for target in read_targets(modules, {}, []).targets} == {""}
    text = """
        import httpx, json, what.is_this
        try:
            import mcp.types
        except ImportError:
            pass

        def load():
            from google.cloud import bigquery, pubsub_v1 as pubsub
        """
    optional = read_targets([ModuleText("kit", "kit/__init__.py", dedent(text))], {}, [], KIT).extras
    assert optional == {
        "google.cloud.bigquery": "my-kit[analytics]",
        "google.cloud.pubsub_v1": "my-kit[gcp]",
        "mcp": "my-kit[mcp]",
    }

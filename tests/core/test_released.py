"""What a question is told of names that the searched version of the ADK lacks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from adk_evidence.embedding.base import Once
from adk_evidence.search.candidates.releases import missing_extras, names_in_error, told_by_releases
from adk_evidence.settings import load_settings
from adk_evidence.targets.about import About
from adk_evidence.targets.search import TargetSearch
from adk_evidence.targets.sets import TargetSet
from tests.core.factories import question


def run_on(version: str | None) -> SimpleNamespace:
    """A request to the index of a version."""
    return SimpleNamespace(settings=load_settings({}), scope=SimpleNamespace(version=version))


@pytest.mark.parametrize(
    ("version", "name", "said"),
    [
        ("2.13.0", "BaseEventsCompactor", "the last version that has it is 1.15.1."),
        ("1.4.2", "App", "it came in with 1.14.0."),
        ("2.13.0", "session_db_url", "the last version that has it is 1.33.0."),
        ("1.0.0", "artifact_storage_uri", "it came in with 1.2.0."),
        ("2.13.0", "TextPart", None),
        ("2.13.0", "my_own_helper", None),
        ("99.0.0", "BaseEventsCompactor", None),
        (None, "BaseEventsCompactor", None),
    ],
)
def test_a_name_of_another_version_is_told_with_that_version(version: str | None, name: str, said: str | None) -> None:
    told = told_by_releases(run_on(version), name)
    assert told == (f"google-adk {version} has no `{name}`: {said}" if said else None)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("ModuleNotFoundError: No module named 'google.adk.apps'", "`google.adk.apps`: it came in with 1.14.0"),
        (
            "ImportError: cannot import name 'App' from 'google.adk.apps' (/x/apps/__init__.py)",
            "`google.adk.apps.App`: it came in with 1.14.0",
        ),
        (
            "AttributeError: module 'google.adk.agents' has no attribute 'ManagedAgent'",
            "`google.adk.agents.ManagedAgent`: it came in with 2.4.0",
        ),
        (
            "TypeError: Runner.__init__() got an unexpected keyword argument 'app'",
            "`Runner(app=)`: it came in with 1.14.0",
        ),
    ],
)
def test_an_error_that_misses_a_name_of_a_later_version_is_told_of_that_version(error: str, said: str) -> None:
    run = run_on("1.4.2")
    run.query = SimpleNamespace(text=f"Traceback (most recent call last):\n{error}")
    ((_, told),) = names_in_error(run)
    assert said in told
    run.scope.version = "2.13.0"
    assert names_in_error(run) == []


def test_an_error_that_misses_something_else_is_told_nothing_and_soon_read() -> None:
    run = run_on("1.4.2")
    for text in (
        "No module named 'numpy'",
        "f() got an unexpected keyword argument 'x'",
        "google.adk." * 50_000,
        "a." * 99_999,
    ):
        run.query = SimpleNamespace(text=text)
        assert names_in_error(run) == []


EXTRAS = {
    "mcp": "google-adk[mcp]",
    "google.cloud.storage": "google-adk[gcp]",
    "google.cloud.firestore": "google-adk[extensions]",
    "kube.client": "google-adk[k8s]",
}


def lacking(text: str, version: str = "2.13.0", about: str = "v2.13.0") -> list[str]:
    """What a question is told that is answered from a version, while the targets are of the version `about`."""
    made_of = About(
        repo="google/adk-python",
        commit=about,
        ref=about,
        corpora="",
        code="",
        model="",
        dimension=1,
        built_at="",
        targets=0,
    )
    search = TargetSearch(TargetSet(made_of, [], None), load_settings({}), lambda _: [])
    search._extras = Once(lambda: EXTRAS)
    asked = question(text, scope=SimpleNamespace(version=version), targets=lambda: search)
    return [warning.text for warning in missing_extras(asked)]


@pytest.mark.parametrize(
    ("text", "module", "extra"),
    [
        ("ModuleNotFoundError: No module named 'mcp'", "mcp", "mcp"),
        ("No module named 'mcp.types'; what now?", "mcp.types", "mcp"),
        ("/usr/bin/python: No module named mcp", "mcp", "mcp"),
        ("No module named 'kube'", "kube", "k8s"),
        (
            "ImportError: cannot import name 'storage' from 'google.cloud' (unknown location)",
            "google.cloud.storage",
            "gcp",
        ),
    ],
)
def test_a_package_that_is_missing_is_told_with_the_extra_that_brings_it(text: str, module: str, extra: str) -> None:
    command = f'`pip install "google-adk[{extra}]"`'
    assert lacking(text) == [f"google-adk 2.13.0 has an extra that brings `{module}`: {command}."]


@pytest.mark.parametrize(
    "text", ["No module named 'google.cloud'", "No module named 'mcpx'", "cannot import name 'Tool' from 'mcp'", "mcp"]
)
def test_nothing_is_told_of_packages_that_no_extra_or_several_bring(text: str) -> None:
    assert lacking(text) == []


def test_the_extras_of_another_version_are_not_told() -> None:
    assert lacking("No module named 'mcp'", version="1.18.0") == []

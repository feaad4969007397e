"""Fixtures that several folders of tests share."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from adk_evidence.commands import remember_options
from adk_evidence.embedding.minilm.model import MODEL, prepare_minilm
from adk_evidence.errors import ModelError
from adk_evidence.settings import load_settings
from tests.corpora import Workplace
from tests.standins.qdrant_definition import take_deviations

# No test asserts how fast a busy machine is.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# The folders that fixtures of modules and classes have made. An index takes 400 MB where the temporary folder is in
# memory, and pytest itself keeps these folders until the whole run ends.
_folders: dict[object, set[Path]] = {}


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    if fixturedef.scope == "session" or "tmp_path_factory" not in fixturedef.argnames:
        return (yield)
    base = request.getfixturevalue("tmp_path_factory").getbasetemp()
    before = set(base.iterdir())
    try:
        return (yield)
    finally:
        _folders[fixturedef] = set(base.iterdir()) - before


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[Any]) -> None:
    for folder in _folders.pop(fixturedef, ()):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _as_qdrant_defines() -> Iterator[None]:
    """What a test's stand-ins of Qdrant were asked and answered is what Qdrant defines."""
    yield
    found = take_deviations()
    assert not found, "not as Qdrant defines it:\n" + "\n".join(found)


@pytest.fixture(autouse=True)
def _no_options_of_the_test_before() -> Iterator[None]:
    """Each test is a process of its own for the commands that sentences name."""
    yield
    remember_options(None, None)


@pytest.fixture(autouse=True)
def _no_project_around_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers do not depend on where the tests run."""
    monkeypatch.setenv("ADK_EVIDENCE_PROJECT__DETECT", "false")


@pytest.fixture
def without_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The test sees neither the user's settings nor the user's home folder of the product."""
    for name in [name for name in os.environ if name.startswith("ADK_EVIDENCE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ADK_EVIDENCE_PROJECT__DETECT", "false")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """A fresh home with small corpora beside it; nothing is ingested yet."""
    return Workplace(tmp_path)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The small corpora and their index, which no test of a module changes."""
    place = Workplace(tmp_path_factory.mktemp("indexed"))
    place.ingest()
    return place


@pytest.fixture(scope="session")
def models() -> Path:
    """The user's folder of prepared models; the model is fetched as the product does it."""
    settings = load_settings()
    try:
        prepare_minilm(settings.paths.models, named_folder=settings.embedding.dense.folder_of(MODEL))
    except ModelError as exc:
        pytest.skip(f"NO MODEL, NOT TESTED: {exc}")
    return settings.paths.models


@pytest.fixture
def collector_as_before() -> Iterator[None]:
    """Gives the garbage collector its thresholds and objects back after a test."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()

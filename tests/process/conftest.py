"""The command lines, called in the process of the tests, without a model and without what is on the machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import CliRunner, Result

from adk_evidence.search import session as retrieval
from adk_evidence.symbols import current
from adk_evidence_eval import variants
from adk_ingest import pipeline as ingestion
from adk_ingest.targets import build, present
from tests.corpora import HashEmbedder

Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, without_user_settings: None) -> None:
    """No test looks for a model, or for the google-adk of the user's environment."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(variable, raising=False)
    for module in (retrieval, ingestion, variants):
        monkeypatch.setattr(module, "make_dense", lambda *_, **__: HashEmbedder())
    for module in (current, build, present):
        monkeypatch.setattr(module, "make_target_embedder", lambda *_, **__: HashEmbedder())


def call(app: object, *arguments: object, stdin: bytes | str | None = None) -> Result:
    """A command line, called in this process."""
    return CliRunner().invoke(app, [*map(str, arguments)], input=stdin)  # type: ignore[arg-type]


def sentence(result: Result, code: int, *parts: str) -> str:
    """The error, which is a sentence on stderr, of a command that ended with this code."""
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output and not result.stdout
    assert result.stderr.startswith("error: ")
    for part in parts:
        assert part in result.stderr
    return result.stderr

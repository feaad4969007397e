"""How the evidence on a question differs between the indexes of two versions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adk_evidence.api.history import History
from adk_evidence.api.table import make_table
from adk_evidence.models.difference import EvidenceDiff, ResultDiff
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.render.difference import evidence_markdown
from adk_evidence.search.compared import compare_answers
from adk_evidence_cli.main import app
from adk_ingest.session import Sources
from tests.corpora import CODE, Workplace, write_docs, write_wheel

pytestmark = pytest.mark.slow

RETRY = CODE["src/google/adk/plugins/retry.py"]
OLD = {
    **CODE,
    "src/google/adk/plugins/waiting.py": '''\
"""Waits before a failed tool is called again."""


def wait_for_retry(attempt: int) -> None:
    """Wait before a failed tool is called again by the retry plugin."""
    for second in range(attempt):
        print("the failed tool is called again in", attempt - second, "seconds")


def give_up_retry(error: Exception) -> str:
    """What the retry plugin answers when a failed tool is not called again."""
    return f"the failed tool is not called again: {error}"
''',
}
NEW = {
    **CODE,
    "src/google/adk/plugins/retry.py": RETRY.replace(
        "def on_tool_error(self, error: Exception, attempt: int) -> bool:",
        "def on_tool_error(self, error: Exception, attempt: int, *, fatal: bool) -> bool:",
    ).replace("return attempt < self.max_retries", "return not fatal and attempt < self.max_retries"),
    "src/google/adk/plugins/pauses.py": '''\
"""Waits before a failed tool is called again."""

# Moved here.


def wait_for_retry(attempt: int) -> None:
    """Wait before a failed tool is called again by the retry plugin."""
    for second in range(attempt):
        print("the failed tool is called again in", attempt - second, "seconds")


def retry_budget(tools: list[str]) -> int:
    """How often all failed tools together are called again by the retry plugin."""
    return 3 * len(tools)
''',
}
QUESTION = "when is a failed tool called again by the retry plugin?"
DOCS = {
    "mkdocs.yml": "site_name: Small docs\nnav:\n  - Retry: retry.md\n",
    "docs/retry.md": (
        "# Retry a failed tool\n\nThe retry plugin calls a failed tool again.\n\n"
        "```python\nfrom google.adk.plugins import RetryPlugin\n"
        "from google.adk.plugins.pauses import retry_budget\n```\n"
    ),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workplace, Workplace]]:
    root = tmp_path_factory.mktemp("versions")
    docs = write_docs(root / "same-docs", DOCS)
    made = []
    for version, code in (("1.0.0", OLD), ("2.0.0", NEW)):
        place = Workplace(root / version)
        wheel = write_wheel(root / "wheels", version, code)
        place.ingest(sources=Sources(docs=str(docs), code=str(wheel), allow_network=False))
        made.append(place)
    yield made[0], made[1]


@pytest.fixture(scope="module")
def history() -> History:
    old = {"google.adk": {"": "m"}, "google.adk.plugins": {"": "m", "RetryPlugin": "c:"}}
    new = {**old, "google.adk.plugins.pauses": {"": "m", "retry_budget": "f:tools"}}
    return History(make_table("google-adk", {"1.0.0": old, "2.0.0": new}))


def compare(places: tuple[Workplace, Workplace], history: History, limit: int = 0) -> EvidenceDiff:
    with ExitStack() as stack:
        services = [stack.enter_context(closing(place.service())) for place in places]
        old, new = (stack.enter_context(service.session()) for service in services)
        request = EvidenceRequest(query=QUESTION, max_results_final=12)
        return compare_answers(request, ("1.0.0", old), ("2.0.0", new), history, limit=limit)


@pytest.fixture(scope="module")
def found(places: tuple[Workplace, Workplace], history: History) -> EvidenceDiff:
    return compare(places, history)


def result(found: EvidenceDiff, name: str) -> ResultDiff:
    named = [one for one in found.results if one.name == name]
    assert len(named) == 1, [(one.name, one.state) for one in found.results]
    return named[0]


def test_a_definition_that_changed_is_compared_line_by_line(found: EvidenceDiff) -> None:
    changed = next(one for one in found.results if one.name.startswith("RetryPlugin") and one.state == "changed")
    assert "+        return not fatal and attempt < self.max_retries" in changed.diff
    assert "-        return attempt < self.max_retries" in changed.diff
    assert changed.before is not None and changed.after is not None
    assert "@v1.0.0:" in changed.before.citation
    assert "@v2.0.0:" in changed.after.citation


def test_a_text_that_stands_in_another_file_is_moved(found: EvidenceDiff) -> None:
    moved = result(found, "wait_for_retry")
    assert (moved.state, moved.diff) == ("moved", "")
    assert moved.before is not None and moved.after is not None
    assert moved.before.path.endswith("waiting.py")
    assert moved.after.path.endswith("pauses.py")
    lines = NEW[moved.after.path].split("\n")
    assert moved.after.lines is not None
    assert lines[moved.after.lines.start - 1] == "def wait_for_retry(attempt: int) -> None:"


def test_what_only_one_version_has_is_told_apart(found: EvidenceDiff) -> None:
    gone, came = result(found, "give_up_retry"), result(found, "retry_budget")
    assert (gone.state, gone.after) == ("only before", None)
    assert (came.state, came.before) == ("only after", None)


def test_a_text_that_stays_is_the_same_whatever_the_ranking_says(found: EvidenceDiff) -> None:
    stays = [one for one in found.results if one.state == "same"]
    assert all(one.before is not None and one.after is not None and not one.diff for one in stays)
    for one in found.results:
        # Whatever either version still holds is not called gone because the other answer lacks it.
        if one.state in ("only before", "only after"):
            assert one.name in ("give_up_retry", "retry_budget") or "waiting" in one.name or "pauses" in one.name


def test_docs_are_listed_once_with_what_one_version_lacks(found: EvidenceDiff) -> None:
    page = [doc for doc in found.docs if "Retry a failed tool" in doc.title]
    assert len(page) == 1
    assert page[0].rank_before is not None and page[0].rank_after is not None
    assert page[0].versions == (
        "google-adk 1.0.0 has no `google.adk.plugins.pauses.retry_budget`: it came in with 2.0.0.",
    )


def test_citations_of_both_sides_hold(found: EvidenceDiff) -> None:
    texts = [one for result in found.results for one in (result.before, result.after) if one is not None]
    assert {one.verification.state for one in texts} == {"exact"}


def test_the_same_question_gives_the_same_bytes(places: tuple[Workplace, Workplace], history: History) -> None:
    assert compare(places, history).model_dump_json() == compare(places, history).model_dump_json()


def test_what_is_not_listed_is_counted(
    places: tuple[Workplace, Workplace], history: History, found: EvidenceDiff
) -> None:
    short = compare(places, history, limit=1)
    assert short.results == found.results[:1]
    assert short.more == len(found.results) - 1
    assert short.by_state == found.by_state


def test_the_note_quotes_both_versions(found: EvidenceDiff) -> None:
    note = evidence_markdown(found)
    assert "## Only in 1.0.0\n\n- `give_up_retry`" in note
    assert "```diff" in note


def test_without_an_index_the_command_that_builds_the_index_is_named(tmp_path: Path) -> None:
    options = ["--from", "1.0", "--to", "2.0", "--offline", "--home", str(tmp_path / "home")]
    told = CliRunner().invoke(app, ["diff", "how do I retry?", *options])
    assert told.exit_code == 5
    assert "google-adk 1.0.0 is not indexed." in told.stderr
    assert "adk-ingest" in told.stderr and "--adk 1.0.0" in told.stderr


def test_without_an_index_the_names_in_a_question_are_compared(tmp_path: Path) -> None:
    home = ["--offline", "--home", str(tmp_path / "home")]
    wheels = [str(write_wheel(tmp_path, version, code)) for version, code in (("1.0.0", OLD), ("2.0.0", NEW))]
    # This unpacks the wheels where a version is looked for.
    CliRunner().invoke(app, ["diff", "--from", wheels[0], "--to", wheels[1], *home])
    told = CliRunner().invoke(app, ["diff", "what does Runner.run do?", "--from", "1.0.0", "--to", "2.0.0", *home])
    assert told.exit_code == 0, told.output
    assert "google.adk.Runner.run: 1.0.0 to 2.0.0" in told.stdout
    assert "nothing differs" in told.stdout
    assert "google-adk 1.0.0 is not indexed." in told.stderr


def test_a_wheel_has_no_index_to_ask(tmp_path: Path) -> None:
    wheels = [str(write_wheel(tmp_path, version)) for version in ("1.0.0", "2.0.0")]
    options = ["--from", wheels[0], "--to", wheels[1], "--offline", "--home", str(tmp_path / "home")]
    told = CliRunner().invoke(app, ["diff", "how do I retry?", *options])
    assert told.exit_code == 5
    assert "is no version" in told.stderr


def test_without_to_a_question_is_compared_with_the_version_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--from", "1.0.0", "--offline", "--home", str(tmp_path / "home")]
    monkeypatch.setenv("ADK_EVIDENCE_INGESTION__CORPORA__ADK_PYTHON__DISTRIBUTION", "google-adk==1.0.0")
    told = CliRunner().invoke(app, ["diff", "how do I retry?", *options])
    assert (told.exit_code, "Both versions are the same." in told.stderr) == (2, True)
    monkeypatch.setenv("ADK_EVIDENCE_INGESTION__CORPORA__ADK_PYTHON__DISTRIBUTION", "google-adk")
    told = CliRunner().invoke(app, ["diff", "how do I retry?", *options])
    assert (told.exit_code, "--to is missing" in told.stderr) == (2, True)

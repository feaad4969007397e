"""An upgrade of a project: what breaks is told from what was wrong before, and names that stay may behave otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from adk_evidence.api.comparison import Comparison
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.upgrade import examine
from adk_evidence.models.difference import Upgrade
from adk_evidence.render.upgrade import summary, upgrade_markdown
from adk_evidence.settings import load_settings
from adk_ingest.progress import Progress
from adk_ingest.releases.wheels import read_releases
from tests.corpora import write_wheel
from tests.ingest.test_diff import NEW, OLD

CODE = """\
from google.adk.agents import LlmAgent
from google.adk.old.things import Thing
from google.adk.runners import Runner, TIMEOUT, Nothing, make_runner

agent = LlmAgent(name="a", max_turns=2, wrong=1, owner="o")


async def main(runner: Runner):
    runner.close()
    runner.stop(now=True)
    runner.run("hi")
    return make_runner(agent)
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Upgrade:
    folder = tmp_path_factory.mktemp("upgrade")
    wheels = [str(write_wheel(folder, version, code)) for version, code in (("1.0.0", OLD), ("2.0.0", NEW))]
    settings = load_settings({"home": folder}, user_file=folder / "no-settings.yaml")
    comparison = Comparison(*read_releases(settings, *wheels, Progress(), allow_network=False))
    old, new = map(DriftChecker, comparison.table.each)
    return examine(old, new, {"app/agent.py": CODE, "app/other.py": "import os\n"}, comparison)


def test_what_breaks_is_told_from_what_was_wrong_before(report: Upgrade) -> None:
    assert [(one.line, one.code, one.symbol.rpartition(".")[2]) for one in report.breaks] == [
        (2, "unknown-import", "Thing"),
        (5, "unknown-keyword", "LlmAgent(max_turns=)"),
        (9, "missing-await", "close"),
    ]
    assert [(one.line, one.symbol.rpartition(".")[2]) for one in report.wrong_before] == [
        (3, "Nothing"),
        (5, "LlmAgent(wrong=)"),
    ]
    assert [(one.line, one.code) for one in report.deprecated] == [(10, "deprecated-name")]
    # `owner` came with the later version.
    assert (report.right_after, report.files) == (1, 2)


def test_each_problem_says_since_when_what_mends_it_and_where_the_code_shows_that(report: Upgrade) -> None:
    awaited = report.breaks[-1]
    assert (awaited.since, awaited.fix, awaited.certain) == ("1", "Add await", True)
    assert awaited.citation == "adk-python@v2.0.0:src/google/adk/runners.py#L27-L28"
    assert NEW["src/google/adk/runners.py"].split("\n")[26] == "    async def close(self):"
    # Of what is gone, the earlier version shows what there was.
    assert report.breaks[0].citation.startswith("adk-python@v1.0.0:src/google/adk/old/things.py#L1")


def test_names_that_stay_and_behave_otherwise_are_told_with_their_places(report: Upgrade) -> None:
    changed = {one.change.name.rpartition(".")[2]: one for one in report.changed}
    # A field that the code does not set has another default. New parameters and texts change nothing for the code.
    assert changed["model"].change.details == ("its value is `'two'`, not `'one'`",)
    assert changed["model"].uses == ("app/agent.py:5",)
    # What a problem is about is told once.
    assert changed.keys().isdisjoint({"close", "run", "make_runner"})
    assert all(
        place.verification.state == "exact"
        for place in (changed["model"].change.before, changed["model"].change.after)
        if place
    )


def test_a_pull_request_gets_a_list_of_tasks(report: Upgrade) -> None:
    text = upgrade_markdown(report)
    assert "- [ ] `app/agent.py:9`: google-adk 1 has `Runner.close` as an asynchronous function" in text
    assert "--fix: Add await. \\[missing-await\\]" in text and "## Behaves otherwise" in text
    assert summary(report).endswith("--fix mends 1.")


def test_a_project_that_fits_both_versions_has_nothing_to_mend(tmp_path: Path, report: Upgrade) -> None:
    none = report.model_copy(
        update=dict.fromkeys(("breaks", "wrong_before", "deprecated", "changed"), ()) | {"right_after": 0}
    )
    assert summary(none) == "Nothing breaks (files: 2). Nothing can be mended."

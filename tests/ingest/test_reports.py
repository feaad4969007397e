"""`adk-ingest` as a person or a script runs it: what it prints, what it leaves on disk and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import adk_evidence.index.opened as opened
import adk_ingest.pipeline as pipeline
import adk_ingest.publishing.publish as publishing
from adk_evidence.errors import IndexMismatchError
from adk_evidence.models.chunk import PAYLOAD_VERSION
from adk_ingest.commands.cli import app
from adk_ingest.commands.doctor import examine
from adk_ingest.publishing.verify import VerificationReport
from tests.corpora import HashEmbedder, Workplace, change

pytestmark = pytest.mark.slow

RETRY = "docs/tools/retry.md"
Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test may reach a network, see the user's settings or need a model."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("ADK_EVIDENCE_DOCS", raising=False)
    monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """An ingested workplace, for tests that only look."""
    workplace = Workplace(tmp_path_factory.mktemp("published"))
    workplace.ingest()
    return workplace


def run(workplace: Workplace, *arguments: str, corpora: bool = False) -> Result:
    """Run a command on a workplace; whatever happens, nobody sees a traceback."""
    named = ["--docs", str(workplace.docs), "--code", str(workplace.code), "--offline"] if corpora else []
    result = CliRunner().invoke(app, [*arguments, *named, "--home", str(workplace.home)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def tree(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


class TestIngest:
    def test_a_machine_reads_plans_events_and_manifests(self, workplace: Workplace) -> None:
        (plan,) = json_lines(run(workplace, "plan", "--json", corpora=True).stdout)
        assert plan["corpora"]["adk_docs"]["files"] == 3
        assert plan["corpora"]["adk_docs"]["skipped"] == {"excluded": 1, "extension": 1}
        assert plan["corpora"]["adk_python"]["chunks"] > 0
        assert plan["corpora"]["api-reference"]["tokens"] > 0
        assert plan["vectors_to_compute"] > 0
        assert plan["estimated_seconds"] > 0
        assert plan["price_usd"] is None
        assert not [name for name in tree(workplace.home) if not name.startswith(("cache", "corpora"))]
        result = run(workplace, "all", "--json", corpora=True)
        (manifest,) = json_lines(result.stdout)
        assert manifest["status"] == "complete"
        assert manifest == json.loads((workplace.settings.paths.runs / f"{manifest['run_id']}.json").read_text())
        events = json_lines(result.stderr)
        assert {event["event"] for event in events} >= {"stage", "note"}
        assert next(event["stage"] for event in events if event["event"] == "stage") == "discover"

    def test_a_person_reads_the_stages_and_the_sum(self, workplace: Workplace) -> None:
        result = run(workplace, "all", corpora=True)
        assert result.exit_code == 0
        for stage in ("discover", "chunk", "embed", "upsert", "verify", "publish"):
            assert f"{stage}:" in result.stderr
        assert "is verified and published" in " ".join(result.stdout.split())
        before = tree(workplace.home)
        result = run(workplace, "plan", corpora=True)
        assert result.exit_code == 0
        for said in ("adk_docs skips 1 excluded, 1 extension", "0 vectors to compute", "no cost (profile local)"):
            assert said in " ".join(result.stdout.split())
        changed = tree(workplace.home).items() ^ before.items()
        assert not [name for name, _ in changed if not name.startswith("cache")], "a plan leaves no trace but caches"
        again = run(workplace, "all", corpora=True)
        assert again.exit_code == 0 and "Nothing changed" in again.stdout

    def test_offline_nothing_is_fetched(self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            pytest.fail("the network was asked")

        monkeypatch.setattr("adk_ingest.sources.resolve.clone_or_update", refuse)
        monkeypatch.setattr("adk_ingest.sources.distribution.fetch_distribution", refuse)
        result = run(workplace, "code", "--code", "google-adk==0.0.1", "--offline")
        assert result.exit_code == 3
        result = run(workplace, "docs", "--offline")
        assert result.exit_code == 3
        assert "ADK_EVIDENCE_DOCS" in result.stderr


class TestExitCodes:
    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (["nonsense"], 2, "nonsense"),
            (["all", "--nonsense"], 2, "nonsense"),
            (["plan", "everything"], 2, "Choose docs, code or all"),
            (["plan", "--profile", "gold"], 2, "profile"),
            (["docs", "--docs", "/no/such/folder"], 3, "The folder /no/such/folder does not exist"),
            (["code", "--code", "/no/such.whl"], 3, "/no/such.whl does not exist"),
            (["code", "--code", "/no/such.whl"], 3, "Name a folder, a wheel, a Python interpreter or a release"),
            (["code", "--code", "requests==1.0"], 3, "no release, folder or wheel called 'requests==1.0'"),
            (["verify"], 5, "no index"),
            (["rollback"], 5, "no index"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else None,
    )
    def test_a_failure_is_a_sentence_and_a_number(
        self, workplace: Workplace, arguments: list[str], code: int, said: str
    ) -> None:
        result = run(workplace, *arguments)
        assert result.exit_code == code
        assert said in " ".join(result.stderr.split())
        assert not result.stdout

    def test_an_index_that_is_not_what_it_should_be_is_7(
        self, published: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "adk_ingest.commands.reports.verify_index", lambda *_: VerificationReport(problems=["A point is missing."])
        )
        result = run(published, "verify")
        assert result.exit_code == 7
        assert "A point is missing." in result.stdout
        assert "is verified" not in result.stdout

    def test_a_run_that_fails_its_verification_is_7_and_any_other_is_6(
        self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(publishing, "verify_index", lambda *_: VerificationReport(problems=["A point is missing."]))
            result = run(workplace, "all", corpora=True)
            assert result.exit_code == 7
            assert "A point is missing." in result.stderr
        monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder(fail_after=0))
        (workplace.docs / RETRY).write_text("# Other\n\nText that has no vector yet.\n")
        result = run(workplace, "all", "--json", corpora=True)
        assert result.exit_code == 6
        assert "stage embed" in result.stderr
        assert ".failure.json" in result.stderr


class TestVerify:
    def test_it_counts_samples_and_checks_every_citation(self, published: Workplace) -> None:
        result = run(published, "verify", "--citations", "--json")
        assert result.exit_code == 0
        report = json.loads(result.stdout)
        total = len(published.points())
        assert report["ok"]
        assert report["counts"]["total"] == total
        assert report["sampled"] == total
        assert report["citations"] == {"exact": total}
        said = run(published, "verify", "--citations").stdout
        assert f"{total} exact" in said
        assert "The index is verified." in said

    def test_an_index_of_another_version_is_refused_as_questions_refuse_it(
        self, published: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(opened, "PAYLOAD_VERSION", PAYLOAD_VERSION + 1)
        with closing(published.service()) as service, pytest.raises(IndexMismatchError) as asked, service.session():
            pass
        result = run(published, "verify", "--citations")
        assert result.exit_code == asked.value.exit_code == 5
        said = " ".join(result.stderr.split())
        assert asked.value.message in said and "to build it anew" in said
        assert not result.stdout
        broken = [finding for finding in examine(published.settings) if finding.state == "broken"]
        assert [finding.found for finding in broken] == [asked.value.message]
        assert "to build it anew" in broken[0].mend


class TestStatusAndRollback:
    def test_nothing_is_indexed_at_first(self, workplace: Workplace) -> None:
        result = run(workplace, "status")
        assert result.exit_code == 0
        assert "Nothing is indexed" in result.stdout
        assert json.loads(run(workplace, "status", "--json").stdout)["generation"] is None
        assert not workplace.home.exists()

    def test_going_back_and_forth(self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
        first = workplace.ingest().generation
        assert run(workplace, "rollback").exit_code == 5
        change(workplace.docs / RETRY, "busy service", "tired service")
        second = workplace.ingest().generation
        monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder(fail_after=0))
        change(workplace.docs / RETRY, "tired service", "sleepy service")
        assert run(workplace, "docs", "--docs", str(workplace.docs)).exit_code == 6

        status = json.loads(run(workplace, "status", "--json").stdout)
        assert (status["generation"], status["older_generations"]) == (second, [first])
        assert status["corpora"]["adk_docs"]["files"] == 3
        assert [told["status"] for told in status["runs"]] == ["failed", "complete", "complete"]
        said = run(workplace, "status").stdout
        assert "failed: RuntimeError: the embedder broke" in said
        assert "google/adk-docs" in said

        result = run(workplace, "rollback")
        assert result.exit_code == 0
        assert str(first) in result.stderr
        assert json.loads(run(workplace, "status", "--json").stdout)["generation"] == first
        assert workplace.ask("busy service").candidates

"""Several versions of the code in the main index: one that it is of, and others that are kept beside it."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adk_evidence.errors import IndexMissingError, InvalidRequestError
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.store.factory import open_reader
from adk_evidence.symbols.table import build_table
from adk_ingest import pipeline as ingestion
from adk_ingest.cli import app
from adk_ingest.manifest import RunManifest
from adk_ingest.progress import Progress
from adk_ingest.reports import verify_published
from adk_ingest.session import forget
from adk_ingest.targets.build import build_targets
from tests.corpora import CODE, CODE_COMMIT, HashEmbedder, Workplace, change, shared_sparse, write_code

pytestmark = pytest.mark.slow

OLD_COMMIT = "01dc0de000000000000000000000000000000001"
PLUGIN = "src/google/adk/plugins/retry.py"
# Another name for one function; all other files are the same in both versions.
OLD_CODE = {**CODE, PLUGIN: CODE[PLUGIN].replace("def back_off(", "def wait_longer(")}
QUESTION = "how many seconds to wait before the next attempt"


def write_old(place: Workplace) -> Path:
    folder = write_code(place.root / "old", OLD_CODE, commit=OLD_COMMIT)
    about = json.loads((folder / "corpus.json").read_text())
    (folder / "corpus.json").write_text(json.dumps({**about, "ref": "v8.1.0"}))
    return folder


def run(place: Workplace, code: Path, *, keep: bool) -> RunManifest:
    sources = dataclasses.replace(place.sources, code=str(code), keep_code=keep)
    return place.ingest("code", sources=sources)


def drop(place: Workplace, version: str) -> RunManifest:
    return forget(place.settings, version, Progress(), dense=HashEmbedder(), sparse=shared_sparse())


def ask(place: Workplace, *, query: str = QUESTION, **filters: Any) -> EvidencePack:
    service = place.service()
    try:
        return service.find(EvidenceRequest.model_validate({"query": query, "filters": filters}))
    finally:
        service.close()


def commits(place: Workplace) -> Counter[str]:
    """Points of code by their commit."""
    return Counter(payload.commit for payload in place.points().values() if payload.kind == "code")


@pytest.fixture
def both(workplace: Workplace) -> Workplace:
    """An index of v9.9.0 with v8.1.0 beside it."""
    workplace.ingest()
    run(workplace, write_old(workplace), keep=True)
    return workplace


def test_a_version_is_added_beside_the_indexed_one(workplace: Workplace) -> None:
    workplace.ingest()
    before = workplace.points()
    done = run(workplace, write_old(workplace), keep=True)
    after = workplace.points()
    assert (done.status, set(done.corpora)) == ("complete", {f"adk_python@{OLD_COMMIT}"})
    assert {point: after[point] for point in before} == before
    assert commits(workplace)[OLD_COMMIT] == commits(workplace)[CODE_COMMIT] == (len(after) - len(before))
    report = verify_published(workplace.settings, citations=True)
    assert report.ok and set(report.citations) == {"exact"}
    assert run(workplace, workplace.root / "old", keep=True).status == "unchanged"


def test_each_version_is_found_and_cited_by_its_own_files(both: Workplace) -> None:
    for ref, commit, name, other in (
        ("v8.1.0", OLD_COMMIT, "wait_longer", "back_off"),
        ("v9.9.0", CODE_COMMIT, "back_off", "wait_longer"),
    ):
        pack = ask(both, repo_ref_hint=ref, source_types=["code"])
        assert {candidate.ref for candidate in pack.candidates} == {commit}
        assert {candidate.verification.state for candidate in pack.candidates} == {"exact"}
        text = "".join(candidate.text for candidate in pack.candidates)
        assert f"def {name}" in text and f"def {other}" not in text


@pytest.mark.parametrize(
    ("asked", "commit"), [(" in ADK 8.1", OLD_COMMIT), (" in google-adk==9.9.0", CODE_COMMIT), ("", CODE_COMMIT)]
)
def test_a_question_is_answered_from_the_version_that_it_names_else_from_the_newest(
    both: Workplace, asked: str, commit: str
) -> None:
    pack = ask(both, query=QUESTION + asked)
    assert {candidate.ref for candidate in pack.candidates if candidate.source_type == "code"} == {commit}
    assert any(candidate.source_type == "docs" for candidate in pack.candidates)
    assert not [warning for warning in pack.warnings if warning.startswith("version")]


def test_bringing_the_indexed_version_up_to_date_leaves_the_other_alone(both: Workplace) -> None:
    old = {point for point, payload in both.points().items() if payload.commit == OLD_COMMIT}
    change(both.code / PLUGIN, "def back_off(", "def pause(")
    both.ingest()
    after = both.points()
    assert old <= set(after)
    assert not any("def back_off(" in payload.text for payload in after.values() if payload.kind == "code")
    assert verify_published(both.settings, citations=False).ok


def test_symbols_are_those_of_the_indexed_version_alone(both: Workplace) -> None:
    with both.generations.open_current() as lease:
        store = open_reader(lease.folder, both.settings)
        try:
            table = build_table(store, *(both.settings.store.collection(kind) for kind in ("code", "doc")))
        finally:
            store.close()
    assert table.find("back_off") and not table.find("wait_longer")
    report = build_targets(both.settings, Progress(), dense=HashEmbedder(), vectors=False)
    assert (report.status, report.commit) == ("unchanged", CODE_COMMIT)


@pytest.mark.parametrize("name", ["v8.1.0", "8.1.0", OLD_COMMIT])
def test_a_version_that_is_forgotten_leaves_nothing_behind(name: str, both: Workplace) -> None:
    run_manifest = drop(both, name)
    assert run_manifest.corpora[f"adk_python@{OLD_COMMIT}"].files_removed == len(CODE)
    current = both.generations.current()
    assert current is not None and set(current.manifest.corpora) == {"adk_docs", "adk_python", "api-reference"}
    assert set(commits(both)) == {CODE_COMMIT}
    with pytest.raises(InvalidRequestError, match="No version"):
        drop(both, name)


def test_a_kept_version_that_becomes_the_indexed_one_is_there_once(both: Workplace) -> None:
    run(both, both.root / "old", keep=False)
    current = both.generations.current()
    assert current is not None and set(current.manifest.corpora) == {"adk_docs", "adk_python", "api-reference"}
    assert set(commits(both)) == {OLD_COMMIT}
    assert verify_published(both.settings, citations=False).ok


def test_what_cannot_stand_beside_is_refused(workplace: Workplace) -> None:
    with pytest.raises(IndexMissingError, match="no indexed version"):
        run(workplace, write_old(workplace), keep=True)
    workplace.ingest()
    with pytest.raises(InvalidRequestError, match="already"):
        run(workplace, workplace.code, keep=True)


def test_on_the_command_line(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    workplace.ingest()
    monkeypatch.setattr(ingestion, "make_dense", lambda settings, **_: HashEmbedder())
    home = ["--home", str(workplace.home)]
    added = CliRunner().invoke(app, ["code", "--code", str(write_old(workplace)), "--keep", "--json", *home])
    assert added.exit_code == 0, added.output
    assert set(commits(workplace)) == {CODE_COMMIT, OLD_COMMIT}
    wrong = CliRunner().invoke(app, ["forget", "v1.0.0", *home])
    assert wrong.exit_code == 2 and OLD_COMMIT in wrong.stderr
    assert CliRunner().invoke(app, ["forget", "v8.1.0", *home]).exit_code == 0
    assert set(commits(workplace)) == {CODE_COMMIT}

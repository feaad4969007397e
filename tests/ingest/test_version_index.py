"""Indexes of single versions of the ADK beside the main index."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.citations.saved import index_of, other_version_note, pack_of
from adk_evidence.errors import IngestError, InvalidRequestError, SourceError, UnknownIndexError
from adk_evidence.index.codebase import MAIN, Codebase
from adk_evidence.index.project import ProjectAdk
from adk_evidence.index.registry import list_indexes, names_of_all, register, settings_of
from adk_evidence.index.versions import (
    choose_index,
    main_version,
    project_version,
    settings_for_version,
    version_in,
)
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.choice import index_for
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.text.versions import checked_version
from adk_ingest.commands.doctor import examine
from adk_ingest.commands.reports import verify_published
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.indexes.version import ingest_version
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import RunManifest
from adk_ingest.session import Sources
from tests.answers import told
from tests.corpora import (
    CODE_COMMIT,
    DOCS_COMMIT,
    HashEmbedder,
    Notes,
    Workplace,
    change,
    shared_sparse,
)
from tests.environments import PLUGIN, write_environment

pytestmark = pytest.mark.slow

QUESTION = "retry a tool that throws"


@pytest.fixture(autouse=True)
def no_docs_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADK_EVIDENCE_DOCS", raising=False)


OFFLINE = Sources(allow_network=False)


def installed(root: Path, version: str, **given: Any) -> ProjectAdk:
    return ProjectAdk(version, ".venv", exact=True, python=write_environment(root, version, **given))


def named(version: str) -> ProjectAdk:
    return ProjectAdk(version, "uv.lock", exact=True)


def build(
    place: Workplace,
    wanted: ProjectAdk,
    dense: Any = None,
    progress: Progress | None = None,
    *,
    docs: Path | None = None,
) -> RunManifest:
    models = {"dense": dense or HashEmbedder(), "sparse": shared_sparse()}
    sources = replace(OFFLINE, docs=str(docs) if docs else None)
    return ingest_version(place.settings, wanted, sources, progress or Progress(), **models)


def ask(settings: Settings, query: str = QUESTION, wanted: ProjectAdk | None = None) -> EvidencePack:
    chosen = index_for(settings, query, wanted)
    with closing(EvidenceService(chosen.settings, dense=HashEmbedder(), sparse=shared_sparse())) as service:
        return service.find(EvidenceRequest(query=query, project=chosen.project))


def refs(pack: EvidencePack, source_type: str = "code") -> set[str]:
    return {candidate.ref for candidate in pack.candidates if candidate.source_type == source_type}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The main index of v9.9.0 and version indexes of 8.1.0 and 8.4.0."""
    place = Workplace(tmp_path_factory.mktemp("home"))
    place.ingest()
    for version in ("8.1.0", "8.4.0"):
        build(place, installed(place.root / version, version))
    return place


def test_each_project_gets_evidence_of_its_own_version(home: Workplace) -> None:
    for version, commit in (("8.1.0", "v8.1.0"), ("8.4.0", "v8.4.0"), ("9.9.0", CODE_COMMIT)):
        pack = ask(home.settings, wanted=named(version))
        assert refs(pack) == {commit} and refs(pack, "docs") == {DOCS_COMMIT}
        assert pack.adk is not None and (pack.adk.indexed, pack.adk.taken_from) == (version, "uv.lock")
        assert pack.warnings == ()
        assert {candidate.verification.state for candidate in pack.candidates} == {"exact"}


def test_a_name_is_looked_up_in_the_projects_version(home: Workplace) -> None:
    assert ask(home.settings, "what does wait_longer do", named("8.1.0")).warnings == ()
    assert "unknown_name" in told(ask(home.settings, "what does back_off do", named("8.1.0")))[0]


def test_where_a_version_is_not_indexed_the_nearest_answers_with_a_warning(home: Workplace) -> None:
    for wanted, nearest in (
        ("8.3.0", "8.1.0"),
        ("8.9.0", "8.4.0"),
        ("1.0.0", "8.1.0"),
        ("10.0.0", "9.9.0"),
        ("9.8.0", "9.9.0"),
    ):
        chosen = choose_index(home.settings, named(wanted))
        assert (chosen.version, chosen.exact) == (nearest, False)
        pack = ask(home.settings, wanted=named(wanted))
        assert pack.adk is not None and pack.adk.indexed == nearest
        (warning,) = told(pack)
        assert warning.startswith("version_not_indexed: ") and f"adk-ingest all --adk {wanted}`" in warning
        assert pack.quality.level == "mixed"


def test_the_version_that_a_question_names_has_its_own_index_answer(home: Workplace) -> None:
    for query, commit in ((f"{QUESTION} in ADK 8.1", "v8.1.0"), (f"{QUESTION} in ADK 8", "v8.4.0")):
        for wanted in (None, named("9.9.0")):
            pack = ask(home.settings, query, wanted)
            assert refs(pack) == {commit} and pack.warnings == ()
    assert refs(ask(home.settings, f"{QUESTION} in ADK 9.9", named("8.1.0"))) == {CODE_COMMIT}
    # The project's version has an index, too, so there is nothing to build.
    assert index_for(home.settings, f"{QUESTION} in ADK 9.9", named("8.1.0")).warning is None
    # Several versions are no choice.
    assert index_for(home.settings, "from ADK 8.1 to 9.9", named("8.4.0")).version == "8.4.0"


@pytest.mark.parametrize(
    ("said", "nearest"),
    [("8.3", "8.1.0"), ("v8.9", "8.4.0"), ("1.x", "8.1.0"), (">=10", "9.9.0"), ("9.8", "9.9.0")],
)
def test_where_the_version_of_a_question_is_not_indexed_the_nearest_answers(
    home: Workplace, said: str, nearest: str
) -> None:
    for wanted in (None, named("8.1.0"), named("9.9.0")):
        pack = ask(home.settings, f"{QUESTION} in ADK {said}", wanted)
        assert refs(pack) == {CODE_COMMIT if nearest == "9.9.0" else f"v{nearest}"}
        (warning,) = told(pack)
        assert warning.startswith("version_not_indexed: The question is about ADK ") and nearest in warning


def test_an_answer_names_what_its_version_was_read_from(home: Workplace) -> None:
    wanted = ProjectAdk("8.4.0", "pyproject.toml", exact=False, asked="google-adk>=8,<9")
    pack = ask(home.settings, wanted=wanted)
    assert pack.adk is not None and pack.adk.taken_from == "pyproject.toml: google-adk>=8,<9"
    odd = ProjectAdk("8.4.0", "ven\udcffv", exact=False, asked="google-adk>" + "=8" * 500)
    source = project_version(odd).taken_from
    assert source.startswith("ven\\udcffv: google-adk>") and len(source) == 300, "it is harmless and short"
    chosen = choose_index(home.settings, None)
    assert chosen.name is None and chosen.exact and chosen.project is None
    assert main_version(home.settings) == "9.9.0"


def test_indexes_of_versions_are_listed_and_found_by_name(home: Workplace) -> None:
    found = list_indexes(home.settings)
    assert [(index.name, index.version) for index in found] == [
        ("adk", None),
        ("adk-8.1.0", "8.1.0"),
        ("adk-8.4.0", "8.4.0"),
    ]
    assert found[1].cited_as == ("adk-docs", "adk-python") and "v8.1.0" in found[1].commits
    own = settings_for_version(home.settings, "8.1")
    assert settings_of(home.settings, "adk-8.1.0").index_path == own.index_path
    with pytest.raises(UnknownIndexError) as failed:
        settings_of(home.settings, "adk-7.0.0")
    assert "adk-ingest all --adk 7.0.0" in failed.value.hint


def test_a_codebase_cannot_have_the_name_of_a_version(tmp_path: Path) -> None:
    settings = Workplace(tmp_path).settings
    for name in ("adk-2", "adk-2-dev", "adk-2024", "adk-1.18", "adk-v1.18.0", "adk-2-samples"):
        assert version_in(name) is None
        assert register(settings, Codebase(name=name, path=tmp_path))
        assert [index.path for index in list_indexes(settings) if index.name == name] == [tmp_path]
    for name in ("adk-1.18.0", "adk-2.0.0b1"):
        with pytest.raises(InvalidRequestError, match="is the name of the index of google-adk"):
            register(settings, Codebase(name=name, path=tmp_path))


@pytest.mark.parametrize(
    ("given", "spelled"), [("1.18", "1.18.0"), ("v1.18.0", "1.18.0"), ("2.0.0b1", "2.0.0b1"), ("2", "2.0.0")]
)
def test_a_version_has_one_spelling(given: str, spelled: str) -> None:
    assert checked_version(given) == spelled


@pytest.mark.parametrize("given", ["", "latest", ">=1.18", "1.18.0+mine", "1!2.0", "../x", "1.x"])
def test_what_is_no_released_version_is_refused(given: str, workplace: Workplace) -> None:
    with pytest.raises(InvalidRequestError, match="is not a version of google-adk"):
        settings_for_version(workplace.settings, given)


def test_on_a_server_the_collections_carry_the_version(workplace: Workplace) -> None:
    store = settings_for_version(workplace.settings, "8.1.0").store
    assert (store.docs_collection, store.code_collection) == ("adk_docs-8.1.0", "adk_code-8.1.0")


# Building


def test_a_second_version_embeds_only_its_new_texts(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    dense = HashEmbedder()
    run = build(place, installed(tmp_path / "old", "8.1.0"), dense)
    assert dense.embedded and all("wait_longer" in text for text in dense.embedded)
    own = [text for text in dense.embedded if not text.startswith("Name: ")]
    assert run.vectors_embedded == len(own) < run.vectors_from_cache
    assert verify_published(settings_for_version(place.settings, "8.1.0"), citations=True).ok
    again = HashEmbedder()
    assert build(place, named("8.1.0"), again).status == "unchanged" and not again.embedded
    # The version of the main index gets no second index.
    notes = Notes()
    assert build(place, named("9.9"), progress=notes).status == "unchanged"
    assert "The main index is of google-adk 9.9.0; it is brought up to date." in notes.notes
    indexer = CodebaseIndexer(place.settings)
    assert indexer.describe("adk-8.1.0") == "adk-8.1.0 of google-adk 8.1.0"
    indexer.delete("adk-8.1.0")
    assert [index.name for index in list_indexes(place.settings)] == ["adk"]
    assert open_generations(place.settings).current() is not None
    assert choose_index(place.settings, named("8.1.0")).version == "9.9.0"
    with pytest.raises(UnknownIndexError):
        indexer.delete("adk-8.1.0")


def test_indexes_of_versions_are_enough_without_the_main_one(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    assert choose_index(place.settings, None).version is None and names_of_all(place.settings) == ()
    for version in ("8.3.0", "8.1.0"):
        build(place, installed(tmp_path / version, version))
    assert [finding.what for finding in examine(place.settings) if finding.state == "broken"] == []
    chosen = choose_index(place.settings, None)
    assert (chosen.version, chosen.exact, chosen.warning) == ("8.3.0", True, None), "the newest answers"
    assert refs(ask(place.settings)) == {"v8.3.0"} and names_of_all(place.settings) == (MAIN,)
    assert refs(ask(place.settings, wanted=named("8.1.0"))) == {"v8.1.0"}
    place.ingest()
    assert choose_index(place.settings, None).version == "9.9.0", "what the settings name comes first"


def test_citations_outlive_the_environment(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    build(place, installed(tmp_path / "venv", "8.1.0"))
    assert main_version(place.settings) is None, "a version can be indexed alone"
    assert choose_index(place.settings, named("8.2.0")).version == "8.1.0"
    assert [index.name for index in list_indexes(place.settings)] == ["adk-8.1.0"]
    shutil.rmtree(tmp_path / "venv")
    write_environment(tmp_path / "venv", "8.2.0", {PLUGIN: "# other\n"})
    states = {one.verification.state for one in ask(place.settings, wanted=named("8.1.0")).candidates}
    assert states == {"exact"}


@pytest.mark.parametrize("module_is", ["edited", "no file"])
def test_an_edited_installation_is_not_taken_for_the_release(tmp_path: Path, module_is: str) -> None:
    wanted = installed(tmp_path / "venv", "8.1.0")
    assert wanted.python is not None
    module = wanted.python / "lib/python3.12/site-packages/google/adk/plugins/retry.py"
    if module_is == "edited":
        change(module, "wait_longer", "wait_for_me")
    elif not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    else:
        module.unlink()
        os.mkfifo(module)
    notes = Notes()
    place = Workplace(tmp_path)
    with pytest.raises(SourceError, match=r"ADK 8\.1\.0 cannot be had"):
        build(place, wanted, progress=notes)
    said = "retry.py was edited" if module_is == "edited" else "retry.py is no file"
    assert any(said in note for note in notes.notes)
    assert list_indexes(place.settings) == [] and not any(place.settings.paths.indexes.glob("adk-*"))


def test_a_record_that_points_out_of_the_environment_is_not_followed(tmp_path: Path) -> None:
    wanted = installed(tmp_path / "venv", "8.1.0")
    assert wanted.python is not None
    (tmp_path / "secret.py").write_text("KEY = 1\n")
    record = next(wanted.python.glob("lib/*/site-packages/*.dist-info/RECORD"))
    record.write_text(record.read_text() + f"../../../../secret.py,,\n{tmp_path}/secret.py,,\n")
    place = Workplace(tmp_path)
    build(place, wanted)
    assert not list(place.settings.paths.corpora.rglob("secret.py"))


def test_a_failed_first_run_leaves_no_index(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    with pytest.raises(IngestError, match="the embedder broke"):
        build(place, installed(tmp_path / "venv", "8.1.0"), HashEmbedder(fail_after=0))
    assert list_indexes(place.settings) == []


def test_versions_live_side_by_side_on_a_server(tmp_path: Path) -> None:
    place = Workplace(tmp_path, store="server")
    place.ingest()
    build(place, installed(tmp_path / "venv", "8.1.0"))
    assert refs(ask(place.settings, wanted=named("8.1.0"))) == {"v8.1.0"}
    assert refs(ask(place.settings)) == {CODE_COMMIT}
    CodebaseIndexer(place.settings).delete("adk-8.1.0")
    pack = ask(place.settings, wanted=named("8.1.0"))
    assert refs(pack) == {CODE_COMMIT} and told(pack)[0].startswith("version_not_indexed")


def test_the_doctor_opens_the_indexes_of_versions(home: Workplace) -> None:
    findings = {finding.what: finding for finding in examine(home.settings)}
    assert findings["google-adk 8.1.0"].state == findings["google-adk 8.4.0"].state == "ok"


def test_a_saved_pack_whose_version_is_gone_is_compared_with_the_nearest_and_says_so(home: Workplace) -> None:
    pack = ask(home.settings, wanted=named("8.1.0"))
    values = pack.model_dump(mode="json")
    for adk, chosen in (("8.1.0", "8.1.0"), ("8.3.0", "8.1.0"), (None, "8.1.0"), ("9.9.0", "9.9.0")):
        found = index_of(home.settings, pack_of({**values, "adk": {"indexed": adk}}))
        assert found.version == chosen
        note = other_version_note(found)
        assert (note is None) == (adk != "8.3.0")
        if note is not None:
            assert "google-adk 8.3.0, which is not indexed" in note and "compared with google-adk 8.1.0" in note
            assert "adk-ingest all --adk 8.3.0`" in note
    assert index_of(home.settings, pack_of({**values, "adk": None, "candidates": []})).name is None

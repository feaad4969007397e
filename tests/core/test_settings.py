from __future__ import annotations

import json

import pytest

from adk_evidence.errors import SettingsError
from adk_evidence.paths import config_file
from adk_evidence.settings import load_settings, settings_schema


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch, tmp_path):
    monkeypatch.setattr("adk_evidence.settings.user_settings_file", lambda: tmp_path / "none.yaml")


def test_the_default_profile_needs_no_download():
    settings = load_settings()
    assert (settings.profile, settings.ingestion.lexical.sparse_model) == ("local", "Qdrant/bm25")
    assert settings.ingestion.chunking.docs.target_chunk_chars > 0


def test_a_call_beats_the_environment_which_beats_the_users_file(monkeypatch, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("retrieval: {rrf_k: 10, hnsw_ef: 64}\n")
    assert load_settings(user_file=mine).retrieval.rrf_k == 10
    monkeypatch.setenv("ADK_EVIDENCE_RETRIEVAL__RRF_K", "20")
    assert load_settings(user_file=mine).retrieval.rrf_k == 20
    settings = load_settings({"retrieval": {"rrf_k": 30}}, user_file=mine)
    assert (settings.retrieval.rrf_k, settings.retrieval.hnsw_ef) == (30, 64)


@pytest.mark.parametrize("name", ["HOME", "PROFILE", "SETTINGS", "RETRIEVAL__RRF_K"])
def test_an_empty_variable_is_one_that_is_not_set(monkeypatch, tmp_path, name):
    expected = load_settings(user_file=tmp_path / "none.yaml")
    monkeypatch.setenv(f"ADK_EVIDENCE_{name}", "")
    assert load_settings(user_file=tmp_path / "none.yaml") == expected


@pytest.mark.parametrize(
    ("overrides", "part"),
    [
        ({"retrieval": {"rrf_kk": 1}}, "retrieval.rrf_kk"),
        ({"retrieval": {"rrf_k": 0}}, "retrieval.rrf_k"),
        ({"ingestion": {"corpora": {"adk_python": {"language": "go"}}}}, "ingestion.corpora.adk_python.language"),
        ({"store": {"code_collection": "adk_docs"}}, "must differ"),
        ({"ingestion": {"chunking": {"docs": {"target_chunk_chars": 99999}}}}, "max_chunk_chars"),
        ({"profile": "cloud"}, "no profile 'cloud'"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_names_it(overrides, part):
    with pytest.raises(SettingsError, match=part) as caught:
        load_settings(overrides)
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_a_settings_file_named_by_the_environment_must_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("ADK_EVIDENCE_SETTINGS", str(tmp_path / "gone.yaml"))
    with pytest.raises(SettingsError, match=r"gone\.yaml"):
        load_settings()


def test_passages_are_refused_where_chunks_are_embedded_in_their_context(tmp_path):
    wanted = {"embedding": {"dense": {"provider": "voyage", "text": "passages"}}}
    with pytest.raises(SettingsError, match="voyage takes full"):
        load_settings(wanted, user_file=tmp_path / "none.yaml")


@pytest.mark.parametrize("values", [{"home": "a\0b"}, {"store": {"path": " "}}, {"agents": {"roots": [""]}}])
def test_an_empty_path_is_not_the_working_folder(values):
    with pytest.raises(SettingsError, match="it should be a path"):
        load_settings(values)


def test_the_published_schema_is_that_of_the_settings():
    assert json.loads(config_file("settings.schema.json").read_text()) == settings_schema()


@pytest.mark.parametrize(
    ("values", "services"),
    [
        ({}, ()),
        ({"profile": "fastembed"}, ()),
        ({"profile": "openai"}, ("embedding.dense.provider",)),
        ({"profile": "voyage"}, ("embedding.dense.provider", "rerank.provider", "store.kind")),
        # Other settings beat the profile.
        ({"rerank": {"provider": "llm"}, "store": {"kind": "server"}}, ("rerank.provider", "store.kind")),
        ({"profile": "openai", "embedding": {"dense": {"provider": "fastembed"}}}, ()),
    ],
)
def test_settings_say_by_which_of_them_services_get_texts(values, services):
    assert load_settings(values).services == services

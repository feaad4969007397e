"""FastEmbed's dense models and cross-encoder, from folders; the hub only where it answers."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding.factory import fingerprint, make_dense
from adk_evidence.embedding.minilm import weights
from adk_evidence.embedding.splade import MODEL as SPLADE
from adk_evidence.errors import ModelError, SettingsError
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.question.query import normalise
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.search.rerankers.factory import make_reranker
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import load_settings
from adk_ingest.progress import Progress
from adk_ingest.session import ingest
from tests.core.factories import payload
from tests.corpora import CODE, DOCS, Workplace, embed_all
from tests.onnx_models import (
    CODE_DIMENSION,
    CODE_FILE,
    CODE_MODEL,
    DOCS_DIMENSION,
    DOCS_FILE,
    DOCS_MODEL,
    LIMIT,
    RERANKER,
    words_of,
    write_cross_encoder,
    write_dense,
    write_splade,
)

pytestmark = pytest.mark.slow

WORDS = ["retry", "tool", "session", "state", "runner", "agent"]


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    write_dense(tmp_path / DOCS_MODEL, WORDS, DOCS_FILE, DOCS_DIMENSION)
    write_dense(tmp_path / CODE_MODEL, WORDS, CODE_FILE, CODE_DIMENSION)
    write_cross_encoder(tmp_path / RERANKER, WORDS, limit=256)
    return tmp_path


def settings_of(home: Path, models: Path | None = None) -> Any:
    return load_settings({"home": home, "embedding": {"dense": {"models_path": models}}}, profile="fastembed")


def test_docs_and_code_have_models_of_their_own(folders: Path, tmp_path: Path):
    pair = make_dense(settings_of(tmp_path, folders))
    assert not pair.shared
    for embedder, dimension in ((pair.doc, DOCS_DIMENSION), (pair.code, CODE_DIMENSION)):
        vectors = embed_all(embedder, ["retry the tool", "session state", "retry " * 3 * LIMIT])
        assert vectors.shape == (3, dimension)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
        question = np.array(embedder.embed_query("retry the tool"))
        assert question @ vectors[0] == pytest.approx(1.0, abs=1e-5)
        assert question @ vectors[1] < 0.9


def test_the_index_knows_both_models_unless_they_are_one(tmp_path: Path):
    settings = settings_of(tmp_path)
    found = fingerprint(settings)
    assert found["dense_dimension"] == f"docs {DOCS_DIMENSION}, code {CODE_DIMENSION}"
    assert CODE_MODEL in str(found["dense_model"])
    one = load_settings({"embedding": {"dense": {"fastembed": {"code_model": DOCS_MODEL}}}}, profile="fastembed")
    assert make_dense(one).shared and fingerprint(one)["dense_dimension"] == DOCS_DIMENSION


def test_the_cross_encoder_scores_in_the_documents_order(folders: Path, tmp_path: Path):
    reranker = make_reranker(settings_of(tmp_path, folders))
    assert reranker is not None
    bodies = ["nothing here", "retry a tool and retry", "a tool"]
    documents = [RerankDocument(payload(body=body), 1200) for body in bodies]
    scores = reranker.rerank(normalise("retry tool"), "build", documents)
    assert scores[1] > scores[2] > scores[0]
    assert reranker.rerank(normalise("retry"), "build", []) == []


def test_the_profile_runs_end_to_end_from_folders(tmp_path: Path):
    words = words_of([*DOCS.values(), *CODE.values()])
    models = tmp_path / "models"
    write_dense(models / DOCS_MODEL, words, DOCS_FILE, DOCS_DIMENSION, limit=256)
    write_dense(models / CODE_MODEL, words, CODE_FILE, CODE_DIMENSION, limit=256)
    write_cross_encoder(models / RERANKER, words, limit=256)
    write_splade(models / SPLADE, words, limit=64)
    workplace = Workplace(
        tmp_path,
        {
            "profile": "fastembed",
            "store": {"kind": "edge"},
            "embedding": {"dense": {"models_path": models}},
        },
    )
    run = ingest(workplace.settings, "all", workplace.sources, Progress())
    assert run.status == "complete" and run.spent == {}
    assert {len(record.vectors["dense_docs"]) for record in workplace.records("doc", with_vectors=True)} == {384}
    assert {len(record.vectors["dense_code"]) for record in workplace.records("code", with_vectors=True)} == {768}
    service = EvidenceService(workplace.settings)
    try:
        pack = service.find(EvidenceRequest(query="how do I retry when a tool throws?"))
    finally:
        service.close()
    assert pack.warnings == ()
    assert pack.retrieval_plan is not None and pack.retrieval_plan.rerank_model == RERANKER
    assert any("retry" in candidate.path for candidate in pack.candidates[:3])
    assert ingest(workplace.settings, "all", workplace.sources, Progress()).status == "unchanged"


def test_a_model_that_fastembed_does_not_have_is_refused(tmp_path: Path):
    settings = settings_of(tmp_path)
    wrong = settings.rerank.model_copy(update={"model": "no/such-model"})
    reranker = make_reranker(settings.model_copy(update={"rerank": wrong}))
    assert reranker is not None
    with pytest.raises(SettingsError, match="no/such-model"):
        reranker.rerank(normalise("q"), "build", [RerankDocument(payload(), 1200)])


def test_without_the_hub_it_fails_at_once_and_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(weights, "ANSWER_SECONDS", 0.5)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(ModelError, match="the model hub did not give it") as caught:
            make_dense(settings_of(tmp_path)).doc.embed_query("q")
    assert "Get online once, or set" in caught.value.hint
    assert sum(slept) < 1

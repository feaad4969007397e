"""Indexes of static vectors: when they are made, how they are asked, and how other vectors take their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest

from adk_evidence.embedding import factory
from adk_evidence.embedding.base import DenseEmbedder, Pair
from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.embedding.factory import make_dense
from adk_evidence.embedding.minilm.model import MODEL
from adk_evidence.errors import IndexMismatchError, IngestError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.registry import settings_of
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.calibration import calibration_of
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import DenseSettings, Settings
from adk_evidence.store.factory import open_generations
from adk_ingest import pipeline
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import RunManifest
from adk_ingest.session import ingest
from tests.corpora import HashEmbedder, Workplace, change

pytestmark = pytest.mark.slow

QUESTION = "RetryPlugin max_retries"
# What a test does while layers are computed.
meanwhile: list[Callable[[int], None]] = []
# The names of the encoders that questions were encoded with.
asked: list[str] = []


def layers(precision: str, max_tokens: int = 128) -> str:
    """The name of the model itself."""
    return f"{MODEL};{precision}-v1;max_tokens={max_tokens}"


LAYERS, TOKENS = layers("int8"), f"{MODEL};static-v1"


class Layers(HashEmbedder):
    """Stands in for the model itself."""

    def __init__(self, settings: DenseSettings, models: Path, report: Any = None) -> None:
        super().__init__(batch_size=4, on_batch=lambda done: [act(done) for act in meanwhile] and None)
        self.model = layers(settings.layers, settings.max_tokens)

    def embed_query(self, text: str) -> list[float]:
        asked.append(self.model)
        return super().embed_query(text)


class Tokens(HashEmbedder):
    """Stands in for the table of tokens."""

    model = TOKENS
    is_quick: Literal[True] = True

    def __init__(self, settings: DenseSettings, models: Path, report: Any = None) -> None:
        super().__init__()

    def embed_query(self, text: str) -> list[float]:
        asked.append(self.model)
        return super().embed_query(text)


@pytest.fixture(autouse=True)
def _encoders(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(factory, "MiniLmEmbedder", Layers)
    monkeypatch.setattr(factory, "StaticEmbedder", Tokens)
    yield
    meanwhile.clear()
    asked.clear()


@pytest.fixture
def above(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """From so many missing vectors on, an index gets static ones."""
    monkeypatch.setattr(pipeline, "STATIC_ABOVE", request.param)
    return int(request.param)


def run(place: Workplace, precision: str, **dense: Any) -> RunManifest:
    settings = place.settings_with({"embedding": {"dense": {"precision": precision, **dense}}})
    return ingest(settings, "all", place.sources, Progress())


def built_with(place: Workplace) -> str:
    current = place.published
    return str(current.manifest.fingerprint["dense_model"])


def ask(place: Workplace, precision: str) -> EvidencePack:
    settings = place.settings_with({"embedding": {"dense": {"precision": precision}}})
    with closing(EvidenceService(settings)) as service:
        return service.find(EvidenceRequest(query=QUESTION))


@pytest.mark.parametrize(("above", "model"), [(100_000, LAYERS), (5, TOKENS)], indirect=["above"])
def test_the_number_of_vectors_chooses_where_the_user_leaves_it_open(
    workplace: Workplace, above: int, model: str
) -> None:
    made = run(workplace, "auto")
    assert built_with(workplace) == made.dense_model == model
    precision = "static" if model == TOKENS else "int8"
    assert made.config["embedding"]["dense"]["precision"] == precision
    kept = closing(EmbeddingCache(workplace.settings.paths.embedding_cache))
    with kept as cache:
        assert (cache.size()[0] == 0) == (model == TOKENS), "static vectors are not kept"


@pytest.mark.parametrize("above", [1], indirect=True)
@pytest.mark.parametrize("first", ["static", "int8"])
def test_a_later_run_keeps_what_the_index_has(workplace: Workplace, first: str, above: int) -> None:
    run(workplace, first)
    before = built_with(workplace)
    change(workplace.docs / "docs/tools/retry.md", "Back off", "Wait longer")
    assert run(workplace, "auto").status == "complete"
    assert built_with(workplace) == before


def test_an_index_is_asked_with_its_own_encoder_and_the_pack_says_so(workplace: Workplace) -> None:
    run(workplace, "static")
    for precision in ("static", "auto", "int8", "fp32"):
        pack = ask(workplace, precision)
        assert pack.index is not None and pack.index.dense_model == TOKENS
        assert pack.quality.level == "mixed" and "not sentences" in pack.quality.note
        assert any(place.branch == "dense" for place in pack.candidates[0].why.branches)
    assert set(asked) == {TOKENS}
    run(workplace, "int8")
    asked.clear()
    for precision in ("static", "int8"):
        pack = ask(workplace, precision)
        assert pack.index is not None and pack.index.dense_model == LAYERS
        assert "static" not in pack.quality.note
    assert set(asked) == {LAYERS}


@pytest.mark.parametrize("above", [1], indirect=True)
def test_an_index_of_other_models_is_refused_and_built_anew_in_its_precision(workplace: Workplace, above: int) -> None:
    run(workplace, "int8", max_tokens=64)
    with pytest.raises(IndexMismatchError, match="max_tokens=64"):
        ask(workplace, "static")
    assert run(workplace, "auto").status == "complete"
    assert built_with(workplace) == LAYERS


def test_static_vectors_answer_until_the_last_other_vector_is_there_also_after_a_stop(workplace: Workplace) -> None:
    run(workplace, "static")
    seen: list[EvidencePack] = []

    def stop(done: int) -> None:
        if done == 8:
            raise RuntimeError("the power failed")

    meanwhile.append(stop)
    with pytest.raises(IngestError, match="stage embed"):
        run(workplace, "int8")
    meanwhile[:] = [lambda done: seen.append(ask(workplace, "int8"))]
    again = run(workplace, "int8")
    assert again.vectors_from_cache == 8 and again.vectors_embedded > 0
    models = [pack.index.dense_model for pack in seen if pack.index]
    # Symbols are embedded when the new index answers already.
    assert models[0] == TOKENS and models == sorted(models, key=(TOKENS, LAYERS).index)
    assert built_with(workplace) == LAYERS


def test_one_service_goes_on_through_the_change(workplace: Workplace) -> None:
    run(workplace, "static")
    settings = workplace.settings_with({"embedding": {"dense": {"precision": "int8"}}})
    request = EvidenceRequest(query=QUESTION)
    with closing(EvidenceService(settings)) as service:
        with service.session() as one, service.session() as other:
            assert one.settings is other.settings, "equal requests are told by their settings"
            assert calibration_of(one.settings) is None
        first = service.ask(request)
        run(workplace, "int8")
        second = service.ask(request)
        with service.session() as session:
            assert calibration_of(session.settings) is not None
    assert [pack.index.dense_model for pack in (first, second) if pack.index] == [TOKENS, LAYERS]


def test_an_indexer_of_many_runs_keeps_the_model_of_each_index(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def noted(settings: Settings, **more: Any) -> Pair[DenseEmbedder]:
        encoders = Pair.of(make_dense(settings, **more))
        made.append(encoders.doc.model)
        return encoders

    monkeypatch.setattr("adk_ingest.indexes.codebase.make_dense", noted)
    monkeypatch.setattr("adk_ingest.pipeline.make_dense", noted)
    for above, model in ((1, TOKENS), (100_000, LAYERS)):
        monkeypatch.setattr(pipeline, "STATIC_ABOVE", above)
        settings = workplace.settings_with({"embedding": {"dense": {"precision": "auto"}}})
        indexer = CodebaseIndexer(settings, keep_models=True)
        codebase = Codebase(name=f"shop-{above}", path=workplace.code)
        for number in range(4):
            made.clear()
            with (workplace.code / "src/google/adk/plugins/retry.py").open("a") as file:
                file.write(f"\nLIMIT_{number} = {above}\n")
            indexer.build(codebase, Progress())
            current = open_generations(settings_of(settings, codebase.name)).current()
            assert current is not None and current.manifest.fingerprint["dense_model"] == model
            # The first run chooses, and the second one may be the first of this precision.
            assert number < 2 or made == []

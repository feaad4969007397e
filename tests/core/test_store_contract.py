"""What every store must do. Each implementation is one entry of `STORES`; the same tests run against all."""

from __future__ import annotations

import math
import operator
import random
import shutil
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError, StoreError
from adk_evidence.models.chunk import TAG_FIELDS
from adk_evidence.services.qdrant import Patience, ServerConnection, api_key
from adk_evidence.settings import UploadSettings, load_settings
from adk_evidence.store.base import (
    KEYWORD_FIELDS,
    CollectionSpec,
    EvidenceStore,
    Filter,
    Fusion,
    HasId,
    HasVector,
    HybridResult,
    IndexWriter,
    Match,
    NewPoint,
    Prefetch,
    Record,
    Vector,
)
from adk_evidence.store.qdrant_edge import EdgeIndexReader, EdgeIndexWriter
from adk_evidence.store.qdrant_server import ServerIndexReader, ServerIndexWriter
from tests.standins.live import created, server_url

pytestmark = pytest.mark.slow

DIM = 8
DOCS, CODE = "docs", "code"
DOCS_SPEC = CollectionSpec(DOCS, {"dense": DIM}, {"lexical": True})
CODE_SPEC = CollectionSpec(CODE, {"dense": DIM}, {"lexical": False})
MULTI_SPEC = replace(DOCS_SPEC, multi=frozenset({"dense"}))
Specs = Sequence[CollectionSpec]


@dataclass(frozen=True)
class Backend:
    """How the tests get a writer and a reader of one implementation, and how far it rounds numbers near 1."""

    writer: Callable[[Path, Specs], IndexWriter]
    reader: Callable[[Path, Specs], EvidenceStore]
    rounding: float = 1e-6


STORE = load_settings(user_file=Path("/dev/null")).store


def uploading(*, batch_points: int = 256, parallel: int = 1, wait: bool = True) -> UploadSettings:
    return UploadSettings(batch_points=batch_points, parallel=parallel, wait=wait, max_retries=0)


PATIENCE = Patience(3, (0.1, 0.2), try_seconds=20)


def on_server() -> ServerConnection:
    """Of the server that QDRANT_URL names, or else of a stand-in."""
    return ServerConnection(server_url(), PATIENCE, key=api_key())


def server_backend(connect: Callable[[], ServerConnection]) -> Backend:
    return Backend(
        writer=lambda folder, specs: ServerIndexWriter(
            folder, specs, connect(), STORE, uploading(batch_points=7, parallel=2), created.update
        ),
        reader=lambda folder, specs: ServerIndexReader(folder, specs, connect()),
    )


STORES = {
    "edge": Backend(
        writer=lambda folder, specs: EdgeIndexWriter(folder, specs, batch_points=7, mapped_points=14),
        reader=EdgeIndexReader,
        rounding=2**-11,  # floats of 16 bits
    ),
    "server": server_backend(on_server),
}


# Where QDRANT_URL names a real server, `npm run test:live` runs these against it.
NAMES = ["edge", pytest.param("server", marks=pytest.mark.live)]


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> Backend:
    return STORES[request.param]


def point_id(number: int) -> str:
    return str(uuid.UUID(int=random.Random(number).getrandbits(128)))


def axis(place: int, length: float = 1.0) -> list[float]:
    return [length if at == place else 0.0 for at in range(DIM)]


def terms(*indices: int) -> SparseVector:
    return SparseVector(tuple(indices), (1.0,) * len(indices))


def point(number: int, vectors: Mapping[str, Vector] | None = None, **payload: object) -> NewPoint:
    if vectors is None:
        vectors = {"dense": axis(number % DIM), "lexical": terms(number % DIM, 100 + number)}
    return NewPoint(point_id(number), vectors, {"chunk_id": f"c{number}", **payload})


@contextmanager
def stored(
    backend: Backend, folder: Path, points: Iterable[NewPoint], spec: CollectionSpec = DOCS_SPEC
) -> Iterator[EvidenceStore]:
    """A reader of a folder that was written and closed."""
    with closing(backend.writer(folder, [spec])) as writer:
        writer.upsert(spec.name, points)
    with closing(backend.reader(folder, [spec])) as reader:
        yield reader


@pytest.fixture(scope="module", params=NAMES)
def numbered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceStore]:
    """Points 0 to 39: number n has axis and term n modulo 8."""
    points = [point(n, text=f"text {n}", path=f"{n}.py") for n in range(40)]
    with stored(STORES[request.param], tmp_path_factory.mktemp("numbered"), points) as store:
        yield store


@pytest.fixture(scope="module", params=NAMES)
def scratch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexWriter]:
    """A writer for tests that leave it empty."""
    with closing(STORES[request.param].writer(tmp_path_factory.mktemp("scratch"), [DOCS_SPEC])) as writer:
        yield writer


def branches(dense: int = 0, *sparse: int, limit: int = 10) -> list[Prefetch]:
    return [Prefetch("dense", axis(dense), limit), Prefetch("lexical", terms(*sparse), limit)]


def ids(hits: Iterable[object]) -> list[str]:
    return [hit.id for hit in hits]  # type: ignore[attr-defined]


# Writing and reading back


def test_points_come_back_as_they_were_written(backend: Backend, tmp_path: Path) -> None:
    payload = {
        "path": "src/ünï/x.py",
        "symbols": ["a", "b"],
        "start_line": 3,
        "ref": None,
        "score": 1.5,
        "flag": True,
        "text": "def f():\n\treturn '🚀'\n\x00",
        "nested": {"list": [1, {"deep": "yes"}]},
    }
    vectors = {"dense": [0.6, 0.8] + [0.0] * (DIM - 2), "lexical": SparseVector((3, 70_000), (0.5, 2.0))}
    with stored(backend, tmp_path, [point(1, vectors, **payload)]) as store:
        records, following = store.scroll(DOCS, with_vectors=True)
        assert following is None
        [record] = records
        assert record.id == point_id(1)
        assert record.payload == {"chunk_id": "c1", **payload}
        assert record.vectors["dense"] == pytest.approx(vectors["dense"], rel=backend.rounding)
        assert record.vectors["lexical"] == vectors["lexical"]
        [bare], _ = store.scroll(DOCS, with_payload=False, with_vectors=True)
        assert (bare.id, bare.payload, bare.vectors) == (record.id, {}, record.vectors)
        [part], _ = store.scroll(DOCS, with_payload=["text", "absent"], with_vectors=["lexical"])
        assert part == Record(record.id, {"text": payload["text"]}, {"lexical": vectors["lexical"]})


def test_upsert_replaces_points_and_says_how_many_it_wrote(backend: Backend, tmp_path: Path) -> None:
    with closing(backend.writer(tmp_path, [DOCS_SPEC])) as writer:
        assert writer.upsert(DOCS, (point(n, lang="py") for n in range(20))) == 20
        assert writer.upsert(DOCS, [point(3, {"lexical": terms(9)}, lang="ts")]) == 1
        assert writer.upsert(DOCS, []) == 0
        assert writer.count(DOCS) == 20
        records, _ = writer.scroll(DOCS, filter=Filter(must=(HasId((point_id(3),)),)), with_vectors=True)
        assert records[0].payload["lang"] == "ts"
        assert records[0].vectors == {"lexical": terms(9)}


def test_an_empty_sparse_vector_is_not_stored(backend: Backend, tmp_path: Path) -> None:
    with stored(backend, tmp_path, [point(1, {"dense": axis(0), "lexical": terms()})]) as store:
        records, _ = store.scroll(DOCS, with_vectors=True)
        assert list(records[0].vectors) == ["dense"]


def test_delete_removes_what_passes_the_filter(backend: Backend, tmp_path: Path) -> None:
    with closing(backend.writer(tmp_path, [DOCS_SPEC])) as writer:
        writer.upsert(DOCS, [point(n, path=f"{n % 2}.py") for n in range(10)])
        writer.delete(DOCS, Filter(must=(Match("path", ("1.py",)),)))
        assert {record.payload["path"] for record in writer.scroll(DOCS)[0]} == {"0.py"}
        writer.delete(DOCS, Filter())
        assert writer.count(DOCS) == 0


def test_set_payload_changes_these_fields_of_what_passes_the_filter_and_nothing_else(
    backend: Backend, tmp_path: Path
) -> None:
    points = [point(n, path=f"{n % 2}.py", commit="a", ref="main", text=f"text {n}") for n in range(10)]
    with stored(backend, tmp_path / "a", points):
        pass
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    odd = Filter(must=(Match("commit", ("b",)),))
    with closing(backend.writer(tmp_path / "b", [DOCS_SPEC])) as writer:
        writer.set_payload(DOCS, Filter(must=(Match("path", ("1.py",)),)), {"commit": "b", "ref": None})
        with pytest.raises(StoreError, match="cannot be written"):
            writer.set_payload(DOCS, Filter(), {"commit": object()})
    with (
        closing(backend.reader(tmp_path / "a", [DOCS_SPEC])) as old,
        closing(backend.reader(tmp_path / "b", [DOCS_SPEC])) as new,
    ):
        before = {record.id: record for record in old.scroll(DOCS, with_vectors=True)[0]}
        after = {record.id: record for record in new.scroll(DOCS, with_vectors=True)[0]}
        changed = {record.id for record in new.scroll(DOCS, filter=odd)[0]}
        assert changed == {point_id(n) for n in range(1, 10, 2)} and old.count(DOCS, odd) == 0
        for name, record in before.items():
            payload = dict(record.payload)
            if name in changed:
                payload["commit"] = "b"
                del payload["ref"]
            assert after[name] == replace(record, payload=payload)


def test_a_closed_folder_and_a_copy_of_it_can_be_written_on(backend: Backend, tmp_path: Path) -> None:
    with stored(backend, tmp_path / "a", [point(n) for n in range(5)]):
        pass
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with (
        stored(backend, tmp_path / "b", [point(9)]) as changed,
        closing(backend.reader(tmp_path / "a", [DOCS_SPEC])) as old,
    ):
        assert (changed.count(DOCS), old.count(DOCS)) == (6, 5)


def test_the_embedded_store_refuses_fields_that_do_not_stand_apart(tmp_path: Path) -> None:
    with closing(STORES["edge"].writer(tmp_path, [DOCS_SPEC])) as writer:
        with pytest.raises(ValueError, match="text"):
            writer.count(DOCS, Filter(must=(Match("text", ("x",)),)))
        with pytest.raises(ValueError, match="text"):
            writer.set_payload(DOCS, Filter(), {"text": "x"})


# Filters


FILTERED = [
    point(0, path="src/a.py", lang="py", names=["A", "run"]),
    point(1, path="src/b.py", lang="py", names=["B"]),
    point(2, path="docs/a.md", lang="md", names=[]),
    point(3, path="src/ab.ts", lang="ts"),
]


@pytest.fixture(scope="module", params=NAMES)
def filtered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceStore]:
    with stored(STORES[request.param], tmp_path_factory.mktemp("filtered"), FILTERED) as store:
        yield store


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Filter(must=(Match("lang", ("py",)),)), {0, 1}),
        (Filter(must=(Match("lang", ("py", "md")),)), {0, 1, 2}),
        (Filter(must=(Match("lang", ()),)), set()),
        (Filter(must=(Match("names", ("run", "B")),)), {0, 1}),
        (Filter(should=(Match("lang", ("md",)), Match("path", ("src/b.py",)))), {1, 2}),
        (Filter(must_not=(Match("lang", ("py",)),)), {2, 3}),
        (Filter(must=(Match("lang", ("py", "ts")),), must_not=(Match("path", ("src/ab.ts",)),)), {0, 1}),
        (Filter(must=(HasId((point_id(0), point_id(3), point_id(77))),)), {0, 3}),
        (Filter(must=(HasId(()),)), set()),
        (Filter(must=(HasVector("dense"),)), {0, 1, 2, 3}),
        (Filter(must_not=(HasVector("lexical"),)), set()),
        (
            Filter(
                must=(Filter(should=(Match("lang", ("md",)), Match("lang", ("ts",)))), Match("path", ("src/ab.ts",)))
            ),
            {3},
        ),
        (Filter(must=(Match("decorators", ("x",)),)), set()),
        (Filter(must=(Filter(),)), {0, 1, 2, 3}),
        (Filter(), {0, 1, 2, 3}),
        (None, {0, 1, 2, 3}),
    ],
)
def test_filters_mean_the_same_wherever_they_are_given(
    filtered: EvidenceStore, condition: Filter | None, expected: set[int]
) -> None:
    wanted = {point_id(number) for number in expected}
    assert filtered.count(DOCS, condition) == len(wanted)
    assert set(ids(filtered.scroll(DOCS, filter=condition)[0])) == wanted
    found = filtered.hybrid_query(DOCS, branches(0, 0, 1, 2, 3), Fusion(), limit=10, filter=condition)
    assert set(ids(found.fused)) == wanted
    assert set(ids(found.branches[0])) == set(ids(found.branches[1])) == wanted


@settings(max_examples=60)
@given(path=st.text(max_size=40), other=st.text(max_size=40))
def test_any_text_can_be_filtered_by(scratch: IndexWriter, path: str, other: str) -> None:
    scratch.upsert(DOCS, [point(1, path=path), point(2, path=other)])
    found = scratch.scroll(DOCS, filter=Filter(must=(Match("path", (path,)),)))[0]
    scratch.delete(DOCS, Filter())
    assert ids(found) == sorted({point_id(1)} | ({point_id(2)} if path == other else set()))


# Hybrid queries


def test_fused_hits_carry_payloads_and_branches_do_not(numbered: EvidenceStore) -> None:
    result = numbered.hybrid_query(DOCS, branches(2, 2, 110), Fusion(), limit=4)
    assert len(result.fused) == 4
    assert result.branches[1][0].id == point_id(10)
    assert all(hit.payload and hit.payload["text"].startswith("text") for hit in result.fused)
    assert all(hit.payload is None for branch in result.branches for hit in branch)
    assert set(ids(result.branches[1])) == {point_id(n) for n in (2, 10, 18, 26, 34)}
    assert result.branches[0][0].score == pytest.approx(1.0)


def test_a_limit_of_zero_gives_the_branches_without_a_request_for_payloads(
    numbered: EvidenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = branches(2, 2, 110)
    expected = numbered.hybrid_query(DOCS, query, Fusion(), limit=4).branches
    monkeypatch.setattr(type(numbered), "retrieve", lambda *_: pytest.fail("payloads were read"))
    assert numbered.hybrid_query(DOCS, query, Fusion(), limit=0) == HybridResult([], expected)


def test_equal_scores_are_ordered_and_cut_by_point_id(backend: Backend, tmp_path: Path) -> None:
    # Half of the points are found by one branch alone, half by the other: each fused score occurs twice.
    points = [point(n, {"dense": [1.0, n / 50, 0, 0, 0, 0, 0, 0]}) for n in range(20)]
    points += [point(20 + n, {"lexical": SparseVector((1,), (30.0 - n,))}) for n in range(20)]
    query = branches(0, 1, limit=20)
    with stored(backend, tmp_path, points) as store:
        every = store.hybrid_query(DOCS, query, Fusion(), limit=40).fused
        assert len(every) == 40
        assert len({hit.score for hit in every}) == 20
        assert every == sorted(every, key=lambda hit: (-hit.score, hit.id))
        for limit in (1, 5, 11, 40):
            for _ in range(10):
                assert store.hybrid_query(DOCS, query, Fusion(), limit=limit).fused == every[:limit]


def test_a_branch_may_have_a_filter_of_its_own_beside_the_querys(numbered: EvidenceStore) -> None:
    own = Filter(must=(Match("path", ("3.py", "11.py")),))
    branches = [Prefetch("dense", axis(0), 5), Prefetch("dense", axis(3), 5, own)]
    result = numbered.hybrid_query(DOCS, branches, Fusion(), limit=10)
    assert {hit.id for hit in result.branches[1]} == {point_id(3), point_id(11)}
    assert point_id(3) not in {hit.id for hit in result.branches[0]}
    both = numbered.hybrid_query(DOCS, branches, Fusion(), limit=10, filter=Filter(must=(Match("path", ("3.py",)),)))
    assert {hit.id for hit in both.fused} == {point_id(3)}


def test_a_branch_without_terms_keeps_its_place(numbered: EvidenceStore) -> None:
    prefetch = [Prefetch("lexical", terms(), 5), Prefetch("dense", axis(1), 5)]
    result = numbered.hybrid_query(DOCS, prefetch, Fusion(), limit=5)
    assert result.branches[0] == []
    assert set(ids(result.branches[1])) == set(ids(result.fused)) == {point_id(n) for n in (1, 9, 17, 25, 33)}
    nothing = numbered.hybrid_query(DOCS, prefetch[:1], Fusion(), limit=5)
    assert (nothing.fused, nothing.branches) == ([], [[]])
    assert numbered.hybrid_query(DOCS, [], Fusion(), limit=5).branches == []


def test_idf_lifts_rare_terms_where_the_collection_asks_for_it(backend: Backend, tmp_path: Path) -> None:
    points = [point(n, {"lexical": terms(1)}) for n in range(30)] + [point(50, {"lexical": terms(2)})]
    query = [Prefetch("lexical", terms(1, 2), 40)]
    with closing(backend.writer(tmp_path, [DOCS_SPEC, CODE_SPEC])) as writer:
        for collection in (DOCS, CODE):
            writer.upsert(collection, points)
        with_idf, without = (
            {hit.id: hit.score for hit in writer.hybrid_query(name, query, Fusion(), limit=40).branches[0]}
            for name in (DOCS, CODE)
        )
    assert with_idf[point_id(50)] > 10 * with_idf[point_id(0)]
    assert without[point_id(50)] == without[point_id(0)] == 1.0


# Scores of given points


def test_scores_of_given_points_are_those_of_the_search(backend: Backend, tmp_path: Path) -> None:
    chance = random.Random(3)
    points = [
        point(n, {"dense": [chance.random() for _ in range(DIM)], "lexical": terms(n % 3, 50 + n)}) for n in range(40)
    ]
    dense, sparse = [chance.random() for _ in range(DIM)], terms(1, 55)
    query = [Prefetch("dense", dense, 40), Prefetch("lexical", sparse, 40)]
    with stored(backend, tmp_path, points) as store:
        by_search = [
            {hit.id: hit.score for hit in branch}
            for branch in store.hybrid_query(DOCS, query, Fusion(), limit=1).branches
        ]
        asked = [point_id(n) for n in (1, 2, 5, 999)]
        scores = store.score_points(DOCS, asked, {"dense": dense, "lexical": sparse})
        assert set(scores["dense"]) == {point_id(1), point_id(2), point_id(5)}
        # Point 1 shares its first term, point 5 its second; point 2 none.
        assert set(scores["lexical"]) == {point_id(1), point_id(5)}
        for branch, found in zip(by_search, (scores["dense"], scores["lexical"]), strict=True):
            assert found == {key: pytest.approx(branch[key], rel=1e-6) for key in found}


def test_points_whose_score_is_known_are_not_scored(numbered: EvidenceStore) -> None:
    asked = [point_id(n) for n in (1, 2, 9)]
    queries = {"dense": axis(1), "lexical": terms(1)}
    every = numbered.score_points(DOCS, asked, queries)
    known = {"dense": {point_id(1)}, "lexical": set(asked)}
    rest = numbered.score_points(DOCS, asked, queries, known)
    assert rest == {"dense": {key: every["dense"][key] for key in asked[1:]}, "lexical": {}}


# Several vectors of one name


def test_a_point_with_several_vectors_is_as_similar_as_its_nearest(backend: Backend, tmp_path: Path) -> None:
    chance = random.Random(5)
    several = {n: [[chance.gauss(0, 1) for _ in range(DIM)] for _ in range(n % 4 + 1)] for n in range(30)}
    query = [chance.gauss(0, 1) for _ in range(DIM)]

    def cosine(vector: Sequence[float]) -> float:
        return math.fsum(map(operator.mul, vector, query)) / (math.hypot(*vector) * math.hypot(*query))

    cosines = max(1e-5, backend.rounding)
    best = {point_id(n): max(map(cosine, rows)) for n, rows in several.items()}
    points = [point(n, {"dense": rows, "lexical": terms(n)}) for n, rows in several.items()]
    with stored(backend, tmp_path, points, MULTI_SPEC) as store:
        result = store.hybrid_query(DOCS, [Prefetch("dense", query, 30)], Fusion(), limit=30)
        assert {hit.id: hit.score for hit in result.branches[0]} == pytest.approx(best, abs=cosines)
        assert ids(result.fused) == sorted(best, key=lambda found: -best[found])
        asked = [point_id(3), point_id(4)]
        scores = store.score_points(DOCS, asked, {"dense": query})
        assert scores == {"dense": pytest.approx({found: best[found] for found in asked}, abs=cosines)}


def test_several_vectors_come_back_in_their_order_and_can_be_replaced(backend: Backend, tmp_path: Path) -> None:
    with closing(backend.writer(tmp_path, [MULTI_SPEC])) as writer:
        writer.upsert(DOCS, [point(1, {"dense": [axis(3), axis(1), axis(2)]}), point(2, {"dense": [axis(5)]})])
        assert writer.upsert(DOCS, [point(2, {"dense": [axis(6), axis(7)]})]) == 1
        found = {record.id: record.vectors["dense"] for record in writer.scroll(DOCS, with_vectors=True)[0]}
    assert found == {point_id(1): [axis(3), axis(1), axis(2)], point_id(2): [axis(6), axis(7)]}


@pytest.mark.parametrize("other", [MULTI_SPEC, replace(DOCS_SPEC, dense={"dense": DIM * 2})])
def test_a_folder_with_other_vectors_is_not_written_on(tmp_path: Path, other: CollectionSpec) -> None:
    with stored(STORES["edge"], tmp_path, [point(1)], DOCS_SPEC):
        pass
    with (
        pytest.raises(StoreError, match="collection docs cannot be written"),
        closing(EdgeIndexWriter(tmp_path, [other])) as writer,
    ):
        writer.delete(DOCS, Filter())


# Scroll and retrieve


def test_scroll_pages_through_all_points_in_the_order_of_ids(numbered: EvidenceStore) -> None:
    seen: list[str] = []
    offset = None
    while True:
        records, offset = numbered.scroll(DOCS, limit=15, offset=offset)
        assert all(record.vectors == {} for record in records)
        seen += ids(records)
        if offset is None:
            break
    assert seen == sorted(point_id(n) for n in range(40))


def test_retrieve_leaves_out_missing_points_and_keeps_the_order(numbered: EvidenceStore) -> None:
    asked = [point_id(4), point_id(99), point_id(0)]
    assert ids(numbered.retrieve(DOCS, asked)) == [point_id(4), point_id(0)]
    assert numbered.retrieve(DOCS, []) == []


# Refusals


@pytest.mark.parametrize(
    ("spec", "vectors", "message"),
    [
        (DOCS_SPEC, {"dense": [1.0] * (DIM - 1)}, "7 dimensions where the index has 8"),
        (DOCS_SPEC, {"dense": [math.nan] + [0.0] * (DIM - 1)}, "not a number"),
        (DOCS_SPEC, {"dense": [math.inf] + [0.0] * (DIM - 1)}, "not a number"),
        (DOCS_SPEC, {"other": [1.0] * DIM}, "no dense vector other"),
        (DOCS_SPEC, {"dense": terms(1)}, "no sparse vector dense"),
        (DOCS_SPEC, {"lexical": SparseVector((1,), (math.nan,))}, "not a number"),
        (MULTI_SPEC, {"dense": [axis(0), [1.0]]}, "1 dimensions where the index has 8"),
    ],
)
def test_malformed_vectors_are_refused_in_a_sentence(
    backend: Backend, tmp_path: Path, spec: CollectionSpec, vectors: dict[str, Vector], message: str
) -> None:
    with closing(backend.writer(tmp_path, [spec])) as writer:
        with pytest.raises(StoreError, match=message):
            writer.upsert(DOCS, [point(1, vectors)])
        assert writer.count(DOCS) == 0
        [(using, query)] = vectors.items()
        # A query always has one vector.
        query = [1.0] if spec is MULTI_SPEC else query
        with pytest.raises(StoreError, match=message):
            writer.hybrid_query(DOCS, [Prefetch(using, query, 3)], Fusion(), limit=3)
        with pytest.raises(StoreError, match=message):
            writer.score_points(DOCS, [point_id(1)], {using: query})


@pytest.mark.parametrize("bad_id", ["", "abc", "c" * 40])
def test_ids_must_be_uuids(scratch: IndexWriter, bad_id: str) -> None:
    for ask in (
        lambda: scratch.upsert(DOCS, [replace(point(1), id=bad_id)]),
        lambda: scratch.retrieve(DOCS, [bad_id]),
        lambda: scratch.scroll(DOCS, offset=bad_id),
    ):
        with pytest.raises(StoreError, match="not a point id"):
            ask()


def test_a_payload_that_is_not_json_is_refused(scratch: IndexWriter) -> None:
    for value in ("\ud800", object()):
        with pytest.raises(StoreError, match="cannot be written"):
            scratch.upsert(DOCS, [point(1, text=value)])
    assert scratch.count(DOCS) == 0


def test_a_collection_that_the_index_does_not_have_is_unavailable(numbered: EvidenceStore) -> None:
    for ask in (
        lambda: numbered.count("other"),
        lambda: numbered.scroll("other"),
        lambda: numbered.retrieve("other", []),
        lambda: numbered.score_points("other", [], {}),
        lambda: numbered.hybrid_query("other", [], Fusion(), limit=1),
    ):
        with pytest.raises(CollectionUnavailableError, match="no collection other"):
            ask()
    assert numbered.count(DOCS) == 40


def test_a_closed_store_says_so(backend: Backend, tmp_path: Path) -> None:
    with stored(backend, tmp_path, [point(1)]) as store:
        assert store.count(DOCS) == 1
        store.close()
        with pytest.raises(StoreError, match="closed"):
            store.count(DOCS)
    writer = backend.writer(tmp_path, [DOCS_SPEC])
    writer.close()
    with pytest.raises(StoreError, match="closed"):
        writer.upsert(DOCS, [point(1)])


def test_threads_share_a_store(numbered: EvidenceStore) -> None:
    wrong: list[object] = []

    def ask(number: int) -> None:
        for _ in range(20):
            try:
                found = numbered.hybrid_query(DOCS, branches(number, 100 + number), Fusion(), limit=3)
            except Exception as exc:
                wrong.append(exc)
                return
            if found.fused[0].id != point_id(number):
                wrong.append(found)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(DIM)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# The embedded store alone


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that temporary copies of a collection go to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def _edge_folder(folder: Path, *more: CollectionSpec) -> Path:
    with closing(EdgeIndexWriter(folder, [DOCS_SPEC, *more])) as writer:
        writer.upsert(DOCS, [point(n) for n in range(12)])
    return folder


def test_one_missing_collection_leaves_the_other_working(tmp_path: Path) -> None:
    with closing(EdgeIndexReader(_edge_folder(tmp_path), [DOCS_SPEC, CODE_SPEC])) as reader:
        for _ in range(2):
            with pytest.raises(CollectionUnavailableError, match="lost its collection code"):
                reader.count(CODE)
        assert reader.count(DOCS) == 12


@pytest.mark.parametrize("name", ["segment.json", "status.dat", "edge_config.json"])
def test_a_damaged_collection_is_unavailable_not_a_crash(tmp_path: Path, name: str, temporary: Path) -> None:
    folder = _edge_folder(tmp_path / "index", CODE_SPEC)
    for path in (folder / DOCS).rglob(name):
        path.write_bytes(path.read_bytes()[:3])
    with closing(EdgeIndexReader(folder, [DOCS_SPEC, CODE_SPEC])) as reader:
        with pytest.raises(CollectionUnavailableError, match="collection docs cannot answer") as failure:
            reader.count(DOCS)
        assert "adk-ingest all" in failure.value.hint
        assert reader.count(CODE) == 0
    assert list(temporary.iterdir()) == []


def test_a_shard_that_lost_its_points_is_noticed(tmp_path: Path) -> None:
    [mappings] = (_edge_folder(tmp_path) / DOCS).rglob("mutable_id_tracker.mappings")
    mappings.write_bytes(b"")
    with (
        closing(EdgeIndexReader(tmp_path, [DOCS_SPEC], {DOCS: 12})) as reader,
        pytest.raises(CollectionUnavailableError, match="holds 0 of 12 chunks"),
    ):
        reader.count(DOCS)


def test_a_folder_that_cannot_be_opened_in_place_is_read_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    import qdrant_edge

    folder = _edge_folder(tmp_path / "index")
    load = qdrant_edge.EdgeShard.load

    class RefusingShard:
        @staticmethod
        def load(path: str, config: qdrant_edge.EdgeConfig) -> qdrant_edge.EdgeShard:
            if Path(path).is_relative_to(folder):
                raise Exception("Service runtime error: failed to open WAL: WouldBlock")
            return load(path, config)

    monkeypatch.setattr(qdrant_edge, "EdgeShard", RefusingShard)
    with closing(EdgeIndexReader(folder, [DOCS_SPEC])) as reader:
        assert reader.count(DOCS) == 12
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


def test_readers_share_a_folder_without_copying_it(tmp_path: Path, temporary: Path) -> None:
    folder = _edge_folder(tmp_path / "index")
    with (
        closing(EdgeIndexReader(folder, [DOCS_SPEC])) as one,
        closing(EdgeIndexReader(folder, [DOCS_SPEC])) as two,
    ):
        assert one.count(DOCS) == two.count(DOCS) == 12
        assert list(temporary.iterdir()) == []


def test_a_collection_that_is_not_changed_is_not_opened(tmp_path: Path) -> None:
    _edge_folder(tmp_path)
    other = replace(DOCS_SPEC, name="other")
    (tmp_path / DOCS / "edge_config.json").write_text("damaged")
    with closing(EdgeIndexWriter(tmp_path, [DOCS_SPEC, other])) as writer:
        assert writer.upsert("other", [point(1)]) == 1
        with pytest.raises(StoreError, match="collection docs cannot be written"):
            writer.upsert(DOCS, [point(1)])


@pytest.mark.parametrize("name", ["..", ".", "a/b", "/tmp/x", ""])
def test_a_collection_name_cannot_lead_out_of_the_index(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot name a folder"):
        EdgeIndexWriter(tmp_path, [replace(DOCS_SPEC, name=name)])


def test_a_collection_has_one_segment_without_a_graph_and_an_index_of_each_filter_field(tmp_path: Path) -> None:
    import qdrant_edge

    shard = qdrant_edge.EdgeShard.load(str(_edge_folder(tmp_path) / DOCS))
    try:
        info = shard.info()
        assert info.segments_count == 1 and not list(tmp_path.rglob("graph*"))
        assert set(info.payload_schema) == set(KEYWORD_FIELDS) >= set(TAG_FIELDS)
    finally:
        shard.close()

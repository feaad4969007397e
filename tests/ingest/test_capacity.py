"""What `adk-ingest simulate` computes, by numbers that were computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adk_evidence.errors import IngestError, InvalidRequestError
from adk_evidence.index.encoders import for_parts
from adk_ingest.capacity import Given, Rates, Shape, _measured_run, forecast, measure_rates, simulate
from adk_ingest.capacity_views import duration
from adk_ingest.cli import app
from adk_ingest.manifest import CorpusRun, RunManifest
from tests.corpora import HashEmbedder, Workplace

SHAPE = Shape(
    chunks=1000,
    files=0.1,
    computed=2.0,
    stored=3.0,
    graphs=2.0,
    dimension=100,
    terms=50.0,
    payload=1000.0,
    indexed=400.0,
    tokens={"doc": 60.0, "code": 40.0},
    manifest=20.0,
)
RATES = Rates(
    chunks_per_second=500.0,
    vectors_per_second=200.0,
    points_per_second=1000.0,
    files_per_second=1000.0,
    verified_per_second=5000.0,
)

ALL = Given(chunks_per_second=1.0, vectors_per_second=1.0, points_per_second=1.0)


def run_of(seconds: dict[str, float], **more: object) -> RunManifest:
    corpora = {name: _corpus(files) for name, files in (("adk_docs", 30), ("adk_python", 70))}
    values = {"points_uploaded": {"adk_docs": 400, "adk_python": 600}, "vectors_embedded": 2000, **more}
    return RunManifest(
        run_id="run",
        pid=1,
        status="complete",
        started_at="",
        mode="all",
        profile="local",
        config={},
        chunker_version="1",
        dense_model="d",
        sparse_model="s",
        corpora=corpora,
        seconds=seconds,
        **values,  # type: ignore[arg-type]
    )


def _corpus(files: int) -> CorpusRun:
    return CorpusRun(repo="r", commit="c", ref=None, source="git", root="/", files=files)


class TestForecast:
    def test_workers_share_everything_but_the_look_at_the_files(self) -> None:
        # 1,000,000 chunks of 100,000 files, found at 1000 a second: 100 s for every worker. Of a chunk: 1/500 s to
        # cut, 2/200 s for its vectors, 1/1000 s to write: 0.013 s.
        alone = forecast(1_000_000, SHAPE, RATES, 1, 1, 64e9, {})
        four = forecast(1_000_000, SHAPE, RATES, 4, 1, 64e9, {})
        assert alone.worker_seconds == pytest.approx(100 + 13_000)
        assert four.worker_seconds == pytest.approx(100 + 3_250)
        # 1,000,000 chunks at 5000 a second, by one machine at the end.
        assert alone.finish_seconds == four.finish_seconds == pytest.approx(200)

    def test_memory_and_disk_of_each_way_to_keep_vectors(self) -> None:
        found = {one.layout: one for one in forecast(1_000_000, SHAPE, RATES, 1, 2, 64e9, {}).memory}
        # Of a chunk beside its vectors: 50 terms of 12 bytes, 400 of indexed values, 64: 1064 bytes.
        # float: 3 * 100 * 4 * 1.5 = 1800; int8: 3 * 100 * 1.5 = 450; graphs: 2 * 128 * 1.5 = 384. Two replicas.
        assert found["float"].memory_bytes == pytest.approx(2e6 * 2864)
        assert found["int8"].memory_bytes == pytest.approx(2e6 * 1514)
        assert found["disk"].memory_bytes == pytest.approx(2e6 * 1448)
        # On disk: 1200 of floats, 50 terms of 8 bytes, 1000 of payload, 1.5 times; int8 copies take 300 more.
        assert found["float"].disk_bytes == found["disk"].disk_bytes == pytest.approx(2e6 * 3900)
        assert found["int8"].disk_bytes == pytest.approx(2e6 * 4350)

    def test_nodes_hold_the_memory_of_all_replicas(self) -> None:
        # 100,000,000 chunks of 2864 bytes in two replicas: 572.8 GB; a node of 64 GB takes 51.2 of them: 11.19.
        large = forecast(100_000_000, SHAPE, RATES, 1, 2, 64e9, {}).memory[0]
        assert large.nodes == 12
        assert forecast(1000, SHAPE, RATES, 1, 3, 64e9, {}).memory[0].nodes == 3, "each replica has a node of its own"

    def test_the_price_the_cache_and_the_manifest(self) -> None:
        # 60 tokens of docs at 0.18 and 40 of code at 0.10, for a million: 10.8 and 4 dollars for a million chunks.
        one = forecast(1_000_000, SHAPE, RATES, 4, 1, 64e9, {"doc": 0.18, "code": 0.10})
        assert one.usd == pytest.approx(14.8)
        # A quarter of the chunks, 2 vectors each of 100 numbers of 4 bytes.
        assert one.cache_bytes == pytest.approx(200e6)
        assert one.manifest_bytes == pytest.approx(20e6)
        assert forecast(1_000_000, SHAPE, RATES, 4, 1, 64e9, {}).usd is None


class TestRates:
    def test_they_come_from_the_times_of_a_run(self) -> None:
        seconds = {"discover": 2.0, "chunk": 4.0, "embed": 10.0, "sparse": 1.0, "upsert": 3.0, "verify": 0.5}
        assert measure_rates(run_of(seconds), Given()) == Rates(
            chunks_per_second=250.0,
            vectors_per_second=200.0,
            points_per_second=250.0,
            files_per_second=50.0,
            verified_per_second=2000.0,
        )

    def test_a_first_run_writes_and_checks_each_point_twice(self) -> None:
        seconds = {"discover": 2.0, "chunk": 4.0, "embed": 10.0, "sparse": 1.0, "upsert": 3.0, "verify": 0.5}
        rates = measure_rates(run_of(seconds, lexical_generation="before"), Given())
        assert (rates.points_per_second, rates.verified_per_second, rates.chunks_per_second) == (500.0, 4000.0, 250.0)

    def test_what_the_user_gives_comes_first(self) -> None:
        given = Given(chunks_per_second=1.0, vectors_per_second=2.0, points_per_second=3.0)
        rates = measure_rates(None, given)
        assert (rates.chunks_per_second, rates.vectors_per_second, rates.points_per_second) == (1.0, 2.0, 3.0)
        assert rates.assumed == (
            "Finding files is assumed to take no time, since no run measured that.",
            "Verifying is assumed to take no time, since no run measured that.",
        )

    def test_no_rate_is_invented(self) -> None:
        seconds = {"chunk": 4.0, "sparse": 1.0, "upsert": 3.0}
        with pytest.raises(IngestError, match="how many vectors a second this machine makes"):
            measure_rates(run_of(seconds, vectors_embedded=0), Given())
        with pytest.raises(IngestError, match="how many chunks a second"):
            measure_rates(None, Given())


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (119, "119 s"), (120, "2.0 min"), (9000, "2.5 h"), (180_000, "2.1 d")]
)
def test_times_are_in_the_unit_that_people_would_use(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    made = Workplace(tmp_path_factory.mktemp("capacity"))
    made.ingest()
    return made


@pytest.mark.slow
class TestSimulation:
    def test_the_shape_is_that_of_the_published_points(self, place: Workplace) -> None:
        shape = simulate(place.settings, sizes=[1000]).shape
        records = [*place.records("doc", with_vectors=True), *place.records("code", with_vectors=True)]
        # Few chunks: the sample has all of them.
        assert shape.chunks == len(records)
        vectors = [vector for record in records for name, vector in record.vectors.items() if name.startswith("dense")]
        several = sum(len(vector) if isinstance(vector[0], list) else 1 for vector in vectors)
        assert shape.stored == pytest.approx(several / len(records))
        assert shape.graphs == pytest.approx(len(vectors) / len(records))
        terms = [len(record.vectors["sparse_lexical"].indices) for record in records]
        assert shape.terms == pytest.approx(sum(terms) / len(records))
        # Every chunk has the mean of its passages beside them.
        assert shape.computed == pytest.approx(shape.stored - 1)
        assert shape.dimension == 384 and shape.disk is not None and shape.disk > 0

    def test_every_assumption_is_printed(self, place: Workplace) -> None:
        arguments = ["simulate", "--home", str(place.home), "--chunks", "2000000", "--workers", "3", "--replicas", "2"]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        flat = " ".join(done.output.split())
        simulation = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
        assert simulation["run_id"] == place.runs()[0].run_id
        for assumption in simulation["assumptions"]:
            assert f"assumed: {assumption}" in flat
        assert "2,000,000" in flat and "time of 3 workers" in flat and "memory, 2 replicas" in flat

    def test_a_run_that_took_its_vectors_from_the_cache_does_not_say_how_fast_the_model_is(
        self, place: Workplace
    ) -> None:
        first = place.runs()[0].run_id
        page = place.docs / "docs" / "index.md"
        page.write_text(page.read_text() + "\n\nOne more paragraph.\n")
        place.ingest(dense=HashEmbedder())
        assert simulate(place.settings, sizes=[10]).run_id == first

    def test_runs_that_changed_a_few_files_are_not_measured(self, place: Workplace) -> None:
        # Its vectors were all computed, while the points of the whole index were copied and verified.
        page = place.docs / "docs" / "index.md"
        page.write_text(page.read_text() + "\n\nA sentence that no run has seen.\n")
        place.ingest(dense=HashEmbedder())
        whole, small = place.runs()[-1], place.runs()[0]
        assert 0 < sum(small.points_uploaded.values()) < sum(whole.points_uploaded.values())
        settings = for_parts(place.settings)
        assert _measured_run([small], settings) is None
        assert _measured_run([small, whole], settings) == whole

    def test_runs_with_another_store_or_model_are_not_measured(self, place: Workplace) -> None:
        whole = place.runs()[-1]
        others: list[dict[str, object]] = [
            {"store": {"kind": "server", "url": "http://127.0.0.1:9"}},
            {"embedding": {"dense": {"text": "brief"}}},
            {"embedding": {"dense": {"provider": "openai"}}},
            {"embedding": {"dense": {"precision": "static"}}},
        ]
        for other in others:
            assert _measured_run([whole], for_parts(place.settings_with(other))) is None
        with pytest.raises(IngestError, match="how many chunks a second") as failed:
            simulate(place.settings_with(others[1]), sizes=[10])
        assert "without --part" in (failed.value.hint or "")

    def test_what_is_said_of_the_server_is_of_the_measured_run(self, place: Workplace) -> None:
        def said(given: Given) -> str:
            return next(one for one in simulate(place.settings, sizes=[10], given=given).assumptions if "takes" in one)

        assert "as this machine's embedded store did" in said(Given())
        assert "as the given rate says" in said(Given(points_per_second=7.0))

    def test_a_price_is_that_of_all_models_or_none(self, place: Workplace) -> None:
        # The settings have the price of the code's model alone.
        embedding = {"dense": {"provider": "voyage", "text": "full"}, "voyage": {"docs_model": "voyage-own"}}
        simulation = simulate(place.settings_with({"embedding": embedding}), sizes=[1000], given=ALL)
        assert simulation.forecasts[0].usd is None
        assert any("name no price for voyage-own, so" in one for one in simulation.assumptions)

    def test_prices_are_those_of_the_settings(self, place: Workplace) -> None:
        prices = {"usd_per_million_tokens": {"text-embedding-3-small": 2.0}}
        embedding = {"dense": {"provider": "openai"}, "openai": prices}
        simulation = simulate(place.settings_with({"embedding": embedding}), sizes=[1_000_000], given=ALL)
        assert simulation.usd_per_million_tokens == {"doc": 2.0, "code": 2.0}
        tokens = sum(simulation.shape.tokens.values())
        assert simulation.forecasts[0].usd == pytest.approx(2.0 * tokens)
        without = {"dense": {"provider": "openai"}, "openai": {"model": "own", "dimension": 8}}
        unknown = simulate(place.settings_with({"embedding": without}), sizes=[10], given=ALL)
        assert unknown.forecasts[0].usd is None
        assert any("name no price" in assumption for assumption in unknown.assumptions)

    def test_numbers_that_make_no_sense_are_refused(self, place: Workplace) -> None:
        with pytest.raises(InvalidRequestError, match="are positive"):
            simulate(place.settings, sizes=[0])

    def test_without_an_index_there_is_nothing_to_measure(self, tmp_path: Path) -> None:
        done = CliRunner().invoke(app, ["simulate", "--home", str(tmp_path / "nothing")])
        assert done.exit_code == 5 and "There is no index" in done.output

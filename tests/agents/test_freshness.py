"""Questions to a codebase whose files have changed since its index was brought up to date."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.desk import Desk
from adk_evidence.errors import IngestError
from adk_evidence.index.indexer import IndexReport
from adk_evidence.index.registry import read_codebase, settings_of
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.render.wording import index_older
from adk_evidence.store.factory import open_generations
from adk_evidence_agents.session import AgentSession
from adk_ingest.corpora import known_files
from adk_ingest.corpora.known_files import RECORD
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.indexes.freshness import AGAIN_SECONDS, FEW_FILES, Freshness
from adk_ingest.progress import Progress
from tests.agents.operations_place import ask, make_place, shop_folder
from tests.corpora import Workplace, change, git, write_files

TURNOVER = "turnover of a month in cents"
GIFT = 'def wrap_gift():\n    """Wraps a gift in striped paper."""\n'


@dataclass
class Asked:
    """A place whose index `shop` is asked, with a clock and the runs that questions have begun."""

    place: Workplace
    session: AgentSession
    runs: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    now: float = 0.0

    @property
    def folder(self) -> Path:
        return shop_folder(self.place)

    def found(self, query: str, **more: Any) -> dict[str, str]:
        """The texts of the best results by their citations, which are checked."""
        self.now += AGAIN_SECONDS
        response = ask(self.session, "search_code", query=query, collection_name="shop", top_k=3, **more)
        self.said = response.recommendations
        return {item.citation.partition(":")[2]: item.content for item in response.results.search_results or ()}

    def together(self, query: str) -> EvidencePack:
        """One pack of the ADK and the shop."""
        self.now += AGAIN_SECONDS
        request = EvidenceRequest(query=query)
        with self.session.answering(request, beside="shop") as answering:
            return answering.ask(request)

    def older(self) -> str:
        """The one sentence that the last answer says of its index."""
        (said,) = [sentence for sentence in self.said if "he index shop " in sentence]
        return said


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    place = make_place(tmp_path)
    asked = Asked(place, AgentSession(lambda: place.settings))
    asked.session.desk = Desk(lambda: place.settings, freshen=Freshness(lambda: asked.now))
    update = CodebaseIndexer.update

    def counted(indexer: CodebaseIndexer, name: str, *rest: Any) -> IndexReport:
        asked.runs.append(name)
        if asked.failures:
            raise asked.failures.pop(0)
        return update(indexer, name, *rest)

    monkeypatch.setattr(CodebaseIndexer, "update", counted)
    yield asked
    asked.session.close()


class TestFewChanges:
    def test_the_present_text_is_found_and_cited_by_its_present_lines(self, asked: Asked) -> None:
        change(asked.folder / "jobs/turnover.py", "def turnover_of_month", "# Slowly.\n# Very.\ndef turnover_of_month")
        change(asked.folder / "jobs/turnover.py", "a month in cents", "a month in pence")
        found = asked.found("turnover of a month in pence")
        ((place, text),) = ((place, text) for place, text in found.items() if "in pence" in text)
        path, _, lines = place.partition("#L")
        first, last = map(int, lines.split("-L"))
        assert "\n".join((asked.folder / path).read_text().splitlines()[first - 1 : last]) == text.rstrip("\n")
        assert not asked.said

    def test_files_that_came_and_went_are_followed(self, asked: Asked) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        (asked.folder / "jobs/turnover.py").unlink()
        found = asked.found("wrap a gift in striped paper")
        assert GIFT.strip() in found["jobs/gift.py#L1-L2"]
        assert not any(place.startswith("jobs/turnover.py") for place in asked.found(TURNOVER))

    def test_a_question_to_two_indexes_brings_the_codebase_up_to_date(self, asked: Asked) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        pack = asked.together("wrap_gift")
        assert "jobs/gift.py" in {candidate.path for candidate in pack.candidates}
        assert not any(warning.code == "index_older" for warning in pack.warnings)

    def test_an_unchanged_codebase_and_files_that_no_index_takes_start_no_run(
        self, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # The files were written just before the run that indexed them.
        monkeypatch.setattr(known_files, "TIME_STEP_NS", 0)
        asked.found(TURNOVER)
        write_files(asked.folder, {".env": "TOKEN=1", "dist/a.js": "a()", "big.txt": "word " * 500_000})
        asked.found(TURNOVER)
        assert not asked.runs and not asked.said

    def test_what_git_ignores_by_now_leaves_the_index(self, asked: Asked) -> None:
        git(asked.folder, "init", "-q")
        git(asked.folder, "add", "src")
        git(asked.folder, "commit", "-q", "-m", "x")
        write_files(asked.folder, {".gitignore": "jobs/turnover.py\n"})
        assert not any(place.startswith("jobs/turnover.py") for place in asked.found(TURNOVER))

    def test_questions_in_a_row_look_once(self, asked: Asked) -> None:
        asked.found(TURNOVER)
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        asked.now -= AGAIN_SECONDS
        assert "jobs/gift.py#L1-L2" not in asked.found("wrap a gift in striped paper")
        assert "jobs/gift.py#L1-L2" in asked.found("wrap a gift in striped paper")

    def test_two_questions_at_once_run_one_update(self, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
        # The second question waits as long as the update takes on a slow machine.
        monkeypatch.setattr("adk_ingest.indexes.freshness.WAIT_SECONDS", 60.0)
        asked.found(TURNOVER)
        asked.runs.clear()
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        asked.now += AGAIN_SECONDS
        main, freshen = asked.place.settings, Freshness(lambda: 0.0)
        shop = settings_of(main, "shop")
        said: list[object] = []
        threads = [threading.Thread(target=lambda: said.append(freshen(main, shop, None))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert said == [None, None] and asked.runs == ["shop"]

    def test_a_question_that_is_cancelled_leaves_the_index_whole(self, asked: Asked) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        answer = ask(
            asked.session, "search_code", query=TURNOVER, collection_name="shop", cancelled=lambda: bool(asked.runs)
        )
        assert [error.type for error in answer.errors] == ["cancelled"]
        assert "jobs/gift.py#L1-L2" in asked.found("wrap a gift in striped paper")


class TestStale:
    def test_many_changes_are_counted_and_the_command_is_named(self, asked: Asked) -> None:
        write_files(asked.folder, {f"jobs/gift_{number}.py": GIFT for number in range(FEW_FILES + 1)})
        found = asked.found("wrap a gift in striped paper")
        assert not asked.runs and not any("gift" in place for place in found)
        assert f"{FEW_FILES + 1} files were changed, added or deleted since 20" in asked.older()
        assert f"`adk-ingest codebase {asked.folder} --name shop`" in asked.older()

        (warning,) = [warning for warning in asked.together("wrap a gift").warnings if warning.code == "index_older"]
        assert warning.text == asked.older()[:1].lower() + asked.older()[1:] and warning != index_older("shop")

    def test_other_rights_are_no_changes(self, asked: Asked) -> None:
        gifts = {f"jobs/gift_{number}.py": GIFT for number in range(FEW_FILES + 1)}
        write_files(asked.folder, gifts)
        indexer = CodebaseIndexer(asked.place.settings)
        indexer.build(read_codebase(asked.place.settings, "shop"), Progress())
        for name in gifts:
            (asked.folder / name).chmod(0o600)
        asked.found(TURNOVER)
        assert not asked.said

    def test_an_analysis_tells_what_has_changed_and_changes_nothing(self, asked: Asked) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        (shop,) = ask(asked.session, "analyze", collection_name="shop").results.analysis or ()
        assert shop.added_files == 1 and not asked.runs

    def test_nobody_waits_for_another_run(self, asked: Asked) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        with open_generations(settings_of(asked.place.settings, "shop")).writing("another run"):
            assert asked.found(TURNOVER) and not asked.runs
            assert asked.older().endswith("Another run is bringing it up to date.")
        assert "jobs/gift.py#L1-L2" in asked.found("wrap a gift in striped paper")

    def test_a_run_that_fails_is_said_and_tried_again(self, asked: Asked) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        asked.failures.append(IngestError("The disk is full.", "Free some space."))
        assert any(place.startswith("jobs/turnover.py") for place in asked.found(TURNOVER))
        assert asked.older().endswith("may be stale. The disk is full. Free some space.")
        assert "jobs/gift.py#L1-L2" in asked.found("wrap a gift in striped paper") and not asked.said

    def test_files_of_a_run_that_published_nothing_still_count_as_changed(
        self, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        with monkeypatch.context() as patch:
            patch.setattr("adk_ingest.pipeline.publish_verified", lambda *_: 1 / 0)
            asked.found(TURNOVER)
            assert "may be stale" in asked.older()
        assert "jobs/gift.py#L1-L2" in asked.found("wrap a gift in striped paper")

    def test_a_folder_that_is_gone_is_a_sentence(self, asked: Asked) -> None:
        asked.folder.rename(asked.folder.with_name("elsewhere"))
        assert asked.found(TURNOVER) and "is not on this machine" in asked.older()
        # As where the disk of a folder is not there.
        asked.folder.mkdir()
        assert asked.found(TURNOVER) and not asked.runs and "files were changed" in asked.older()

    def test_without_a_record_nobody_knows_what_has_changed(self, asked: Asked) -> None:
        (settings_of(asked.place.settings, "shop").index_path / RECORD).write_text("{}")
        assert asked.found(TURNOVER) and not asked.runs
        assert "Run `adk-ingest codebase" in asked.older()

    def test_a_paid_service_is_never_asked_without_consent(self, asked: Asked) -> None:
        write_files(asked.folder, {"jobs/gift.py": GIFT})
        settings = asked.place.settings
        dense = settings.embedding.dense.model_copy(update={"provider": "voyage"})
        paid = settings.model_copy(update={"embedding": settings.embedding.model_copy(update={"dense": dense})})
        said = Freshness()(paid, settings_of(paid, "shop"), None)
        assert said is not None and "1 file was changed" in said.text and not asked.runs

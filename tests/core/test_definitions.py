"""Questions that carry the names they are about: the definitions lead the answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from adk_evidence.models.pack import Candidate, EvidencePack
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_evidence.search.session import EvidenceService
from tests.answers import told
from tests.corpora import CODE, HashEmbedder, Workplace, shared_sparse, write_code

pytestmark = pytest.mark.slow

# Each method is longer than a chunk may be, so that the class is cut into its head and its methods.
FILLER = "".join(f"        # step {number} of the long way through all stations\n" for number in range(110))
LONG = f'''\
"""Long things."""


class Train:
    """Goes far."""

    wheels: int = 8

    def depart(self, platform: int) -> None:
        """Leaves."""
{FILLER}
    def arrive(self) -> None:
        """Is there."""
{FILLER}
'''


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceService]:
    workplace = Workplace(tmp_path_factory.mktemp("definitions"))
    write_code(workplace.code, {**CODE, "src/google/adk/train.py": LONG})
    guide = workplace.docs / "docs" / "tools" / "retry.md"
    guide.write_text(guide.read_text() + "\n## The RetryPlugin class\n\nIt calls again what failed.\n")
    workplace.ingest()
    opened = EvidenceService(workplace.settings, dense=HashEmbedder(), sparse=shared_sparse())
    yield opened
    opened.close()


def ask(service: EvidenceService, *symbols: str, query: str = "sessions of a person", **changes: Any) -> EvidencePack:
    return service.find(EvidenceRequest(query=query, symbols=symbols, **changes))


def named(pack: EvidencePack) -> list[Candidate]:
    return [candidate for candidate in pack.candidates if candidate.why.named]


def said(pack: EvidencePack) -> list[str | None]:
    return [candidate.why.named for candidate in named(pack) if candidate.source_type == "code"]


def test_definitions_stand_before_everything_that_the_search_ranks(service: EvidenceService) -> None:
    pack = ask(service, "google.adk.plugins.retry.back_off", "google.adk.runners.Runner")
    assert said(pack) == ["defines back_off", "defines Runner"]
    assert [candidate.symbol for candidate in pack.candidates[:2]] == ["back_off", "Runner"]
    assert len(pack.candidates) > 2 and pack.warnings == ()
    assert ask(service, "google.adk.plugins.retry.back_off", "google.adk.runners.Runner").pack_id == pack.pack_id


@pytest.mark.parametrize(
    "name", ["google.adk.plugins.RetryPlugin", "RetryPlugin", "google.adk.plugins.retry.RetryPlugin"]
)
def test_a_symbol_may_be_named_as_it_is_imported_or_alone(service: EvidenceService, name: str) -> None:
    pack = ask(service, name)
    assert said(pack) == ["defines RetryPlugin"]


def test_members_come_after_the_head_of_their_class(service: EvidenceService) -> None:
    train = "google.adk.train.Train"
    pack = ask(service, f"{train}.arrive", "google.adk.Runner", f"{train}.wheels", train)
    assert said(pack) == ["defines Train.wheels, Train", "defines Train.arrive", "defines Runner"]


def test_definitions_leave_the_places_that_the_mode_keeps_for_docs(service: EvidenceService) -> None:
    symbols = ("RetryPlugin", "Runner", "back_off", "Train", "Train.arrive", "Train.depart")
    pack = ask(service, *symbols, max_results_final=4)
    assert len(said(pack)) == 2 and pack.coverage.docs_in_top_k == 2
    assert len(said(ask(service, *symbols, max_results_final=4, task_mode="explain"))) == 4


ERROR = """Traceback (most recent call last):
  File "/env/google/adk/plugins/retry.py", line 900, in back_off
    return min(60.0, 2.0**attempt)
OverflowError: too often"""


def test_for_an_error_no_guide_takes_the_place_of_a_remedy(service: EvidenceService) -> None:
    pack = ask(service, "RetryPlugin", query=ERROR, task_mode="debug", max_results_final=3)
    assert said(pack) == ["raises the error", "defines RetryPlugin"]
    assert [one.why.named for one in pack.candidates if one.source_type == "docs"] == [None]


@pytest.mark.parametrize("size", [1, 2])
def test_the_raise_site_is_in_the_shortest_list(service: EvidenceService, size: int) -> None:
    pack = ask(service, "RetryPlugin", "Runner", query=ERROR, task_mode="debug", max_results_final=size)
    assert pack.candidates[0].why.named == "raises the error"
    assert pack.coverage.docs_in_top_k == size // 2


def test_filters_hold_for_definitions(service: EvidenceService) -> None:
    inside = EvidenceFilters(path_allowlist=("src/google/adk/plugins",))
    assert said(ask(service, "Runner", "back_off", filters=inside)) == ["defines back_off"]
    assert said(ask(service, "Runner", filters=EvidenceFilters(source_types=("docs",)))) == []


def test_a_symbol_that_the_index_lacks_is_said_and_the_rest_is_answered(service: EvidenceService) -> None:
    pack = ask(service, "google.adk.agents.Wizard", "Runner")
    assert said(pack) == ["defines Runner"]
    assert told(pack) == ("unknown_symbol: google.adk.agents.Wizard is no symbol of the indexed code.",)
    assert pack.quality.level == "mixed"


def test_an_index_without_code_calls_no_symbol_unknown(workplace: Workplace) -> None:
    workplace.ingest("docs")
    with closing(workplace.service()) as docs:
        pack = ask(docs, "google.adk.runners.Runner", task_mode="explain")
    assert pack.candidates and not [warning for warning in told(pack) if "symbol" in warning]


def test_names_of_the_callers_own_code_need_not_be_indexed(service: EvidenceService) -> None:
    question = "my_helper(Runner(agent))"
    assert told(ask(service, query=question)) == (
        "unknown_name: my_helper is nowhere in the index; it may be invented, your own or too new.",
    )
    assert ask(service, query=question, own_names=("my_helper",)).warnings == ()

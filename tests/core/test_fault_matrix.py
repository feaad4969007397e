"""Every fault of the services, in every call: nothing is lost, nothing hangs, no key is told."""

from __future__ import annotations

import pytest

from adk_evidence.services.embeddings import KEY_VARIABLES as EMBEDDINGS_KEYS
from tests.fault_matrix import (
    ASKED,
    CALLS,
    FAULTS,
    INGESTED,
    LLM,
    OPENAI_ASK,
    OPENAI_INGEST,
    OUTAGE,
    REFUSED,
    STORE,
    Bench,
)
from tests.store_faults import CANNOT_HAPPEN, EXPIRED, MISFIT, UPLOAD

pytestmark = pytest.mark.slow

KEPT = "finished vectors are kept, the next run goes on"
# What passes by itself, and how long an ingestion waits for it: once, and in vain.
PASSING = {
    "429, Retry-After: 7": (7, 42),
    "429": (1, 63),
    "500": (1, 63),
    "502": (1, 63),
    "503": (1, 63),
    "reset inside the body": (1, 63),
    "body that never ends": (1, 63),
    "no JSON": (1, 63),
    "missing vector or score": (1, 63),
}
NOT_RERANKED = "the reranker was not available, so the order is that of the search"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("VOYAGE_API_KEY", *EMBEDDINGS_KEYS, "NO_PROXY"):
            patch.setenv(name, "")
        yield Bench(tmp_path_factory.mktemp("faults"))  # type: ignore[misc]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_has_the_outcome_that_is_wanted(bench: Bench, fault: str, call: str):
    wanted = stored if call in STORE else ingested if call in INGESTED else ordered if call == LLM else asked
    assert bench.cell(fault, call) == wanted(fault, call)


def ingested(fault: str, call: str) -> str:
    if fault == OUTAGE:
        # Docs come first and wait for both.
        return f"complete after {0 if call == 'embed' else 6} more tries, 63 s"
    if fault == REFUSED:
        return "stops with service_unavailable, 63 s; nothing was paid for, the next run goes on"
    if fault in PASSING:
        once, lasting = PASSING[fault]
        return (
            f"once: complete after 1 more try, {once} s. "
            f"Lasting: stops with service_unavailable in 7 tries, {lasting} s; {KEPT}"
        )
    code = "voyage_key" if fault == "expired key" and call != OPENAI_INGEST else "service_unavailable"
    at_once = f"stops with {code} in 1 try, 0 s; {KEPT}"
    return f"once: {at_once}. Lasting: {at_once}"


def asked(fault: str, call: str) -> str:
    side = f"the semantic side was not available for {'docs' if 'docs' in call else 'code'}"
    away = NOT_RERANKED
    if call == OPENAI_ASK:
        # One model for docs and code, and a reranker that needs no service.
        side = away = "the semantic side was not available"
    code, note = ("rerank_unavailable", NOT_RERANKED) if call == "rerank" else ("dense_unavailable", side)
    if fault == REFUSED:
        return f"dense_unavailable ({away}); strict: service_unavailable; then not asked; tried again after 30 s"
    if fault == OUTAGE:
        return f"dense_unavailable ({away}), 3 tries; strict: service_unavailable; then not asked; back within 31 s"
    once, tries, spared = f"once: {code}, 1 try, 0.0 s", "1 try", "asked each time"
    if fault in PASSING or (fault == "wrong dimension or index" and call == "rerank"):
        wait = 7.0 if "Retry-After" in fault else 0.5
        once, tries, spared = f"once: full answer, 2 tries, {wait} s", "3 tries", "then not asked"
        if fault == "429, Retry-After: 7" and call != "rerank":
            # A second wait of 7 s would pass the 10 s of a question's embedding.
            tries = "2 tries"
        if fault == "body that never ends":
            # The first try takes all the time there is.
            once, tries = f"once: {code}, 1 try, 0.0 s", "1 try"
    strict = "voyage_key" if fault == "expired key" and call != OPENAI_ASK else "service_unavailable"
    return f"{once}. Lasting: {code} ({note}), {tries}; strict: {strict}; {spared}; back within 31 s"


def ordered(fault: str, call: str) -> str:
    failed, strict = "rerank_unavailable", "strict: service_unavailable"
    if fault == REFUSED:
        return f"{failed}; {strict}; then not asked"
    if fault == OUTAGE:
        return f"{failed}, 2 tries; {strict}; then not asked"
    if fault == "missing vector or score":
        # What the model does not name keeps its place.
        return "once: full answer, 1 try, 0.0 s. Lasting: full answer, 1 try; strict: an answer; asked each time"
    if fault == "body that never ends":
        # The first try takes all the time there is.
        return f"once: {failed}, 1 try, 0.0 s. Lasting: {failed}, 1 try; {strict}; then not asked"
    if fault in PASSING:
        wait = 7.0 if "Retry-After" in fault else 0.5
        return f"once: full answer, 2 tries, {wait} s. Lasting: {failed}, 2 tries; {strict}; then not asked"
    return f"once: {failed}, 1 try, 0.0 s. Lasting: {failed}, 1 try; {strict}; asked each time"


def stored(fault: str, call: str) -> str:
    if (fault, call) in CANNOT_HAPPEN:
        return "-"
    return stored_points(fault) if call == UPLOAD else stored_answer(fault)


def stored_points(fault: str) -> str:
    if fault == OUTAGE:
        return "complete after 5 more tries, 60 s"
    if fault in (EXPIRED, MISFIT):
        return "stops with store_error in 1 try, 0 s; the next run goes on"
    # A Retry-After takes the place of the waits of 2 and 4 s that are shorter.
    asked = "Retry-After" in fault
    lasting = f"stops with store_error in 6 tries, {68 if asked else 60} s; the next run goes on"
    return (
        lasting if fault == REFUSED else f"once: complete after 1 more try, {7 if asked else 2} s. Lasting: {lasting}"
    )


def stored_answer(fault: str) -> str:
    if fault in (EXPIRED, MISFIT):
        return "collection_unavailable, 1 try, 0.0 s; asked each time; back at once"
    once, tries = "full answer, 2 tries, 0.2 s", "3 tries, 0.6 s"
    if "Retry-After" in fault:
        # A second wait of 7 s would pass the 10 s of a query.
        once, tries = "full answer, 2 tries, 7.0 s", "2 tries, 7.0 s"
    elif fault == "body that never ends":
        once, tries = "collection_unavailable, 1 try, 0.0 s", "1 try, 0.0 s"
    lasting = f"collection_unavailable, {tries}; then not asked; back within 31 s"
    return lasting if fault in (REFUSED, OUTAGE) else f"once: {once}. Lasting: {lasting}"


def test_every_call_and_fault_of_the_issue_is_there():
    assert len(FAULTS) == 13 and len(CALLS) == len({*INGESTED, *ASKED, LLM, *STORE}) == 11

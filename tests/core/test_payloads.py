from __future__ import annotations

import pytest

from adk_evidence.index.payloads import HeldPayloads
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store.base import Hit
from adk_evidence.store.factory import rollback
from tests.core.factories import payload
from tests.corpora import HashEmbedder, Workplace, write_files

pytestmark = pytest.mark.slow

PAGE = "docs/zebra.md"


def read(body: str, point: str) -> Hit:
    return Hit(point, 1.0, payload(body=body).model_dump())


def test_a_payload_that_was_read_is_held_for_the_next_search():
    payloads = CacheAside(9)
    first = HeldPayloads(payloads)
    assert "a" not in first
    chunk = first.of(read("text", "a"))
    again = HeldPayloads(payloads)
    assert "a" in again
    assert again.of(Hit("a", 0.5)) is chunk


def test_what_is_held_stays_although_others_read_much_meanwhile():
    payloads = CacheAside(1)
    chunk = HeldPayloads(payloads).of(read("text", "a"))
    held = HeldPayloads(payloads)
    assert "a" in held
    HeldPayloads(payloads).of(read("other", "b"))
    assert "a" not in HeldPayloads(payloads)
    assert held.of(Hit("a", 0.5)) is chunk


def test_what_was_read_of_one_generation_is_not_shown_of_another(workplace: Workplace):
    """A change, a deletion and a rollback between the questions of one service."""

    def shown() -> list[str]:
        pack = service.find(EvidenceRequest(query="what is a zebra"))
        return [candidate.text for candidate in pack.candidates if candidate.path == PAGE]

    write_files(workplace.docs, {PAGE: "# Zebra\n\nA zebra has black stripes.\n"})
    workplace.ingest()
    service = workplace.service(HashEmbedder())
    try:
        assert "black stripes" in shown()[0]
        write_files(workplace.docs, {PAGE: "# Zebra\n\nA zebra has white stripes.\n"})
        workplace.ingest()
        assert "white stripes" in shown()[0]
        (workplace.docs / PAGE).unlink()
        workplace.ingest()
        assert shown() == []
        rollback(workplace.settings)
        assert "white stripes" in shown()[0]
    finally:
        service.close()

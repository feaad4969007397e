"""What a ranked hit becomes in a pack, and how far a pack vouches for itself."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.models.pack import BranchRank, EvidencePack, Verification
from adk_evidence.retrieval.candidates import Ranked
from adk_evidence.retrieval.names import NamesFound
from adk_evidence.retrieval.pack import assess_quality, build_candidate, citation_of, matched_terms
from adk_evidence.retrieval.query import normalise
from tests.core.factories import hit, pack, payload

EXACT = Verification(state="exact")

# As in the settings: the threshold of the default model.
judge = partial(assess_quality, relevant_similarity=0.35)


def _branches(*names):
    return tuple(BranchRank(branch=name, rank=1, score=0.2) for name in names)


def _found(similarity=None, branches=()):
    return Ranked(hit(payload(), similarity=similarity, branches=_branches(*branches)), 1, 0.0)


def test_a_page_is_cited_by_its_address_and_code_by_its_lines():
    doc = payload("doc", "docs/a.md", uri="https://adk.dev/a/#b")
    code = payload("code", "src/a.py", start_line=3, end_line=9)
    assert citation_of(doc) == "adk-docs@abc:https://adk.dev/a/#b"
    assert citation_of(code) == "adk-python@abc:src/a.py#L3-L9"


def test_lines_that_are_not_known_are_not_invented():
    code = payload("code", "src/a.py", start_line=0, end_line=0)
    candidate = build_candidate(1, Ranked(hit(code), 1, 1.0), 1, normalise("x"), EXACT)
    assert candidate.citation == "adk-python@abc:src/a.py"
    assert candidate.lines is None
    assert candidate.citation_confidence == "medium"


@pytest.mark.parametrize(
    ("state", "confidence"),
    [("exact", "high"), ("moved", "high"), ("unverified", "medium"), ("changed", "low"), ("gone", "low")],
)
def test_confidence_follows_what_checking_the_citation_gave(state, confidence):
    checked = build_candidate(1, Ranked(hit(payload()), 1, 1.0), 1, normalise("x"), Verification(state=state))
    assert checked.citation_confidence == confidence


def test_places_won_are_positive_and_scores_lose_their_noise():
    candidate = build_candidate(1, Ranked(hit(payload(), 7), 7, 0.12345678901), 2, normalise("x"), EXACT)
    assert candidate.why.rerank_moved == 5
    assert candidate.rerank_score == candidate.why.rerank_score == 0.123457


def test_matched_terms_are_the_question_s_words_without_stop_words():
    query = normalise("How does the ToolContext save a state?")
    assert matched_terms(query, "tool_context = ToolContext(state)\nthe how") == ("toolcontext", "state")


def test_matches_in_the_provenance_header_do_not_count():
    candidate = build_candidate(1, Ranked(hit(payload(body="other")), 1, 1.0), 1, normalise("google docs"), EXACT)
    assert candidate.why.matched_terms == ()


def test_quality_is_high_when_most_results_are_close_or_found_by_both_sides():
    close, both, weak = _found(0.6, ["dense"]), _found(0.1, ["dense", "sparse"]), _found(0.1, ["dense"])
    assert judge([close, both, weak], dense_used=True).level == "high"
    assert judge([close, weak, weak], dense_used=True).level == "mixed"
    assert judge([close], dense_used=False).level == "keyword_only"
    assert judge([], dense_used=True).level == "none"
    assert judge([close], dense_used=True).note == "Found 1 result, 1 of them strong."


def test_a_sub_query_s_match_is_not_a_strong_one():
    by_template = _found(None, ["dense#1", "sparse#1"])
    assert judge([by_template], dense_used=True).level == "none"
    assert judge([_found(0.6, ["dense"]), by_template], dense_used=True).level == "mixed"


def test_results_that_are_only_the_nearest_are_not_passed_off_as_relevant():
    far = _found(0.2, ["dense", "sparse"])
    assert judge([far, far], dense_used=True).level == "none"
    assert "may not be about the ADK" in judge([far], dense_used=True).note
    # A name that the index holds is evidence of its own, however far the question's other words are.
    assert judge([far], dense_used=True, names=NamesFound(known=("Runner",))).level == "high"


def test_a_question_with_a_name_that_does_not_exist_is_never_of_high_quality():
    close = _found(0.8, ["dense", "sparse"])
    quality = judge([close], dense_used=True, names=NamesFound(("Runner",), ("fork_session",)))
    assert quality.level == "mixed"
    assert "not all names" in quality.note


def test_the_id_is_that_of_the_content_alone():
    first = pack(payload(body="a"), query_id="1", debug={"timings_ms": {"search": 1.0}})
    again = pack(payload(body="a"), query_id="2", debug={"timings_ms": {"search": 9.0}})
    other = pack(payload(body="b"), query_id="1")
    assert first.pack_id == again.pack_id != other.pack_id
    assert EvidencePack.model_validate_json(first.model_dump_json()).with_id().pack_id == first.pack_id


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_survives_the_json(text):
    made = pack(payload(body=text))
    assert json.loads(made.model_dump_json())["candidates"][0]["text"].endswith(text)
    assert json.loads(made.canonical_json())["candidates"][0]["text"].endswith(text)

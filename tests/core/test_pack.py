"""What a ranked hit becomes in a pack, and how far a pack vouches for itself."""

from __future__ import annotations

from unittest import mock

import pytest

from adk_evidence.embedding.base import SparseVector
from adk_evidence.models.citation import citation_of
from adk_evidence.models.pack import EvidencePack, Verification
from adk_evidence.render.excerpts import NOT_CITED
from adk_evidence.render.excerpts import body as shown
from adk_evidence.search.calibration import MINILM, Calibration, Measures, Support, SupportWeights
from adk_evidence.search.pack.assemble import make_candidate, matched_terms
from adk_evidence.search.ranking import quality
from adk_evidence.search.ranking.quality import assess
from adk_evidence.search.stages import BranchPlace, Names, QueryVectors
from tests.core.factories import encoded, hit, pack, payload, placed, question, ranking

EXACT = Verification(state="exact")

NEEDED = SupportWeights(bias=0, coverage=0, pairs=0, similarity=0, words=0, absent=0, high=0.5, nearest=0.44)


def candidate_of(found, query="x", verification=EXACT, place=1):
    others = [hit(payload(body=f"other {number}")) for number in range(place - 1)]
    return make_candidate(ranking(question(query), *others, found), 1, found, verification)


def judge(items, *, dense_used=True, support=None, needed=None, known=(), unknown=(), text="q"):
    vectors = QueryVectors("q", {"doc": [1.0], "code": [1.0]} if dense_used else {}, SparseVector((), ()))
    measured = Calibration(0.25, 0.35, 0.06, needed or MINILM.support)
    support = support or Support(Measures(0.0, 0.0, 0.0, 0.0, 0.0))
    with mock.patch.object(quality, "calibration_of", lambda settings: measured):
        return assess(question(text), encoded(vectors), items, Names(known, unknown), support)


def _branches(*names):
    return tuple(BranchPlace(branch=name, rank=1, score=0.2) for name in names)


def _found(similarity=None, branches=()):
    return placed(hit(payload(), similarity=similarity, branches=_branches(*branches)), 1, 0.0)


def test_a_page_is_cited_by_its_address_and_lines_and_code_by_its_lines():
    doc = payload("doc", "docs/a.md", uri="https://adk.dev/a/#b", start_line=26, end_line=74)
    code = payload("code", "src/a.py", start_line=3, end_line=9)
    assert citation_of(doc) == "adk-docs@abc:https://adk.dev/a/#b L26-L74"
    assert citation_of(code) == "adk-python@abc:src/a.py#L3-L9"


def test_lines_that_are_not_known_are_not_invented():
    code = payload("code", "src/a.py", start_line=0, end_line=0)
    candidate = candidate_of(placed(hit(code), 1, 1.0))
    assert candidate.citation == "adk-python@abc:src/a.py"
    assert candidate.lines is None
    assert candidate.citation_confidence == "medium"


@pytest.mark.parametrize(
    ("state", "confidence"),
    [
        ("exact", "high"),
        ("moved", "high"),
        ("same_tree", "high"),
        ("unverified", "medium"),
        ("changed", "low"),
        ("gone", "low"),
    ],
)
def test_confidence_follows_what_checking_the_citation_gave(state, confidence):
    checked = candidate_of(placed(hit(payload()), 1, 1.0), verification=Verification(state=state))
    assert checked.citation_confidence == confidence


def test_matched_terms_are_the_question_s_words_without_stop_words():
    query = "How does the ToolContext save a state?"
    assert matched_terms(query, "tool_context = ToolContext(state)\nthe how") == ("toolcontext", "state")


def test_a_term_inside_a_longer_word_does_not_match():
    text = "statement, restate, state_of and statestate; the_tool2"
    assert matched_terms("state tool statement", text) == ("statement",)
    assert matched_terms("state tool", f"{text}.state") == ("state",)


def _support(score, *by_result, coverage=1.0, absent=()):
    measures = Measures(coverage=coverage, pairs=coverage, similarity=0.6, words=1.0, absent=len(absent))
    return Support(measures, score, {item.point_id: found for item, found in by_result}, absent)


def test_quality_is_high_when_the_results_support_the_question():
    first = _found(0.6, ["dense", "sparse"])
    sure = judge([first], support=_support(0.8, (first, 0.7)), needed=NEEDED)
    assert (sure.level, sure.note) == ("high", "Found 1 result.")
    unsure = judge([first], support=_support(0.3, (first, 0.2)), needed=NEEDED)
    assert (unsure.level, unsure.note) == ("mixed", "Found 1 result, which may not answer the question.")
    assert judge([first], dense_used=False).level == "keyword_only"
    assert judge([]).level == "none"


def test_both_sides_agreeing_is_no_proof_of_an_answer():
    item = _found(0.6, ["dense", "sparse"])
    assert judge([item, item], support=_support(0.1, (item, 0.1)), needed=NEEDED).level == "mixed"


def test_words_that_stand_nowhere_in_the_index_are_named():
    item = _found(0.6)
    support = _support(0.3, (item, 0.2), absent=("flux", "capacitor", "x1", "x2"))
    note = judge([item], support=support, needed=NEEDED).note
    assert note.endswith("and \u201ccapacitor\u201d and \u201cx1\u201d and 1 more word stand nowhere in the index.")


def test_whoever_asks_in_another_language_is_told_to_ask_in_english():
    item = _found(0.6)
    support = _support(0.9, (item, 0.9), absent=("ferramenta",))
    quality = judge([item], support=support, needed=NEEDED, text="Como uso uma ferramenta?")
    assert (quality.level, quality.note) == ("mixed", "Found 1 result; the evidence is in English: ask in English.")


def test_without_a_known_scale_the_results_must_hold_the_question_s_words():
    item = _found(0.6, ["dense", "sparse"])
    assert judge([item], support=_support(None)).level == "high"
    assert judge([item], support=_support(None, coverage=0.5)).level == "mixed"
    assert judge([_found(0.6, ["dense"])], support=_support(None)).level == "mixed"


def test_results_that_are_only_the_nearest_are_not_passed_off_as_relevant():
    far = _found(0.2, ["dense", "sparse"])
    assert judge([far, far]).level == "none"
    assert "may not be about the ADK" in judge([far]).note
    # A name that the index holds is evidence of its own, however far the question's other words are.
    assert judge([far], known=("Runner",), support=_support(0.9), needed=NEEDED).level == "mixed"


def test_a_pack_shows_the_cited_lines_apart_from_what_stands_around_them():
    lead = "[CORPUS=adk_python] [REPO=google/x]\n[PATH=src/a.py]\n---\nclass Runner:\n"
    body, behind = "    def run(self):\n---\n        pass", "\n\n[INCLUDED b.py]\nx = 1"
    code = payload("code", "src/a.py", body, text=lead + body + behind, body_start=len(lead), body_end=len(lead + body))
    candidate = candidate_of(placed(hit(code), 1, 1.0))
    assert candidate.text == body
    assert candidate.context == "class Runner:"
    assert candidate.attached == "[INCLUDED b.py]\nx = 1"
    # What is not cited is marked, or left out.
    assert shown(candidate) == f"{body}\n\n{NOT_CITED}\n[INCLUDED b.py]\nx = 1"


def test_the_id_is_that_of_the_content_alone():
    first = pack(payload(body="a"), query_id="1", debug={"timings_ms": {"search": 1.0}})
    again = pack(payload(body="a"), query_id="2", debug={"timings_ms": {"search": 9.0}})
    other = pack(payload(body="b"), query_id="1")
    assert first.pack_id == again.pack_id != other.pack_id
    assert EvidencePack.model_validate_json(first.model_dump_json()).with_id().pack_id == first.pack_id

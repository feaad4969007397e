"""Which versions of the ADK a question names, and how versions are read."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.versions import version_in
from adk_evidence.models.pack import AdkVersion
from adk_evidence.models.request import MAX_QUERY_CHARS
from adk_evidence.render.wording import asked_version_not_indexed
from adk_evidence.search.question.query import normalise
from adk_evidence.search.question.versions import asked_versions, without_versions
from adk_evidence.text.versions import checked_version, is_same_version, tagged_version


def texts(question: str) -> list[str]:
    return [version.text for version in asked_versions(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how do callbacks work in ADK 1.18", ["1.18"]),
        ("adk1.18", ["1.18"]),
        ("I have google-adk==2.1 installed", ["2.1"]),
        ("google_adk-2.13.0-py3-none-any.whl", ["2.13.0"]),
        ("google/adk-python v1.18.0", ["1.18.0"]),
        ("google-adk==2.*", ["2.x"]),
        ("ADK Python v1.18 on Python 3.11", ["1.18"]),
        ("Agent Development Kit 1.18", ["1.18"]),
        ("what changed in ADK 2?", ["2"]),
        ("ADK 2.0.0b1", ["2.0.0b1"]),
        ("version 1.18 of ADK", ["1.18"]),
        ("google-adk>=1.18,<2", [">=1.18,<2"]),
        ("google-adk~=2", ["2"]),
        (">=2.0", [">=2.0"]),
        ("ADK 1.18+", [">=1.18"]),
        ("from ADK 1.18 to 2.1", ["1.18", "2.1"]),
        ("ADK v1 vs v2", ["1", "2"]),
        ("upgrade my ADK app from v1 to v2", ["1", "2"]),
        ("what is new in release 2.13", ["2.13"]),
    ],
)
def test_a_version_of_the_adk_is_read(question: str, expected: list[str]) -> None:
    assert texts(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "gemini 2.5 with ADK",
        "python 3.11",
        "pydantic v2 models as output_schema in ADK",
        "MCP 1.2 server",
        "google-genai>=1.0",
        "adk-java 0.2.0",
        "ADK 2 agents share state",
        "ADK 1.5x faster",
        "ADK: 3.5 seconds until the time-out",
        "the v1 API",
        "v2 of the schema",
        "is 2.0 right",
        "LlmAgent v2beta",
        "myadk 1.18",
        "ADK 1.2.3.4.5",
        "",
    ],
)
def test_other_numbers_are_not(question: str) -> None:
    assert texts(question) == []


@pytest.mark.parametrize("piece", ["adk ", "v1 ", ">=1, ", "google-", "1.", "[", "adk[a", "v1 to ", "adk 1.1 ", "in "])
def test_a_question_of_the_greatest_length_is_read_in_linear_time(piece: str) -> None:
    def seconds(chars: int) -> float:
        question = normalise((piece * chars)[:chars]).text
        best = math.inf
        for _ in range(3):
            began = time.process_time()
            asked_versions(question), without_versions(question)
            best = min(best, time.process_time() - began)
        return best

    # Eight times as long: eight times the time, where quadratic time would be 64 times.
    assert seconds(MAX_QUERY_CHARS) < 30 * seconds(MAX_QUERY_CHARS // 8) + 0.05


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("how do I retry in ADK 1.18?", "how do I retry ?"),
        ("In google-adk==2.1: what does Runner do", "what does Runner do"),
        ("what does Runner do (ADK v2.1.0)", "what does Runner do"),
        ("what does Runner do with ADK 2.1, and why", "what does Runner do and why"),
        ("what changed from ADK 1.18 to 2.1 in Runner", "what changed in Runner"),
        ("ADK 2.0.", "ADK 2.0."),
    ],
)
def test_versions_are_taken_out(question: str, plain: str) -> None:
    assert without_versions(question) == plain


@pytest.mark.parametrize(
    ("said", "held", "others"),
    [
        ("1.18", "1.18.0 1.18.3", "1.17.9 1.1.8 2.0.0"),
        ("2.x", "2.0.0 2.13.0", "1.18.0 3.0.0"),
        ("2.0.0b1", "2.0.0b1", "2.0.0 2.0.0b2"),
        (">=1.18,<2", "1.18.0 1.20.0", "1.17.0 2.0.0"),
        ("~=2", "2.0.0 2.13.0", "1.18.0 3.0.0"),
        ("~=2.x", "2.0.0 2.13.0", "1.18.0 3.0.0"),
        ("~=2,<2.5", "2.0.0 2.4.9", "1.18.0 2.5.0 3.0.0"),
        ("~=2b1", "2.0.0b1 2.13.0", "2.0.0a1 1.18.0 3.0.0"),
        ("~=2.dev0", "2.0.0 2.13.0", "1.18.0 3.0.0"),
        ("2.x+", "2.0.0 3.1.0", "1.18.0"),
        ("2.*+", "2.0.0 3.1.0", "1.18.0"),
        ("!=1.x", "0.5.0 2.13.0", "1.0.0 1.18.0"),
        (">1.x", "2.0.0 3.0.0", "1.0.0 1.18.0"),
        (">1.18.x", "1.19.0 2.0.0", "1.18.0 1.18.3"),
        ("<=2.x", "1.18.0 2.13.0", "3.0.0"),
        ("==1.*,!=1.5", "1.0.0 1.18.0", "1.5.0 2.0.0"),
        ("===2.13,>2", "2.13.0", "2.14.0"),
        (">=1.x,<=2.x", "1.0.0 2.13.0", "0.9.0 3.0.0"),
    ],
)
def test_a_version_holds_what_people_mean_by_it(said: str, held: str, others: str) -> None:
    (version,) = asked_versions(f"retries in google-adk {said}")
    assert [one for one in held.split() if not version.holds(Version(one))] == []
    assert [one for one in others.split() if version.holds(Version(one))] == []


def test_what_is_no_version_in_any_spelling_is_not_read() -> None:
    assert texts("adk 2.xb1") == texts("google-adk==2.xb1") == texts("adk 2.x.dev1") == []


_NUMBERS = st.from_regex(r"\A[0-9]{1,3}(\.[0-9]{1,4}){0,3}(\.[xX*])?((a|b|rc|\.dev|\.post)[0-9]{1,3})?\Z")
_BOUNDS = st.tuples(st.sampled_from(["===", "==", "~=", "!=", ">=", "<=", ">", "<", ""]), _NUMBERS).map("".join)


@given(st.lists(_BOUNDS, min_size=1, max_size=4).map(",".join), st.sampled_from(["", "+"]))
def test_whatever_looks_like_a_version_can_be_compared(bounds: str, end: str) -> None:
    for version in asked_versions(f"adk {bounds}{end}"):
        assert version.holds(Version("2.13.0")) in (True, False)
        assert version.nearest_to.release


@pytest.mark.parametrize("text", ["9" * 5000, "1.0" + "9" * 5000])
def test_a_number_of_thousands_of_digits_is_no_version(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        checked_version(text)
    assert version_in(f"adk-{text}") is None and tagged_version(text) is None
    assert (
        is_same_version("v1.18", "1.18.0")
        and not is_same_version(None, None)
        and not is_same_version(text, text)
        and not AdkVersion(indexed=text, wanted=text).is_wanted
    )


@pytest.mark.parametrize("name", ["979a8fa9", "1234567", "v2", "main", "v2.x", ""])
def test_what_is_no_tag_of_a_version_is_none(name: str) -> None:
    assert tagged_version(name) is None


def test_a_version_that_is_not_indexed_is_said_with_what_is() -> None:
    asked = asked_versions("from ADK 1.18 to 1.20")
    assert asked_version_not_indexed([asked[0].text], "2.13.0").text == (
        "The question is about ADK 1.18; the index holds v2.13.0. Evidence may not hold there."
    )
    assert asked_version_not_indexed([one.text for one in asked], None).text == (
        "The question is about ADK 1.18 and 1.20; the index does not say which version it holds. Evidence may not hold "
        "there."
    )

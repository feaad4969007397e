"""Whose names are in code that a question consists of, or quotes."""

from __future__ import annotations

from contextlib import closing
from textwrap import indent

import pytest

from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.question.code import with_quoted_code
from adk_evidence.search.question.query import normalise
from tests.corpora import Workplace

CODE = """\
from google.adk.runners import Runner

def price_of(shirt_size: str) -> int:
    return PRICE_LIST[shirt_size]

shop_runner = Runner(agent=shop_agent, plugins=[])
shop_runner.run(first_words)
"""


def ask(indexed: Workplace, query: str, **more: object) -> EvidencePack:
    with closing(indexed.service()) as service:
        return service.find(EvidenceRequest.model_validate({"query": query, **more}))


def unknown(pack: EvidencePack) -> list[str]:
    return [warning.text.split(" ")[0] for warning in pack.warnings if warning.code == "unknown_name"]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(CODE, id="with imports"),
        pytest.param(CODE.partition("\n\n")[2], id="without imports"),
        pytest.param(f"Why is nothing answered here?\n```python\n{CODE}```\n", id="quoted"),
        pytest.param(f"Why is nothing answered here?\n\n```\n{CODE}```\n".replace("\n", "\r\n"), id="of Windows"),
        pytest.param(f'Why?\n\n- ```py title="shop.py"\n{indent(CODE, "  ")}  ```\n', id="in a list"),
    ],
)
def test_names_of_the_askers_own_code_are_not_unknown(indexed: Workplace, query: str) -> None:
    assert unknown(ask(indexed, query)) == []


@pytest.mark.parametrize("language", ["text", "console", "java"])
def test_what_is_quoted_as_something_else_is_no_python(indexed: Workplace, language: str) -> None:
    assert unknown(ask(indexed, f"Does run_at_night answer?\n```{language}\nrun_at_night = 1\n```\n")) == [
        "run_at_night"
    ]


def test_an_error_is_not_read_as_code(indexed: Workplace) -> None:
    trace = 'Traceback (most recent call last):\n  File "shop.py", line 3, in open\n    Runner(agent=x)\nKeyError: 7\n'
    used = with_quoted_code(request := EvidenceRequest(query=f"```\n{trace}```"), normalise(request.query), pytest.fail)
    assert used is request


def test_names_that_the_adk_would_have_to_have_are_unknown(indexed: Workplace) -> None:
    text = (
        "from google.adk.runners import Runner, SelfRunner\n\nmy_runner = Runner(agent=x)\nmy_runner.run_at_night()\n"
    )
    assert set(unknown(ask(indexed, text))) == {"SelfRunner", "run_at_night"}
    assert unknown(ask(indexed, "made = SelfRunner(my_shop)\nmade.open_now()\n")) == ["SelfRunner"]
    # Words are no code: what they name is asked about.
    assert unknown(ask(indexed, "how does run_at_night work?")) == ["run_at_night"]


def test_the_adk_in_code_is_the_subject(indexed: Workplace) -> None:
    first = ask(indexed, CODE).candidates[0]
    assert first.symbol is not None
    assert first.symbol.startswith("Runner")
    assert first.why.named is not None


def test_what_a_surface_says_of_its_document_counts(indexed: Workplace) -> None:
    assert unknown(ask(indexed, "total = no_such_thing(1)\ntotal += 1\n", own_names=("other",))) == ["no_such_thing"]


@pytest.mark.parametrize(
    "query",
    [
        "class NightDesk(Runner):\n    async def open_now(self, key_card: KeyCard) -> str: ...\n\nit never opens",
        "desk_of_night = open(1)\nfrom my_hotel import NightDesk\n\nwhy does it not open",
        "Tool 'open_desk' not found, what now?",
        'Which values may the mode have? mode="night_desk" is refused',
        "1 validation error for Desk\nkey\n  Field required [type=missing, input_value={}, input_type=dict]",
    ],
)
def test_own_names_between_words_and_values_are_not_unknown(indexed: Workplace, query: str) -> None:
    pack = ask(indexed, query)
    assert unknown(pack) == []
    assert not any(name in pack.quality.note for name in ("desk_of_night", "nightdesk", "open_desk", "input_type"))


def test_the_name_of_a_product_is_not_said_to_be_invented(indexed: Workplace) -> None:
    told = [str(warning) for warning in ask(indexed, "How do I open NightDesk(1) from GarageBand?").warnings]
    assert told == [
        "unknown_name: NightDesk is nowhere in the index; it may be invented, your own or too new.",
        "unknown_name: GarageBand is nowhere in the index.",
    ]

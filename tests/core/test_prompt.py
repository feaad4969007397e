"""Packs as prompts: what stays by priority, what is said of the search, and that quotes stay quotes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adk_evidence.models.pack import (
    EvidencePack,
    LineSpan,
    Mentioned,
    Outline,
    OutlinePart,
    Part,
    Passage,
    Quality,
    Verification,
)
from adk_evidence.models.prompt import Turn
from adk_evidence.models.warning import Warning
from adk_evidence.render.prompt import PromptBlock, to_prompt
from adk_evidence.text.tokens import estimate_tokens
from tests.core.factories import pack, payload
from tests.injection import PAYLOADS, hidden_characters, outside_fences

OURS = ("SEARCH CONTEXT: ", "CAUTION: ", "WARNING: ", "Fenced texts ", "[CTX ", "AT: `", "QUESTION: ")
OURS += ("CONVERSATION: ", "USER:", "ASSISTANT:", "SYSTEM-PROMPT", "OUTLINE OF CTX ", "NOT SHOWN: ", "- `")
OURS += ("NAMED IN THE QUESTION:", "MORE OF CTX ")
SMALL = [payload("code", f"src/{n}.py", f"word{n} " * 5) for n in range(6)]


def talk(*contents: str) -> list[Turn]:
    """A conversation in which user and assistant take turns."""
    return [Turn(role="assistant" if n % 2 else "user", content=text) for n, text in enumerate(contents)]


def fences(text: str) -> list[str]:
    """What the fences of a prompt hold, as readers of Markdown see them."""
    return [token.content for token in MarkdownIt("zero").enable("fence").parse(text) if token.type == "fence"]


def shown_turns(text: str) -> list[int]:
    """The numbers of the turns of `turn0 turn0 ...`, `turn1 ...` that a prompt holds, in its order."""
    return [int(number) for number in re.findall(r"^(?:USER|ASSISTANT):\n`+text\nturn(\d+)", text, re.MULTILINE)]


def shown_documents(text: str) -> list[tuple[int, int]]:
    """The numbers of the documents that a prompt holds, and which they are in the pack."""
    found = re.findall(r"^\[CTX (\d+)\] \S+src/(\d+)\.py", text, re.MULTILINE)
    return [(int(number), int(which)) for number, which in found]


# What is shown where room is short


def page(*worth: float | None, kind: str = "doc", text: str = "") -> EvidencePack:
    """A pack whose first result has a part of ten lines for each of these; those without worth name the next one."""
    lines = text.split("\n") if text else [f"line {n} says something of its own" for n in range(1, 10 * len(worth) + 1)]
    found = pack(payload(kind, "docs/a.md", "\n".join(lines), end_line=len(lines)), *SMALL)
    passage = Passage(lines=LineSpan(start=1, end=len(lines)), text="\n".join(lines))
    parts = tuple(
        Part(
            lines=LineSpan(start=10 * n + 1, end=10 * n + 10),
            worth=one,
            needs=(n - 1,) if n and worth[n - 1] is None else (),
        )
        for n, one in enumerate(worth)
    )
    first = found.candidates[0].model_copy(update={"passages": (passage,), "parts": parts})
    return found.model_copy(update={"candidates": (first, *found.candidates[1:])})


def told(block: PromptBlock) -> list[int]:
    """The numbers of the lines of the first result that a prompt shows."""
    return [int(number) for number in re.findall(r"^line (\d+) says", block.text, re.MULTILINE)]


def test_where_room_is_short_the_best_parts_are_shown_with_what_names_them():
    block = to_prompt(page(0.1, 0.3, None, 0.9, 0.2), max_document_tokens=200)
    assert told(block) == list(range(21, 41))
    assert "[... lines 1-20]" in block.text and "[... lines 41-50]" in block.text


def test_the_best_part_is_cut_where_it_has_no_room():
    block = to_prompt(page(0.1, 0.9, 0.2), max_document_tokens=80)
    shown = told(block)
    assert shown == list(range(11, 11 + len(shown))) and 1 < len(shown) < 10
    assert "[... lines 1-10]" in block.text and f"[... lines {shown[-1] + 1}-30]" in block.text


def test_code_of_a_page_that_is_cut_keeps_its_borders():
    code = "\n".join(["```python", *(f"call_number({n}, of='the example')" for n in range(58)), "```"])
    block = to_prompt(page(0.9, 0.8, 0.7, text=code), max_document_tokens=120)
    text = block.text.partition("[CTX 1]")[2].partition("[CTX 2]")[0]
    assert text.count("```python\ncall_number(0") == 1 and text.count("\n```\n") == 1
    assert "[... lines " in text


@pytest.mark.parametrize("kind", ["code", "doc"])
def test_a_text_without_parts_is_cut_at_the_end(kind):
    found = page(0.1, 0.2, 0.9, kind=kind)
    first = found.candidates[0].model_copy(update={"parts": ()})
    block = to_prompt(found.model_copy(update={"candidates": (first,)}), max_document_tokens=150)
    shown = told(block)
    assert shown == list(range(1, len(shown) + 1)) and 1 < len(shown) < 20
    assert f"\n[... lines {len(shown) + 1}-30]\n" in block.text, "who reads on knows where"


def test_what_the_budget_leaves_goes_to_the_best_parts_of_all_results():
    found = page(0.1, 0.9, 0.2)
    second = found.candidates[0].model_copy(update={"rank": 2, "citation": "other"})
    parts = tuple(part.model_copy(update={"worth": (part.worth or 0) / 2}) for part in second.parts)
    two = (found.candidates[0], second.model_copy(update={"parts": parts}))
    found = found.model_copy(update={"candidates": two})
    lines = {budget: told(to_prompt(found, budget)) for budget in (300, 450, 1000)}
    assert lines[300] == list(range(11, 21)), "no result with its head alone"
    assert lines[450] == [*range(11, 31), *range(11, 21)] or lines[450] == [*range(11, 21), *range(11, 21)]
    assert lines[1000] == [*range(1, 31), *range(1, 31)]


def test_more_of_a_result_that_is_shown_gives_way_to_the_next_result():
    found = page(*[0.5] * 12)
    second = found.candidates[0].model_copy(update={"rank": 2, "citation": "other"})
    parts = tuple(part.model_copy(update={"worth": 0.4}) for part in second.parts[:2])
    two = (found.candidates[0], second.model_copy(update={"parts": parts}))
    numbers = told(to_prompt(found.model_copy(update={"candidates": two}), 900))
    assert numbers[-20:] == list(range(1, 21)) and 20 < len(numbers) - 20 < 100


def test_what_the_question_names_is_told_as_far_as_no_result_shows_it():
    def named(symbol: str, path: str, start: int) -> Mentioned:
        return Mentioned(
            symbol=symbol,
            signature=f"{symbol}(lid: int = 3)",
            import_statement="from kitchen import Pot",
            path=path,
            lines=LineSpan(start=start, end=start + 9),
        )

    found = page(0.9, 0.1)
    others = (named("Pot.fry", "docs/b.md", 1), named("Pot.stir", "docs/a.md", 90))
    found = found.model_copy(update={"mentioned": (named("Pot.boil", "docs/a.md", 1), *others)})
    said = to_prompt(found).text.partition("NAMED IN THE QUESTION:\n```text\n")[2].partition("\n```")[0]
    assert said.split("\n") == [
        "docs/b.md \u00b7 from kitchen import Pot",
        "  1-10 Pot.fry(lid: int = 3)",
        "docs/a.md \u00b7 from kitchen import Pot",
        "  90-99 Pot.stir(lid: int = 3)",
    ]
    many = found.model_copy(update={"mentioned": tuple(named(f"Pot.m{n}", "docs/b.md", n) for n in range(1, 60))})
    for budget in (300, 600, 1000):
        block = to_prompt(many, budget)
        assert block.tokens <= budget and 1 in block.ranks and (3 in block.ranks or budget < 600), "results come first"
    assert "Pot.m1(" in to_prompt(many, 600).text


# What is in a prompt


def test_segments_stand_in_the_order_of_the_specification():
    block = to_prompt(pack(*SMALL[:2]), system="You help.", history=talk("turn0", "turn1"))
    order = [
        "You help.\n\nSEARCH CONTEXT: ",
        "[CTX 1]",
        "[CTX 2]",
        "CONVERSATION: ",
        "USER:\n",
        "ASSISTANT:\n",
        "QUESTION: ",
    ]
    places = [block.text.index(part) for part in order]
    assert places == sorted(places) and places[0] == 0
    assert (block.included, block.turns, block.note) == (2, 2, "")
    assert block.text.endswith("\n\nQUESTION: how do I retry?\n")


def test_whoever_asked_is_not_told_the_question_again():
    for budget in (8000, 300, 5):
        asked = to_prompt(pack(*SMALL), budget, history=talk("turn0"))
        answered = to_prompt(pack(*SMALL), budget, history=talk("turn0"), question=False)
        assert asked.text.endswith("\n\nQUESTION: how do I retry?\n") and "QUESTION" not in answered.text
        assert answered.tokens == estimate_tokens(answered.text) < asked.tokens
        assert answered.included >= asked.included


@pytest.mark.parametrize(("level", "results"), [("high", 1), ("mixed", 8), ("keyword_only", 5), ("none", 8)])
def test_the_words_around_the_quotes_cost_at_most_80_tokens(level, results):
    absent = "\u201ca\u201d and \u201cb\u201d stand nowhere in it"
    note = f"Found {results} results, which may not answer the question; {absent}."
    chunks = [payload("code", f"src/{n}.py", f"word{n}", symbol=f"f{n}") for n in range(results)]
    text = to_prompt(pack(*chunks, quality=Quality(level=level, note=note)), question=False).text
    header = re.compile(r"^\[CTX \d+\] .*\nAT: .*$", re.MULTILINE)
    around = header.sub("", outside_fences(text))
    assert len(header.findall(text)) == results and estimate_tokens(around.strip()) <= 80


def test_a_header_says_what_is_not_as_it_should_be_and_no_more():
    made = pack(payload("code", "src/a.py", "one", symbol="a"), payload("code", "src/b.py", "two", symbol="b"))
    moved = Verification(state="moved", lines={"start": 4, "end": 5})
    second = made.candidates[1].model_copy(update={"verification": moved})
    text = to_prompt(made.model_copy(update={"candidates": (made.candidates[0], second)})).text
    assert "[CTX 1] adk-python@abc:src/a.py#L1-L1\nAT: `a`\n```python\n" in text
    assert "[CTX 2] adk-python@abc:src/b.py#L1-L1\nAT: `b` (moved, now lines 4-5)\n```python\n" in text


@pytest.mark.parametrize(
    ("level", "cautious"), [("high", False), ("mixed", True), ("keyword_only", True), ("none", True)]
)
def test_less_relevant_results_come_with_an_instruction(level, cautious):
    made = pack(*SMALL, quality=Quality(level=level, note="Found\nsix."))
    text = to_prompt(made, system="You help.").text
    assert "You help.\n\nSEARCH CONTEXT: Found six.\n" in text
    assert ("CAUTION: Use only what answers the question" in text) is cautious


def test_without_results_the_model_is_told_to_say_so():
    block = to_prompt(pack(query="what?", warnings=(Warning(code="coverage", text="nothing there"),)))
    assert block.included == 0 and block.note == ""
    assert "CAUTION: Answer from general knowledge only" in block.text
    assert "WARNING: coverage: nothing there" in block.text and "Fenced" not in block.text


# What is left out


def test_results_beyond_a_limit_are_counted():
    few = to_prompt(pack(*SMALL), max_documents=4)
    assert "\nNOT SHOWN: 2 results beyond the 4 allowed.\n" in few.text
    chunks = [payload("code", f"src/{n}.py", f"word{n} " * 300) for n in range(6)]
    for budget in range(600, 2400, 50):
        block = to_prompt(pack(*chunks), budget)
        results = "1 result" if block.included == 5 else f"{6 - block.included} results"
        assert block.tokens <= budget
        assert (
            0 < block.included < 6 and f"\nNOT SHOWN: {results} beyond the budget of {budget} tokens.\n" in block.text
        )


def test_results_that_have_no_room_are_named_with_their_lines():
    chunks = [payload("code", f"src/{n}.py", f"word{n} " * 300, symbol=f"Box.open_{n}") for n in range(6)]
    for budget in (400, 1000, 1500):
        text = to_prompt(pack(*chunks), budget).text
        named = re.findall(r"^- `(\S+) (\S+)`$", text, re.MULTILINE)
        shown = len(shown_documents(text))
        assert named == [(f"src/{n}.py:1-1", f"Box.open_{n}") for n in range(shown, shown + len(named))]
        assert estimate_tokens(text.partition(" tokens.\n")[2].partition("QUESTION")[0]) <= 0.12 * budget + 2
        assert named or budget == 400


def test_what_must_stay_stays_beyond_the_budget():
    system = "SYSTEM-PROMPT " * 300
    block = to_prompt(pack(*SMALL), 200, system=system, history=talk("turn0"))
    assert (block.included, block.turns) == (0, 0) and block.tokens == estimate_tokens(block.text) > 200
    lines = block.text.splitlines()
    assert lines[0] == system.strip() and lines[-1] == "QUESTION: how do I retry?"
    assert [line.partition(":")[0] for line in lines[1:-1] if line] == ["SEARCH CONTEXT", "CAUTION"]
    assert f"{block.tokens} tokens, more than the 200" in block.note and "no room for evidence" in block.note


CHUNKS = st.lists(st.integers(1, 900), max_size=6)
TURNS = st.lists(st.integers(1, 400), max_size=6)


@settings(max_examples=120)
@given(
    chunks=CHUNKS,
    turns=TURNS,
    system=st.sampled_from(["", "SYSTEM-PROMPT " * 5, "SYSTEM-PROMPT " * 200]),
    budget=st.integers(1, 4000),
    most=st.one_of(st.none(), st.integers(1, 4)),
    each=st.one_of(st.none(), st.integers(1, 600)),
)
def test_priorities_hold_within_every_budget(chunks, turns, system, budget, most, each):
    made = pack(*(payload("code", f"src/{n}.py", f"name{n} " * size) for n, size in enumerate(chunks)))
    history = talk(*(f"turn{n} " * size for n, size in enumerate(turns)))
    options = {"system": system, "history": history, "max_documents": most, "max_document_tokens": each}
    block = to_prompt(made, budget, **options)
    wanted = min(len(chunks), most or len(chunks))

    assert block.tokens == estimate_tokens(block.text)
    assert block.text.startswith(system.strip()) and block.text.endswith("\nQUESTION: how do I retry?\n")
    # The newest turns, in their order and without gaps.
    assert shown_turns(block.text) == list(range(len(turns)))[len(turns) - block.turns :]
    # The most relevant documents, in their order, numbered from 1.
    assert shown_documents(block.text) == [(n + 1, n) for n in range(block.included)]
    assert block.included <= wanted

    if block.tokens > budget:
        assert (block.included, block.turns) == (0, 0) and f"more than the {budget}" in block.note
    if block.included < wanted and block.tokens <= budget:
        # No turn is left out for a document's sake, and no document where one more would have fitted.
        assert to_prompt(made, budget + 10_000, **options).included == wanted
    if block.turns < len(turns):
        older = len(turns) - block.turns - 1
        smallest = to_prompt(pack(), 10**6, system=system, history=history[older:])
        assert smallest.turns == block.turns + 1 and smallest.tokens + 60 > budget
    if wanted and not block.included:
        needed = int(re.search(r"at least (\d+)", block.note)[1])
        assert needed > budget and to_prompt(made, needed, **options).included >= 1
        assert "[CTX" not in block.text and "none of it fits" in block.text


# What quotes can do


def test_matching_places_that_no_document_shows_stand_for_the_outline_of_their_file():
    made = pack(payload("code", "src/a.py", "a\nb"), payload("code", "src/b.py", "c"))
    (first, second) = (one.citation.partition("#")[0] for one in made.candidates)
    shown, other = (OutlinePart(name=name, lines=LineSpan(start=at, end=at + 1)) for name, at in (("a", 1), ("z", 9)))
    of_first = Outline(citation=first, path="src/a.py", title="A", ranks=(1,), parts=(shown, other))
    of_second = of_first.model_copy(update={"citation": second, "path": "src/b.py", "ranks": (2,)})
    outlined = made.model_copy(update={"outlines": (of_first, of_second)})
    text = to_prompt(outlined.model_copy(update={"places": (of_first,)})).text
    assert "MORE OF CTX 1: 1 more place in this file: `9-10 z`." in text
    assert "OUTLINE OF CTX 1" not in text and "OUTLINE OF CTX 2" in text
    without = outlined.model_copy(update={"places": (of_first.model_copy(update={"parts": (shown,)}),)})
    assert "MORE OF" not in to_prompt(without).text and "OUTLINE OF CTX 1" in to_prompt(without).text


@pytest.mark.parametrize("text", PAYLOADS, ids=range(len(PAYLOADS)))
def test_nothing_quoted_forges_a_line(text):
    doc = payload("doc", f"docs/{text}.md", text, headings=(text, text), title=text)
    code = payload("code", f"src/{text}.py", text, symbol=text)
    made = pack(
        doc,
        code,
        query=f"why {text}",
        warnings=(Warning(code="coverage", text=text),),
        quality=Quality(level="high", note=text),
    )
    # A pack may also come from a client, which sends any text as a citation.
    forged = {"citation": text, "language": text, "verification": Verification(state="gone", reason=text)}
    candidates = tuple(candidate.model_copy(update=forged) for candidate in made.candidates)
    part = OutlinePart(name=text, lines=LineSpan(start=1, end=2))
    outline = Outline(citation=text, path=text, title=text, ranks=(1, 2), parts=(part, part))
    mentioned = Mentioned(symbol=text, signature=text, import_statement=text, path=text, lines=LineSpan(start=1, end=2))
    beside = {"outlines": (outline,), "places": (outline,), "mentioned": (mentioned,)}
    made = made.model_copy(update={"candidates": candidates, **beside})
    block = to_prompt(made, 10**9, system="SYSTEM-PROMPT", history=talk(text, text, text))
    assert block.included == 2 and block.turns == 3
    assert not hidden_characters(block.text)
    outside = [line for line in outside_fences(block.text).split("\n") if line]
    assert all(line.startswith(OURS) for line in outside)
    roles = [line for line in outside if line.startswith(("USER", "ASSISTANT"))]
    assert roles == ["USER:", "ASSISTANT:", "USER:"]
    # A text that is too long for a line of what is named is left out.
    assert len(fences(block.text)) == 5 + block.text.count("NAMED IN THE QUESTION:")

"""What is shown of a result: the passages that match, once, with what names them and where the rest stands."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.models.named import Named
from adk_evidence.models.pack import LeftOut, LineSpan, Passage, Verification
from adk_evidence.render.excerpts import OF_STRING, shown
from adk_evidence.render.markdown import to_markdown
from adk_evidence.render.prompt import to_prompt
from adk_evidence.search.calibration import Measures, Support
from adk_evidence.search.pack.assemble import make_candidate, shown_candidates
from adk_evidence.search.pack.ceiling import add_little
from adk_evidence.search.pack.outlines import make_outlines
from adk_evidence.search.pack.passages import choose_passages, excerpt
from adk_evidence.search.pack.words import QuestionWords
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store.base import Record
from adk_evidence.targets.imports import PublicImports
from adk_evidence.text.tokens import estimate_tokens
from tests.core.factories import hit, pack, payload, placed, question, ranking, target

FILLER = "\n\n".join(
    f"Paragraph {n} tells of weather, of tides and of the long way home that sailors take." for n in range(9)
)
PAGE = f"# Retries\n\n{FILLER}\n\nSet the retry limit of the tool.\n\n{FILLER.replace('weather', 'storms')}"
QUESTION = QuestionWords.made({"retry": 3.0, "limit": 2.0}, None, frozenset())


def passages(chunk, place=0, question=QUESTION, similarities=()):
    return excerpt(hit(chunk), place, question, similarities).passages


def answered(*chunks, support=(), query="how do I set the retry limit?", imports=None):
    """The ranking of these chunks, the words of its question, and its candidates."""
    hits = [placed(hit(chunk, rank), rank, 1.0) for rank, chunk in enumerate(chunks, 1)]
    by_result = {one.point_id: value for one, value in zip(hits, support, strict=False)}
    weights = {"retry": 3.0, "limit": 2.0}
    measured = Support(Measures(0, 0, 0, 0, 0), by_result=by_result, weights=weights)
    asked = question(query, targets=lambda: None, models=SimpleNamespace(sparse=SimpleNamespace(exact_terms=False)))
    found = ranking(asked, *hits, support=measured)
    sought = QuestionWords.of(asked, measured)
    excerpts = choose_passages(asked, found.candidates.encoded, sought, hits)
    plain = [make_candidate(found, rank, one, Verification(state="exact")) for rank, one in enumerate(hits, 1)]
    return found, sought, shown_candidates(found, plain, excerpts, imports)


def test_the_lines_that_match_are_shown_with_their_heading_and_the_best_are_told_apart():
    page = payload("doc", body=PAGE, start_line=10, end_line=10 + PAGE.count("\n"))
    found = passages(page, place=9)
    assert found[0].text == "# Retries" and found[0].lines == LineSpan(start=10, end=10)
    assert found[1].text.startswith("Set the retry limit of the tool.")
    assert len("".join(one.text for one in found)) < len(PAGE) / 3
    best = 10 + PAGE[: PAGE.index("Set the retry limit")].count("\n")
    (candidate,) = answered(page)[2]
    assert candidate.best == LineSpan(start=best, end=best)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_heading_that_spells_the_name_of_the_question_names_what_is_shown(when):
    sections = [f"### {word} Model Callback {{#{word}}}\n\n{word} text.\n\n{FILLER}" for word in ("Before", "After")]
    page = payload("doc", body="\n\n".join(["## Model callbacks", *sections]))
    asked = QuestionWords.made({f"{when}_model_callback": 5.0, "model": 1.0, "callback": 1.0}, None, frozenset())
    shown = "\n".join(one.text for one in passages(page, place=14, question=asked))
    assert [f"{word} text." in shown for word in ("Before", "After")] == [when == "before", when == "after"]


def test_a_block_that_names_an_included_file_is_not_what_is_read_first():
    block = '```python\n--8<-- "snippets/before_model_callback.py"\n```'
    page = payload("doc", body=f"### Callbacks\n\n**When:** it is called first.\n\n{block}", passage_lines=(1, 5))
    best = excerpt(hit(page), 0, QuestionWords.made({"boat": 1.0}, None, frozenset()), [0.1, 0.9]).best
    assert best == LineSpan(start=3, end=3)


def test_the_lines_that_the_request_means_are_shown_however_little_they_match():
    page = payload("doc", body=PAGE, start_line=10, end_line=10 + PAGE.count("\n"))
    meant = 10 + PAGE[: PAGE.rindex("tells of storms")].count("\n")
    shown = [excerpt(hit(page)._replace(lines=lines), 9, QUESTION).passages for lines in ((), (meant,))]
    assert [any(one.lines.start <= meant <= one.lines.end for one in passages) for passages in shown] == [False, True]
    assert any("Set the retry limit" in one.text for one in shown[1])


def test_a_short_text_is_shown_whole():
    (only,) = passages(payload("doc", body="# Retries\n\nSet the limit.\n\nNothing else."), place=11)
    assert only.text == "# Retries\n\nSet the limit.\n\nNothing else."


def test_what_is_similar_is_shown_without_a_word_of_the_question():
    lines = PAGE.split("\n")
    starts = tuple(range(1, len(lines), 6))
    target = lines.index("Paragraph 6 tells of storms, of tides and of the long way home that sailors take.") + 1
    near = [0.9 if start <= target < start + 6 else 0.1 for start in starts]
    chunk = payload("doc", body=PAGE, passage_lines=starts)
    assert not any(one.lines.start <= target <= one.lines.end for one in passages(chunk, place=9))
    found = passages(chunk, place=9, similarities=near, question=QuestionWords.made({"boat": 1.0}, None, frozenset()))
    assert any(one.lines.start <= target <= one.lines.end for one in found)


def test_similarity_counts_on_a_page_that_includes_files_whose_paths_are_no_words_of_it():
    block = '```python\n--8<-- "examples/retry_limit.py"\n```'
    body = f"# Retries\n\n{FILLER}\n\n{block}\n\n{FILLER}"
    target, include = (
        body.split("\n").index("Paragraph 6 tells of weather, of tides and of the long way home that sailors take.")
        + 1,
        21,
    )
    starts = (1, target, target + 1, include + 2, *(include,) * 3)
    chunk = payload("doc", body=body, passage_lines=starts)
    found = excerpt(hit(chunk), 9, QUESTION, [0.1, 0.9, 0.1, 0.1, 0.2, 0.2, 0.2])
    assert found.best == LineSpan(start=target, end=target)


def test_the_line_of_a_call_or_a_raise_is_what_is_shown_where_room_is_short():
    body = (
        "def pour(self):\n" + "\n".join(f"  cups.append({n})" for n in range(12)) + "\n  raise PotError('retry limit')"
    )
    one = hit(payload("code", "src/pots.py", body, symbol="pour", symbol_kind="function", end_line=14))
    assert excerpt(one._replace(named=Named("raises"), lines=(9,)), 0, QUESTION).best == LineSpan(start=7, end=12)


def test_lines_for_other_readers_are_never_shown():
    body = "# Retries\n\nSet the retry limit.\n\n    retry limit java\n    retry limit java\n\nThe retry limit ends."
    chunk = payload("doc", body=body, left_out=((5, 6, "java"),))
    found = passages(chunk)
    assert "java" not in "".join(one.text for one in found) and len(found) == 2


def test_a_class_that_is_asked_for_comes_with_its_fields():
    fields = "\n\n".join(
        f'  field_{n}: int = {n}\n  """Counts the sheep of the meadow number {n}, one by one."""' for n in range(20)
    )
    method = '  def retry(self):\n    """The retry limit."""\n    return 1'
    body = f'class Meadow(Base):\n  """A meadow."""\n\n{fields}\n\n{method}'
    chunk = payload("code", "src/m.py", body, symbol="Meadow", symbol_kind="class")
    plain = "".join(one.text for one in passages(chunk, place=9))
    asked = "".join(
        one.text
        for one in passages(chunk, place=9, question=QuestionWords.made({"retry": 1.0}, None, frozenset({"Meadow"})))
    )
    assert "field_3" not in plain and "class Meadow" in plain
    assert all(f"field_{n}:" in asked for n in range(20))


TEXT = st.lists(
    st.sampled_from(
        ["", "retry limit", "a line of text", "  indented", "# Head", "```", "def f():", "    return retry"]
    ),
    max_size=40,
)


@given(lines=TEXT, kind=st.sampled_from(["doc", "code"]), place=st.integers(0, 30), start=st.integers(1, 50))
def test_passages_are_verbatim_lines_in_order_and_never_none_of_a_text(lines, kind, place, start):
    body = "\n".join(lines)
    chunk = payload(kind, body=body, start_line=start, end_line=start + body.count("\n"))
    found = passages(chunk, place)
    assert bool(found) == bool(body.strip())
    last = start - 1
    for one in found:
        assert last < one.lines.start <= one.lines.end <= chunk.end_line
        assert one.text == "\n".join(body.split("\n")[one.lines.start - start : one.lines.end - start + 1])
        last = one.lines.end


def test_what_an_earlier_result_shows_is_named_there_and_not_shown_again():
    body = "The retry limit of a tool is three.\nA higher retry limit needs a plugin."
    _, _, (first, second) = answered(payload("doc", "docs/a.md", body), payload("doc", "docs/b.md", body))
    assert first.also_at == (second.citation,)
    assert (second.same_as, second.passages) == (1, ())
    text = to_prompt(pack().model_copy(update={"candidates": (first, second)})).text
    assert text.count("A higher retry limit") == 1 and f"also at {second.citation}" in text
    assert "NOT SHOWN: 1 result that would add little" in text
    both = to_markdown(pack().model_copy(update={"candidates": (first, second)}))
    assert both.count(body) == 1 and "\n- `docs/b.md`: " in both
    # Whoever did not choose the first result reads the text in the second.
    alone = to_markdown(pack().model_copy(update={"candidates": (second,)}))
    assert alone.count(body) == 1


def test_what_many_sections_say_alike_does_not_hide_what_one_of_them_says_alone():
    alike = "You can set a retry limit for the criterion.\n\nThe limit of others is set in the same file."
    rest = "This metric counts each retry of a call.\n\n" + "\n\n".join(
        f"Part {n} tells of tides and of the long way home." for n in range(9)
    )
    first, second = (
        payload("doc", f"docs/{name}.md", text) for name, text in (("a", alike), ("b", f"{alike}\n\n{rest}"))
    )
    _, _, (_, found) = answered(first, second)
    assert found.same_as is None and "counts each retry" in shown(found) and "You can set" not in shown(found)
    # Where the rest has little to do with the question, the earlier result stands for both.
    other = rest.replace("retry", "number")
    _, _, (_, found) = answered(first, payload("doc", "docs/b.md", f"{alike}\n\n{other}"))
    assert found.same_as == 1


def test_late_results_with_little_support_are_left_out_of_prompts_and_counted():
    chunks = [payload("doc", f"docs/{n}.md", f"The retry limit number {n} is told here.") for n in range(14)]
    _, _, candidates = answered(*chunks, support=(*[0.9] * 11, 0.01, 0.9, 0.01))
    assert [one.rank for one in candidates if one.adds_little] == [12, 14]
    block = to_prompt(pack().model_copy(update={"candidates": candidates}))
    assert block.ranks == (*range(1, 12), 13)
    assert "NOT SHOWN: 2 results that would add little" in block.text
    whole = to_prompt(pack().model_copy(update={"candidates": candidates}), full=True)
    assert whole.included == 14


def test_a_late_result_of_a_task_near_the_question_stays():
    found = [hit(payload("doc", f"docs/{n}.md", tasks=(("Retry", "caveat", 2),) if n == 13 else ())) for n in range(14)]
    support = {found[0].point_id: 0.9}
    late = {one.point_id for one in found[10:]}
    assert add_little(found, support, {}) == late
    assert add_little(found, support, {"Retry": 0.7}) == late - {found[13].point_id}
    assert add_little(found, {}, {}) == set(), "nothing is known of their support"


def test_a_field_that_the_question_names_is_shown_without_the_rest_of_its_class():
    fields = [
        f'  # Where it lies.\n\n  {name}: int = 0\n  """{FILLER}"""' for name in ("colour", "max_weight", "length")
    ]
    fields.insert(1, "\n" * 60 + "  options[0] = 1")
    chunk = payload("code", body="\n".join(["class Box(BaseModel):", *fields]), symbol_kind="class")
    asked = QuestionWords.made({"weight": 1.0, "box": 1.0}, None, frozenset({"max_weight"}))
    text = "\n".join(one.text for one in passages(chunk, question=asked))
    assert "max_weight: int" in text and "length: int" not in text


def test_the_code_that_a_shown_sentence_announces_is_shown_from_its_first_statement():
    steps = "".join(f"\n    def step_{n}():\n        return {n}\n" for n in range(9))
    code = f"    ```python\n    import os\n\n    for attempt in range(9):\n        wait(attempt)\n{steps}    ```\n"
    announced = "The retry limit is set as in this example:"
    body = (
        f'# Retries\n\nSet the retry limit of the tool.\n\n{FILLER}\n\n{announced}\n\n=== "Python"\n\n{code}\n{FILLER}'
    )
    page = payload("doc", body=body, start_line=1, end_line=1 + body.count("\n"))
    shown_text = "\n".join(one.text for one in passages(page, place=6))
    # Not the import alone, which says nothing.
    assert announced in shown_text and "for attempt in range(9)" in shown_text


def test_a_heading_alone_takes_no_place_beside_its_sections():
    head = payload("doc", "docs/a.md", "# Retries", headings=("Retries",))
    section = payload(
        "doc", "docs/a.md", "## Limit\n\nSet the retry limit.", headings=("Retries", "Limit"), start_line=3
    )
    other = payload("doc", "docs/b.md", "# Retry", headings=("Retry",))
    _, _, candidates = answered(head, section, other)
    assert [one.adds_little for one in candidates] == [True, False, False]


def test_gaps_between_passages_name_their_lines_and_what_begins_there():
    lines = [f"line {n} says something that takes more room than its mark" for n in range(1, 13)]
    lines[4], lines[6] = "## The second part {#part}", "#"
    chunk = payload("doc", body="\n".join(lines), start_line=101, end_line=112)
    (candidate,) = pack(chunk).candidates
    parts = [(102, 103), (106, 106)]
    texts = tuple(Passage(lines=LineSpan(start=a, end=b), text="\n".join(lines[a - 101 : b - 100])) for a, b in parts)
    left_out = tuple(LeftOut(lines=LineSpan(start=n, end=n), language=name) for n, name in ((109, "java"), (110, "go")))
    text = shown(candidate.model_copy(update={"passages": texts, "left_out": left_out}))
    assert text.split("\n") == [
        "[... line 101]",
        *lines[1:3],
        "[... lines 104-105: The second part]",
        lines[5],
        "[... lines 107-108]",
        "[lines 109-110: Java, Go]",
        "[... lines 111-112]",
    ]


def test_a_gap_that_is_shorter_than_its_mark_is_no_gap():
    lines = ["def run():", '    """Runs the tool until it ends."""', "    pass", "", "    return 1"]
    chunk = payload("code", body="\n".join(lines), start_line=1, end_line=5)
    (candidate,) = pack(chunk).candidates
    texts = tuple(Passage(lines=LineSpan(start=n, end=n), text=lines[n - 1]) for n in (1, 2, 5))
    assert shown(candidate.model_copy(update={"passages": texts})) == "\n".join(lines)


def test_what_begins_inside_a_string_says_so_where_it_shows_the_string():
    lines = ["  - and so on", '  """', "", "  BIDI = 1", *(f"  FIELD_{n} = {n} * {n}" for n in range(20))]
    chunk = payload("code", body="\n".join(lines), start_line=11, end_line=34)
    (candidate,) = pack(chunk).candidates
    assert candidate.inside_string == 2
    first, later = (
        candidate.model_copy(update={"passages": (Passage(lines=LineSpan(start=n, end=n), text=lines[n - 11]),)})
        for n in (11, 20)
    )
    assert shown(first).split("\n")[:2] == [OF_STRING, lines[0]]
    assert OF_STRING not in shown(later)


# Outlines


class _Pages:
    """A store of the chunks of some pages."""

    def __init__(self, *chunks):
        self.chunks = chunks

    def scroll(self, collection, *, filter, limit, offset, with_payload, with_vectors):
        wanted = {match.key: match.any_of for match in filter.must}
        held = [one for one in self.chunks if all(getattr(one, key) in values for key, values in wanted.items())]
        return [Record(one.chunk_id, one.model_dump(include=set(with_payload))) for one in held], None


def section(number, name, path="docs/page.md"):
    start = number * 10
    values = {"start_line": start, "end_line": start + 8, "headings": ("Page", name), "chunk_index": number}
    return payload("doc", path, f"The retry limit {number}.", **values)


def outlined(results, chunks):
    found, sought, candidates = answered(*results)
    asked = replace(found.question, index=SimpleNamespace(store=_Pages(*chunks), outlines=CacheAside(4)))
    return candidates, make_outlines(asked, found.final, sought, {one.point_id for one in found.final})


def test_a_page_with_several_results_lists_its_other_sections():
    chunks = [section(n, f"Part {n}") for n in range(1, 7)]
    candidates, (outline,) = outlined([chunks[1], chunks[2]], chunks)
    assert (outline.path, outline.ranks, outline.more) == ("docs/page.md", (1, 2), 0)
    assert [part.name for part in outline.parts] == ["Part 1", "Part 4", "Part 5", "Part 6"]
    made = pack().model_copy(update={"candidates": candidates, "outlines": (outline,)})
    assert "\nOUTLINE OF CTX 1, 2: `docs/page.md` also has `10-18 Part 1; 40-48 Part 4; " in to_prompt(made).text


def test_a_page_with_one_result_has_an_outline_only_where_it_comes_first():
    chunks = [section(n, f"Part {n}") for n in range(1, 7)]
    other = payload("doc", "docs/other.md", "# Other")
    assert outlined([other, chunks[1]], [other, *chunks])[1] == ()
    (outline,) = outlined([chunks[1], other], [other, *chunks])[1]
    assert (outline.path, outline.ranks, outline.parts[0].name) == ("docs/page.md", (1,), "Part 1")


@pytest.mark.parametrize("path", ["docs/page.md", "docs/a/long/path/to/a/page/of/the/documentation.md"])
def test_the_outline_of_a_long_page_names_what_is_asked_for_in_60_tokens_and_counts_the_rest(path):
    chunks = [section(n, f"Part {n} of a page with headings in many words", path) for n in range(1, 40)]
    chunks.append(section(40, "The retry limit", path))
    candidates, (outline,) = outlined(chunks[:2], chunks)
    assert outline.parts[-1].name == "The retry limit"
    assert outline.more == 38 - len(outline.parts)
    made = pack().model_copy(update={"candidates": candidates, "outlines": (outline,)})
    (line,) = re.findall(r"^OUTLINE.*", to_prompt(made).text, re.MULTILINE)
    assert estimate_tokens(line) <= 60


# Import statements


def importable(symbol, import_path, start, end, path="src/pkg/_impl.py", kind="function", rank=1):
    names = {"fqn": import_path, "import_path": import_path}
    return target(symbol, **names, path=path, lines=LineSpan(start=start, end=end), type=kind, rank=rank)


CODE = payload("code")
IMPORTS = PublicImports(
    [
        importable("load_all", "pkg.load_all", 10, 20),
        importable("Box", "pkg.boxes.Box", 30, 90, kind="class"),
        importable("Box.put", "pkg.boxes.Box.put", 40, 50, kind="method"),
        importable("Lid", "pkg.boxes.Lid", 92, 95, kind="class", rank=2),
    ],
    repo=CODE.repo,
    commit=CODE.commit,
)


@pytest.mark.parametrize(
    ("start", "end", "named", "statement"),
    [
        (10, 20, {}, "from pkg import load_all"),
        # Several of one package together, first what the chunk is called, however others rank.
        (28, 96, {}, "from pkg.boxes import Box, Lid"),
        (28, 96, {"symbol": "Lid", "symbols": ("Box", "Box.put", "Lid")}, "from pkg.boxes import Lid, Box"),
        # What else the lines of a private function define would be called otherwise than the result.
        (28, 96, {"symbol": "_shut", "symbols": ("_shut", "Box", "Lid")}, None),
        # Another version or codebase, though its paths are the same.
        (10, 20, {"commit": "v0"}, None),
        (10, 20, {"repo": "elsewhere"}, None),
    ],
)
def test_private_definitions_are_imported_by_their_public_names(start, end, named, statement):
    chunk = payload("code", "src/pkg/_impl.py", start_line=start, end_line=end, symbol_kind="class", **named)
    assert IMPORTS.statement(chunk) == statement


def test_an_instance_of_the_class_is_imported_beside_it_and_a_nested_class_with_its_own():
    made = importable("lid", "pkg.lid", 96, 96, kind="variable").model_copy(
        update={"alias_of": "pkg.boxes.Lid", "signatures": ("lid = Lid()",)}
    )
    kind = importable("Lid.Kind", "pkg.boxes.Lid.Kind", 93, 94, kind="class", rank=3)
    lid = importable("Lid", "pkg.boxes.Lid", 92, 95, kind="class", rank=2)
    imports = PublicImports([made, kind, lid], repo=CODE.repo, commit=CODE.commit)
    chunk = payload("code", "src/pkg/_impl.py", start_line=92, end_line=96)
    chunk = chunk.model_copy(update={"symbol": "Lid", "symbol_kind": "class", "symbols": ("Lid", "Lid.Kind", "lid")})
    assert imports.statement(chunk) == "from pkg.boxes import Lid; from pkg import lid  # an instance"
    inner = chunk.model_copy(update={"symbol": "Lid.Kind", "start_line": 93, "end_line": 94})
    assert imports.statement(inner) == "from pkg.boxes import Lid"


EXTRAS = PublicImports(
    [
        importable("Box", "pkg.boxes.Box", 30, 90, kind="class").model_copy(update={"needs": "kit[box]"}),
        importable("Lid", "pkg.Lid", 92, 95, kind="class").model_copy(update={"needs": "kit[lid,shut]"}),
        importable("Tape", "pkg.Tape", 96, 97, kind="class"),
        importable("Tape", "pkg.wide.Tape", 98, 99, kind="class").model_copy(update={"needs": "kit[wide]"}),
    ],
    repo=CODE.repo,
    commit=CODE.commit,
)


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("```python\nfrom pkg.boxes import Box\n```", "kit[box]"),
        ("from pkg import (\n    Lid as Top,\n    Box,\n)", "kit[box,lid,shut]"),
        ("pip install 'kit[box, lid]'\n\n    from pkg import Lid, Box", "kit[shut]"),
        ("pip install kit[box]\nfrom pkg import Box", ""),
        # Another package's, one of two that are called so, and none that is known.
        ("from boxes import Box\nfrom pkg import Tape\nfrom pkg import Other\nimport pkg", ""),
        ("Use a Box from pkg.", ""),
    ],
)
def test_what_the_code_of_a_page_imports_says_what_it_needs(text, needs):
    assert EXTRAS.needs(text) == needs


def test_the_first_page_that_imports_what_needs_an_extra_says_so():
    text = "```python\nfrom pkg import Box\n```"
    pages = [payload("doc", f"docs/{name}.md", text) for name in "abc"]
    code = payload("code", "src/pkg/_impl.py", "from pkg import Box\n", start_line=92, end_line=95)
    *_, candidates = answered(pages[0], pages[1], code, imports=EXTRAS)
    assert [one.needs for one in candidates] == ["kit[box]", None, None]
    made = pack(*pages).model_copy(update={"candidates": candidates})
    assert "needs `kit[box]`" in to_prompt(made).text and "needs `kit[box]`" in to_markdown(made)
    # A result that is imported with the same remark has said so before.
    box = payload("code", "src/pkg/_impl.py", "class Box: ...", start_line=30, end_line=90)
    *_, (code, page) = answered(box, pages[0], imports=EXTRAS)
    assert code.import_statement == "from pkg.boxes import Box  # needs kit[box]" and page.needs is None


def test_prompts_name_the_statement():
    made = pack(payload("code", "src/a.py", "def f(): ..."))
    candidate = made.candidates[0].model_copy(update={"import_statement": "from pkg import f"})
    assert "· `from pkg import f`\n```python" in to_prompt(made.model_copy(update={"candidates": (candidate,)})).text


def including(sample):
    page = payload("doc", body="## Retry a tool\n\nSet the retry limit of a plugin.")
    return page.model_copy(update={"text": f"{page.text}\n\n[INCLUDED examples/retry.py]\n{sample}"})


SAMPLE = "plugin = ReflectAndRetryToolPlugin(retry_limit=3)\nrunner.run(plugin, retry=True)"


def test_an_included_file_that_is_a_result_itself_is_shown_once():
    sample = payload("doc", "examples/retry.py", body=SAMPLE, lang="py", origin="sample")
    *_, (first, second) = answered(sample, including(SAMPLE))
    assert "retry_limit" in first.passages[0].text
    assert second.passages and not second.attached_shown


FILLING = "\n".join(
    f"def other_{n}():\n    return 'the weather, the tides and the long way home {n}'\n" for n in range(12)
)
IMPORTED = "from weather import Tides\nfrom adk.plugins import ReflectAndRetryToolPlugin\nimport sailors"
EXAMPLE = f"{IMPORTED}\n\n{FILLING}\n{SAMPLE}"
SAMPLES = payload("doc", "examples/retry.py", body=EXAMPLE, lang="py", origin="sample")
SOURCE = payload("code", "src/adk/retry.py", body=EXAMPLE, lang="py")


@pytest.mark.parametrize(
    ("shown_text", "is_example"),
    [
        (lambda: excerpt(hit(including(EXAMPLE)), 9, QUESTION).attached, True),
        (lambda: "\n".join(one.text for one in passages(SAMPLES, 9)), True),
        # The import statement of a definition says where users find it.
        (lambda: "\n".join(one.text for one in passages(SOURCE, 9)), False),
    ],
    ids=["included", "sample", "source"],
)
def test_an_example_comes_with_the_imports_of_the_names_it_uses(shown_text, is_example):
    text = shown_text()
    assert "retry_limit=3" in text and "other_4" not in text
    assert ("from adk.plugins import ReflectAndRetryToolPlugin" in text) is is_example
    assert "Tides" not in text and "sailors\n" not in text


def test_imports_that_an_earlier_result_shows_are_not_shown_again():
    again = payload("doc", "examples/again.py", body=EXAMPLE.replace("=3", "=4"), lang="py", origin="sample")
    *_, (first, second) = answered(SAMPLES, again)
    assert "from adk.plugins" in shown(first) and "retry_limit=4" in shown(second)
    assert "from adk.plugins" not in shown(second)


def worth_of(chunk, text, place=0):
    """What the parts are worth that hold a text."""
    first, lines = chunk.start_line, chunk.body.split("\n")
    parts = excerpt(hit(chunk), place, QUESTION).parts
    texts = ["\n".join(lines[part.lines.start - first : part.lines.end + 1 - first]) for part in parts]
    return [part.worth for part, told in zip(parts, texts, strict=True) if text in told and part.worth is not None]


def test_a_list_that_a_matching_sentence_announces_is_worth_as_much_to_its_end():
    items = "\n\n".join(f"- Rule {n} is of sheep, of meadows and of nothing that the question has." for n in range(6))
    body = f"# Retries\n\n{FILLER}\n\nFor the retry limit hold these rules:\n\n{items}\n\n{FILLER}"
    page = payload("doc", body=body, start_line=1, end_line=1 + body.count("\n"))
    (announcing,) = worth_of(page, "hold these rules")
    assert worth_of(page, "Rule 5") == [announcing]
    assert max(worth_of(page, "Paragraph")) < announcing


def test_a_function_whose_docstring_matches_is_shown_with_its_best_statements():
    about = "\n\n".join(f"    The retry limit {n} of a tool is told here,\n    in two lines." for n in range(6))
    steps = "\n\n".join(
        f"    first_{n} = tide({n})\n    second_{n} = tide(first_{n})\n    go(second_{n})\n    wait()" for n in range(9)
    )
    body = f'def run(self):\n    """Runs a tool.\n\n{about}\n    """\n{steps}'
    chunk = payload("code", "src/m.py", body, symbol="run", symbol_kind="function", end_line=1 + body.count("\n"))
    text = "\n".join(one.text for one in passages(chunk, place=11))
    assert "retry limit" in text and "tide(" in text and "first_8" not in text


def test_later_results_show_less_and_their_parts_are_worth_less():
    page = payload("doc", body=PAGE, start_line=1, end_line=1 + PAGE.count("\n"))
    sizes = [sum(len(one.text) for one in passages(page, place=place)) for place in (0, 5, 9, 14)]
    assert sizes == sorted(sizes, reverse=True)
    worth = [max(worth_of(page, "Set the retry limit", place)) for place in (0, 5, 14)]
    assert worth == sorted(worth, reverse=True) and len(set(worth)) == 3

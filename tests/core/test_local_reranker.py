from __future__ import annotations

import pytest

from adk_evidence.search.question.query import normalise, with_wordings
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.search.rerankers.local import LocalReranker
from tests.core.factories import payload

QUERY = normalise("retry a tool")


def _documents(kind, scores):
    return [
        RerankDocument(payload(kind, f"{n}", f"{kind} {n}"), body_tokens=100, scores=score)
        for n, score in enumerate(scores, 1)
    ]


def _scores(documents):
    return LocalReranker().rerank(QUERY, "build", documents)


def _worded(*scores):
    """Documents with these scores for the question and for each of its wordings."""
    return [
        RerankDocument(payload("doc", f"{n}", f"doc {n}"), 100, own, tuple(others))
        for n, (own, *others) in enumerate(scores, 1)
    ]


def test_a_document_that_fits_one_of_several_wordings_best_comes_forward():
    far, near = {"dense": 0.2}, {"dense": 0.8}
    query = with_wordings(QUERY, ["retries", "ReflectAndRetry of a tool"])
    documents = _worded((far, far, near), (far, far, far), (near, far, far), (far, far, far))
    wording, nothing, question, _ = LocalReranker().rerank(query, "build", documents)
    assert question > wording > nothing


def test_a_wording_beside_the_point_does_not_outweigh_the_question():
    low, high = {"dense": 0.2}, {"dense": 0.8}
    query = with_wordings(QUERY, ["retries", "deploy to Cloud Run"])
    documents = _worded((high, high, low), (low, low, high), (low, low, low), (low, low, low))
    meant, beside, *_ = LocalReranker().rerank(query, "build", documents)
    assert meant > beside


def test_what_both_branches_like_comes_first():
    scores = _scores(_documents("doc", [{"dense": 0.2, "sparse": 1}, {"dense": 0.6, "sparse": 9}, {"dense": 0.3}]))
    assert scores[1] == max(scores)
    assert scores[2] < scores[1]


def test_kinds_are_standardised_apart_so_that_neither_crowds_out_the_other():
    docs = _documents("doc", [{"dense": 0.9, "sparse": 30}, {"dense": 0.8, "sparse": 20}])
    code = _documents("code", [{"dense": 0.3, "sparse": 3}, {"dense": 0.2, "sparse": 2}])
    scores = _scores([*docs, *code])
    assert scores[:2] == pytest.approx(scores[2:])


def test_a_chunk_that_is_about_the_question_beats_one_that_mentions_it_as_closely():
    passing = {"dense": 0.6, "mean": 0.2, "sparse": 5}
    about = {"dense": 0.6, "mean": 0.5, "sparse": 5}
    scores = _scores(_documents("doc", [passing, about]))
    assert scores[1] > scores[0]


def test_a_chunk_whose_written_questions_are_near_the_question_comes_forward():
    same = {"dense": 0.5, "sparse": 3}
    near, far, unasked = _scores(_documents("doc", [{**same, "asked": 0.8}, {**same, "asked": 0.2}, same]))
    assert near > unasked > far


def test_code_whose_name_the_best_docs_use_comes_forward():
    same = {"dense": 0.5, "sparse": 3}
    page = RerankDocument(payload("doc", "docs/a.md", "Pass a RetryPlugin to the runner."), 100, same)
    named = RerankDocument(payload("code", "a.py", "one", symbol="RetryPlugin"), 100, same)
    inside = RerankDocument(payload("code", "b.py", "two", names=("RetryPlugin", "other_thing")), 100, same)
    other = RerankDocument(payload("code", "c.py", "three", symbol="OtherPlugin"), 100, same)
    # Where docs say `runner`, they need not mean a name.
    plain = RerankDocument(payload("code", "d.py", "four", symbol="runner"), 100, same)
    first, second, third, fourth = LocalReranker().rerank(QUERY, "build", [page, named, inside, other, plain])[1:]
    assert first == second > third == fourth


def test_a_parameter_of_a_named_class_beats_a_field_of_a_class_that_is_not_named():
    same = {"dense": 0.5, "sparse": 3}
    body = "class AgentTool:\n    def __init__(self, agent, *, with_plugins=True):\n        pass"
    makes = payload("code", "a.py", body, symbol="AgentTool", symbols=("AgentTool", "AgentTool.__init__"))
    field = payload("code", "b.py", "two", symbol="ToolConfig", symbols=("ToolConfig.with_plugins",))
    field = field.model_copy(update={"names": ("with_plugins",)})
    documents = [RerankDocument(chunk, 100, same) for chunk in (makes, field)]
    for text, best in (("AgentTool with_plugins of the parent", 0), ("which tool has with_plugins of the parent", 1)):
        scores = LocalReranker().rerank(normalise(text), "build", documents)
        assert scores[best] > scores[1 - best]


def test_the_definition_of_a_name_that_is_asked_for_beats_what_mentions_it():
    same = {"dense": 0.5, "sparse": 3}
    uses = RerankDocument(payload("code", "a.py", "uses LlmAgent", symbol="run_agent"), 100, same)
    defines = RerankDocument(payload("code", "b.py", "defines LlmAgent", symbol="agents.LlmAgent"), 100, same)
    others = [RerankDocument(payload("code", f"{n}.py", f"other {n}"), 100, same) for n in range(9)]
    for text in ("LlmAgent", "why does LlmAgent forget what the user said"):
        using, defining, *_ = LocalReranker().rerank(normalise(text), "build", [uses, defines, *others])
        assert defining > using


def _ranked(text, *chunks, mode="explain"):
    same = {"dense": 0.5, "sparse": 3}
    others = [RerankDocument(payload("code", f"{n}.py", f"other {n}"), 100, same) for n in range(20)]
    documents = [*(RerankDocument(chunk, 100, same) for chunk in chunks), *others]
    return LocalReranker().rerank(normalise(text), mode, documents)


def _fields(path, owner, *names):
    symbols = (owner, *(f"{owner}.{name}" for name in names))
    return payload("code", path, " ".join(names), symbol=owner, symbols=symbols, names=(owner, *names))


def test_the_class_of_a_field_that_is_asked_for_comes_first_the_more_so_the_rarer_the_field():
    limits = _fields("a.py", "Limits", "max_pots", "cook_name")
    uses = [payload("code", f"u{n}.py", "cook_name", symbol=f"use{n}") for n in range(6)]
    rare, common = (_ranked(f"how is {name} counted", limits, *uses) for name in ("max_pots", "cook_name"))
    assert rare[0] > common[0] > common[1] == rare[1]


def test_of_several_classes_with_a_field_the_one_that_is_mentioned_is_meant():
    first, second = _fields("a.py", "Limits", "max_pots"), _fields("b.py", "Kitchen", "max_pots")
    one, other = _ranked("how is max_pots of a Kitchen counted", first, second)[:2]
    assert other > one
    one, other = _ranked("how is max_pots counted", first, second)[:2]
    assert one == other > _ranked("how is max_pots counted", first, second)[2]


def test_documents_carry_their_provenance_in_the_specified_order():
    doc = payload("doc", "docs/a.md", "body")
    assert RerankDocument(doc, 1200).text.split("\n") == [
        "SOURCE: docs",
        "REPO: google/adk-docs",
        "REF: abc",
        "LOC: https://adk.dev/docs/a.md",
        f"CHUNK: {doc.chunk_id}",
        "",
        *doc.text.split("\n"),
    ]
    code = payload("code", "src/a.py", "body", symbol="f", start_line=3, end_line=7)
    assert RerankDocument(code, 1200).text.split("\n")[:7] == [
        "SOURCE: code",
        "REPO: google/adk-python",
        "REF: abc",
        "PATH: src/a.py",
        "LINES: 3-7",
        f"CHUNK: {code.chunk_id}",
        "SYMBOL: f",
    ]


def test_a_long_body_is_cut_and_its_header_kept():
    long = payload("doc", "docs/a.md", "word " * 5000)
    text = RerankDocument(long, 50).text
    assert text.startswith("SOURCE: docs\nREPO:")
    assert len(text) < 600


def _boils(owner, *body, takes="lid, heat"):
    text = "\n  ".join([f"async def boil_pot(self, *, {takes}):", *body])
    return payload("code", f"{owner}.py", text, symbol=f"{owner}.boil_pot", symbols=(f"{owner}.boil_pot",))


def test_what_only_implements_the_method_that_is_asked_for_stands_behind_the_method_that_says_what_it_is_for():
    outline = _boils("BaseStove", '"""Boils a pot."""', "raise NotImplementedError()")
    gas = _boils("GasStove", '"""Boils a pot."""', "return await self.light()")
    other = _boils("Camp", "return self.fire", takes="wood")
    asked = "what does boil_pot receive"
    base, override, wood = _ranked(asked, outline, gas, other)[:3]
    assert base == wood > override
    # Whoever writes a word of its class means the class.
    base, override, _ = _ranked("what does boil_pot do with gas", outline, gas, other)[:3]
    assert base == override
    # Nothing says that the one is an override of the other.
    written = _boils("BaseStove", '"""Boils a pot."""', "return self.heat")
    assert len(set(_ranked(asked, written, gas, other)[:3])) == 1

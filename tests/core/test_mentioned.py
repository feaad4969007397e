"""Names in the words of a question: each has its definition among the results, and the results say how to use it."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from rich.console import Console

from adk_evidence.models.named import Named
from adk_evidence.models.pack import Candidate, EvidencePack
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_evidence.render.markdown import to_markdown
from adk_evidence.render.prompt import to_prompt
from adk_evidence.search.candidates.mentioned import BEHIND, follow
from adk_evidence.search.run import Hit
from adk_evidence.search.session import EvidenceService
from adk_evidence_cli.symbols import _show
from adk_evidence_mcp.tools import _entry
from tests.core.factories import payload
from tests.corpora import CODE, HashEmbedder, Workplace, shared_sparse, write_code

pytestmark = pytest.mark.slow

# Long enough that a class is cut into its head and its methods.
FILLER = "".join(f"        # step {number} of the long way through all stations\n" for number in range(110))
CONTEXT = f'''\
"""What a tool is given."""


class ReadonlyContext:
    """What may only be read."""

    def load_crate(self, name: str, version: int | None = None) -> str | None:
        """Opens a crate of the person, or of one talk."""
{FILLER}

class Context(ReadonlyContext):
    """What may be changed."""

    def save_crate(self, name: str, text: str) -> int:
        """Closes a crate and counts its versions."""
{FILLER}
'''
STORES = "".join(
    f'''

class {kind}CrateService:
    """Keeps crates in {kind.lower()} storage: save_crate and load_crate with version, namespace, text and name."""

    def save_crate(self, name: str, text: str) -> int:
        """Saves a crate with its version, namespace, text and name in {kind.lower()} storage."""
        return {number}

    def load_crate(self, name: str, version: int | None = None) -> str | None:
        """Loads a crate by its version, namespace, text and name from {kind.lower()} storage."""
        return str({number})
'''
    for number, kind in enumerate(("Memory", "Disk", "Cloud", "Remote"))
)
TOOLSET = f'''\
"""Tools of a server."""


class FarToolset:
    """Connects to a server and gives its tools.

    Usage: make one, and close it at the end.
    """

    def __init__(
        self,
        *,
        connection: str,
        filter_by: list[str] | None = None,
        prefix_with: str | None = None,
        seconds_to_wait: float | None = None,
        header_of_each_call: dict[str, str] | None = None,
        credential_for_each_call: dict[str, str] | None = None,
        progress_of_each_call: Callable[[str, float, float | None], Awaitable[None]] | None = None,
        sampling_of_each_answer: Callable[[str, dict[str, object]], Awaitable[str]] | None = None,
        elicitation_of_each_person: Callable[[str, dict[str, object]], Awaitable[str]] | None = None,
        must_confirm: bool = False,
    ) -> None:
        """Connects."""
{FILLER}

class FarToolsetConfig:
    """Settings of a toolset: ask a person before each call, and after it."""

    filter_by: list[str] = []
    prefix_with: str = ""
    must_confirm: bool = False
'''
CACHE = '''\
"""Small settings that nobody speaks of."""

from pydantic import BaseModel


class ResumeConfig(BaseModel):
    """Whether a run goes on where it ended."""

    is_resumable: bool = False


class KeepConfig(BaseModel):
    """How long the beginning of a prompt is kept."""

    minutes: int = 30
'''
PROGRAM = '''\
from .cache import KeepConfig, ResumeConfig


class Program:
    """All that runs."""

    def __init__(self, keep: KeepConfig | None = None, resume: ResumeConfig | None = None) -> None:
        self.keep, self.resume = keep, resume
'''
MEMORY = '''\
"""A tool that looks back."""


class PreloadTool:
    """Looks back before each answer."""

    def __init__(self) -> None:
        self.name = "preload"


preload_tool = PreloadTool()
'''
GUIDE = """\
# Compaction

Compaction shortens the history of a talk: the interval says how often, the overlap how much of it is read twice.

## Set compaction

Set the compaction interval and the overlap of compaction, then the history of each talk is shortened.

## Sliding compaction

Sliding compaction shortens the history by an interval, with an overlap between two compactions.

## Compaction by tokens

Compaction by tokens shortens the history whose interval is too long, without an overlap.
"""
MADE: dict[str, str] = {
    "src/google/adk/context.py": CONTEXT,
    "src/google/adk/tool_context.py": (
        '"""Another name."""\n\nfrom .context import Context\n\nToolContext = Context\n'
    ),
    "src/google/adk/stores.py": f'"""Where crates are kept."""\n{STORES}',
    "src/google/adk/toolset.py": TOOLSET,
    "src/google/adk/cache.py": CACHE,
    "src/google/adk/memory/preload_tool.py": MEMORY,
    "src/google/adk/memory/__init__.py": (
        "'''Memory.'''\n\nfrom .preload_tool import preload_tool as preload\n\n__all__ = ['preload']\n"
    ),
}
COMPACTION = "compaction interval and overlap of the history, with ResumeConfig and KeepConfig"


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    made = Workplace(tmp_path_factory.mktemp("mentioned"))
    write_code(made.code, {**CODE, **MADE})
    (made.docs / "docs" / "compaction.md").write_text(GUIDE)
    made.ingest()
    return made


@pytest.fixture(scope="module")
def service(workplace: Workplace) -> Iterator[EvidenceService]:
    opened = EvidenceService(workplace.settings, dense=HashEmbedder(), sparse=shared_sparse())
    yield opened
    opened.close()


def hit(symbol: str, kind: str = "class", path: str = "src/kit.py", **changes: Any) -> Hit:
    chunk = payload("code", path, symbol=symbol, symbol_kind=kind)
    return Hit(f"{path} {symbol}", "adk_code", chunk, 1, 1.0, (), None)._replace(**changes)


def ask(service: EvidenceService, query: str, **changes: Any) -> EvidencePack:
    return service.find(EvidenceRequest(query=query, **changes))


def mentioned(service: EvidenceService, query: str) -> dict[str, Candidate]:
    """The results that define what the words of a question name, by the names."""
    with service.session() as session:
        final = session.rank(EvidenceRequest(query=query)).final
    by_id = {candidate.candidate_id: candidate for candidate in ask(service, query).candidates}
    return {
        name: by_id[one.payload.candidate_id]
        for one in final
        if one.mentioned is not None
        for name in one.mentioned.names
    }


def places(pack: EvidencePack) -> dict[str, int]:
    """The rank of each piece of code."""
    return {candidate.symbol: candidate.rank for candidate in reversed(pack.candidates) if candidate.symbol}


def result(pack: EvidencePack, symbol: str) -> Candidate:
    return next(candidate for candidate in pack.candidates if candidate.symbol == symbol)


def test_each_class_that_a_question_names_is_among_the_first_results_as_the_guide_is(service: EvidenceService) -> None:
    pack = ask(service, COMPACTION)
    assert any(candidate.path == "docs/compaction.md" for candidate in pack.candidates[:BEHIND])
    assert places(pack)["ResumeConfig"] <= BEHIND + 2 and places(pack)["KeepConfig"] <= BEHIND + 2
    assert mentioned(service, COMPACTION)["KeepConfig"].rank == places(pack)["KeepConfig"]


def test_what_is_named_stands_behind_the_first_results_and_these_keep_their_order() -> None:
    ranked = [hit(name) for name in "ABCDEF"]
    named = [hit(name, mentioned=Named("defines", (name,))) for name in "FBX"]
    found = follow(named, ranked)
    assert [one.payload.symbol for one in found] == [*"ABC", *"FX", *"DE"]
    assert [one.mentioned.names for one in found if one.mentioned] == [("B",), ("F",), ("X",)]


@pytest.mark.parametrize("there", ["E", "E.__init__"])
def test_a_class_of_which_the_first_results_have_a_part_is_not_moved(there: str) -> None:
    ranked = [hit(there, "method" if "." in there else "class"), *(hit(name) for name in "BCD")]
    head = hit("E", mentioned=Named("defines", ("E",)))._replace(point_id="head of E")
    assert follow([head], [*ranked, head]) == [*ranked, head]
    elsewhere = hit("E", path="src/other.py", mentioned=Named("defines", ("E",)))
    assert follow([elsewhere], ranked)[BEHIND] == elsewhere


def test_definitions_that_are_named_can_be_switched_off(workplace: Workplace, service: EvidenceService) -> None:
    others = [name for name in workplace.settings.retrieval.named if name != "mentions"]
    retrieval = workplace.settings.retrieval.model_copy(update={"named": tuple(others)})
    without = service.tuned(workplace.settings.model_copy(update={"retrieval": retrieval}))
    assert mentioned(without, COMPACTION) == {}


def test_members_are_those_of_the_named_class_through_another_name_and_its_bases(service: EvidenceService) -> None:
    query = "ToolContext save_crate load_crate with version, namespace and text, or None without a crate"
    found = mentioned(service, query)
    assert list(found) == ["ToolContext.save_crate", "ToolContext.load_crate"]
    assert all(candidate.path.endswith("context.py") for candidate in found.values())
    assert all(candidate.rank <= BEHIND + 2 for candidate in found.values())
    assert "def load_crate" in found["ToolContext.load_crate"].passages[-1].text


def test_a_parameter_of_the_named_class_beats_a_field_of_another_class(service: EvidenceService) -> None:
    pack = ask(service, "FarToolset must_confirm: ask a person before a call", max_results_final=1)
    assert (pack.candidates[0].symbol or "").partition(".")[0] == "FarToolset"


def test_a_class_carries_its_constructor_with_the_parameters_that_the_question_names(service: EvidenceService) -> None:
    pack = ask(service, "make a FarToolset that connects to a server and gives its tools, and close it, must_confirm")
    head = result(pack, "FarToolset")
    assert head.signature is not None and head.signature.startswith("FarToolset(*, connection: str, ")
    assert "must_confirm: bool = False" in head.signature
    assert f"`{head.signature}`" in to_prompt(pack).text and head.signature in to_markdown(pack)


def test_a_constructor_that_is_shown_is_not_repeated(service: EvidenceService) -> None:
    head = result(ask(service, "what does the RetryPlugin class do with max_retries"), "RetryPlugin")
    assert "def __init__(self, max_retries" in "".join(passage.text for passage in head.passages)
    assert head.signature is None


def test_a_class_says_once_what_its_objects_are_passed_to(tmp_path_factory: pytest.TempPathFactory) -> None:
    made = Workplace(tmp_path_factory.mktemp("passed"))
    methods = "".join(
        f"""

    def keep_{name}(self) -> None:
        \"\"\"Keeps the beginning of a prompt for {name}.\"\"\"
{FILLER}"""
        for name in ("minutes", "hours")
    )
    note = '    """How many minutes that is. After them, all is sent again."""\n'
    cache = CACHE + note + methods
    write_code(made.code, {**CODE, "src/google/adk/cache.py": cache, "src/google/adk/program.py": PROGRAM})
    made.ingest()
    with closing(EvidenceService(made.settings, dense=HashEmbedder(), sparse=shared_sparse())) as service:
        pack = ask(service, "KeepConfig keep_minutes keep_hours of the beginning of a prompt, and ResumeConfig")
        said = said_of_symbol(service, "KeepConfig")
    told = {candidate.symbol: candidate.taken_by for candidate in pack.candidates if candidate.source_type == "code"}
    of_keep = [taken for symbol, taken in told.items() if (symbol or "").startswith("KeepConfig")]
    assert len(of_keep) > 1 and sorted(of_keep)[-1] == ("Program(keep=)",) and of_keep.count(()) == len(of_keep) - 1
    assert told["ResumeConfig"] == ("Program(resume=)",)
    for text in (to_prompt(pack).text, to_markdown(pack)):
        assert text.count("passed to `Program(keep=)`") == 1
    assert all("passed to Program(keep=)" in text for text in said)
    assert all("minutes: How many minutes that is.\n" in text and "sent again" not in text for text in said)


def said_of_symbol(service: EvidenceService, name: str) -> list[str]:
    """What the terminal and the tool for agents say of a name."""
    answer = service.symbols.find(name, 5)
    (only,) = answer.named
    out = Console(file=io.StringIO(), width=200)
    _show(only, 1, answer, out)
    return [out.file.getvalue(), _entry(only, answer)]


def test_a_result_imports_what_it_is_called_and_says_what_else(service: EvidenceService) -> None:
    own = "from google.adk.memory.preload_tool import PreloadTool"
    also = "from google.adk.memory import preload  # an instance"
    assert result(ask(service, "PreloadTool"), "PreloadTool").import_statement == f"{own}; {also}"


def test_filters_hold_for_what_a_question_names(service: EvidenceService) -> None:
    pack = ask(service, COMPACTION, filters=EvidenceFilters(path_allowlist=("**/stores.py",)))
    assert not places(pack).keys() & {"ResumeConfig", "KeepConfig"}


def test_an_index_without_targets_answers_all_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    bare = Workplace(tmp_path_factory.mktemp("bare"))
    bare.ingest()
    shutil.rmtree(bare.settings.paths.targets)
    opened = EvidenceService(bare.settings, dense=HashEmbedder(), sparse=shared_sparse())
    pack = ask(opened, "what does the RetryPlugin do when a tool throws")
    assert mentioned(opened, "what does the RetryPlugin do when a tool throws") == {}
    opened.close()
    assert pack.candidates and all(one.signature is None for one in pack.candidates)

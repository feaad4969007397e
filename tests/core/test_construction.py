"""What the results say of a class beside its lines: how it is made, imported, and what takes its objects."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing

import pytest
from rich.console import Console

from adk_evidence.models.pack import Candidate, EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.render.markdown import to_markdown
from adk_evidence.render.prompt import to_prompt
from adk_evidence.search.session import EvidenceService
from adk_evidence_cli.symbols import _show
from adk_evidence_mcp.tools import _entry
from tests.corpora import CODE, HashEmbedder, Workplace, shared_sparse, write_code

pytestmark = pytest.mark.slow

# Long enough that a class is cut into its head and its methods.
FILLER = "".join(f"        # step {number} of the long way through all stations\n" for number in range(110))
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
OVEN = '''\
"""Where it is warm."""

from weather.models import WarmPlace


def find_oven(near: WarmPlace) -> None:
    """Finds an oven."""
'''
MADE: dict[str, str] = {
    "src/google/adk/oven.py": OVEN,
    "src/google/adk/toolset.py": TOOLSET,
    "src/google/adk/memory/preload_tool.py": MEMORY,
    "src/google/adk/memory/__init__.py": (
        "'''Memory.'''\n\nfrom .preload_tool import preload_tool as preload\n\n__all__ = ['preload']\n"
    ),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceService]:
    made = Workplace(tmp_path_factory.mktemp("construction"))
    write_code(made.code, {**CODE, **MADE})
    made.ingest()
    with closing(EvidenceService(made.settings, dense=HashEmbedder(), sparse=shared_sparse())) as opened:
        yield opened


def ask(service: EvidenceService, query: str) -> EvidencePack:
    return service.find(EvidenceRequest(query=query))


def result(pack: EvidencePack, symbol: str) -> Candidate:
    return next(candidate for candidate in pack.candidates if candidate.symbol == symbol)


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


def test_a_pack_says_how_what_the_question_names_is_called_and_imported(service: EvidenceService) -> None:
    def told(query: str) -> dict[str, str]:
        return {one.symbol: one.signature for one in ask(service, query).mentioned}

    names = "FarToolsetConfig filter_by, must_confirm of FarToolset; on_tool_error_callback, no_such_name"
    found = told(f"how do these go together: {names}?")
    assert found["FarToolset"].startswith("FarToolset(*, connection: str, ") and "must_confirm" in found["FarToolset"]
    assert "filter_by: list[str] = []" in found["FarToolsetConfig"] and "FarToolsetConfig.filter_by" not in found
    assert list(found) == sorted(found, key=lambda symbol: names.find(symbol.rpartition(".")[2]))
    assert not any("no_such_name" in symbol for symbol in found)
    assert told("how do I connect to a server?") == {}
    (other,) = ask(service, "how do I make a WarmPlace").mentioned
    assert (other.signature, other.import_statement) == ("WarmPlace", "from weather.models import WarmPlace")
    assert "\nfrom weather.models import WarmPlace\n  WarmPlace\n" in to_prompt(ask(service, other.symbol)).text
    (only,) = ask(service, "what is RetryPlugin for").mentioned
    assert only.import_statement.endswith(" import RetryPlugin") and only.path.startswith("src/google/adk/")

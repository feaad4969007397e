"""Reading back what was cited: of any index, by a tool or as a resource, also where a name has hidden characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS

from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.resources import citation_uri
from adk_evidence_mcp.server import make_server
from tests.agents.mcp_calls import answer, citations, failure, paths
from tests.agents.operations_place import SHOP, ask, make_place
from tests.corpora import CODE_COMMIT, Workplace, write_files
from tests.injection import hidden_characters

pytestmark = pytest.mark.slow

ODD: dict[str, str] = {
    "src/over\u202eride.py": "def parrot() -> str:\n    return 'parrot'\n",
    "docs/two  spaces.md": "# Macaw\n\nThe macaw has two spaces.\n",
    "docs/line\nbreak.md": "# Cockatoo\n\nThe cockatoo broke its line.\n",
    "src/twin  one.py": "def lory() -> str:\n    return 'one'\n",
    "src/twin   one.py": "def lory() -> str:\n    return 'another'\n",
}
PAGE = "docs/greeting.md"
TABS = """\
# Greeting

Greet whoever comes:

=== "Python"

    ```python
    greet()
    ```

=== "Java"

    ```java
    Greeter.greet();
    ```

=== "Go"

    ```go
    greeter.Greet()
    ```

Then wave.
""".replace("    Greeter.greet();\n", "    Greeter.greet();\n" * 60)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The main index, `shop` and `odd`."""
    place = make_place(tmp_path_factory.mktemp("sources"), {PAGE: TABS})
    session = AgentSession(lambda: place.settings)
    folder = write_files(place.root / "of odd", ODD)
    done = ask(session, "index_codebase", codebase_path=str(folder), collection_name="odd")
    assert done.status == "success", done.errors
    session.close()
    return place


@pytest.fixture
def session(place: Workplace) -> Iterator[AgentSession]:
    session = AgentSession(lambda: place.settings)
    yield session
    session.close()


async def unreadable(client: Client, citation: str) -> str:
    """The sentence of a citation that cannot be read, the same by tool and by resource."""
    sentence = await failure(client, "read_adk_source", citation=citation)
    with pytest.raises(MCPError) as caught:
        await client.read_resource(citation_uri(citation))
    assert caught.value.message == sentence and caught.value.code == INVALID_PARAMS
    return sentence


async def read(client: Client, citation: str) -> str:
    """The text of a citation, which tool and resource give alike."""
    text = await answer(client, "read_adk_source", citation=citation)
    (resource,) = (await client.read_resource(citation_uri(citation))).contents
    assert resource.text == text and "has changed since" not in text
    return text


@pytest.mark.asyncio
async def test_what_any_operation_cited_can_be_read(session: AgentSession) -> None:
    async with Client(make_server(session)) as client:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("find_adk_evidence", {"query": "how do I retry when a tool throws?"}),
            ("search_code_and_docs", {"query": "the discount off the whole basket", "index": "shop"}),
            ("search_code_and_docs", {"query": "retry a tool that throws", "index": "*", "where": "code"}),
            ("find_similar_code", {"code": SHOP["jobs/turnover.py"], "index": "shop"}),
            ("get_task_context", {"task": "mail the report of a day", "index": "shop"}),
        ]
        for tool, arguments in asked:
            found = citations(await answer(client, tool, **arguments))
            assert found
            for cited in found:
                first, note, *_ = (await read(client, cited)).split("\n")
                assert first.startswith("SOURCE: ") and "(" not in first and "never instructions" in note


@pytest.mark.asyncio
async def test_code_and_docs_together_are_as_many_as_were_asked_for(session: AgentSession) -> None:
    async with Client(make_server(session)) as client:
        text = await answer(client, "search_code_and_docs", query="discount", index="shop", max_results=3)
        assert len(paths(text)) == 3 and "3 results, best first." in text
        assert {"docs/discounts.md", "src/basket.ts"} <= set(paths(text))


@pytest.mark.asyncio
async def test_of_a_page_the_lines_for_readers_of_other_languages_are_left_out(session: AgentSession) -> None:
    lines = TABS.splitlines()
    first, last = lines.index('=== "Java"') + 1, len(lines) - 2
    async with Client(make_server(session)) as client:
        whole = await read(client, f"{PAGE}:1-{len(lines)}")
        assert f"[lines {first}-{last}: Java, Go]" in whole and "Greeter" not in whole
        assert "greet()" in whole and "Then wave." in whole and "Java" not in whole.replace("Java, Go]", "")
        text = await read(client, f"{PAGE}:{first}-{len(lines)}")
        assert "Greeter" not in text and "Then wave." in text
        # Whoever names them wants them.
        java = await read(client, f"{PAGE}:{first}-{first + 4}")
        assert "Greeter.greet();" in java and "[lines" not in java


@pytest.mark.asyncio
async def test_what_cannot_be_read_says_what_can(session: AgentSession, place: Workplace) -> None:
    async with Client(make_server(session)) as client:
        unknown = await unreadable(client, "nowhere@v1:src/a.py#L1-L2")
        assert "'nowhere'" in unknown and "adk-docs or adk-python or odd or shop" in unknown
        assert "'adk'" in await unreadable(client, "adk@v1:src/a.py#L1-L2")
        for earlier in ("shop@tree-0000:src/basket.ts#L1-L2", f"adk-python@{CODE_COMMIT}:src/gone.py#L1-L2"):
            assert "Ask again" in await unreadable(client, earlier)
        strange = await unreadable(client, "adk-docs@v1:src/google/adk/runners.py#L1-L2")
        meant = strange.partition("There is ")[2].removesuffix(".")
        assert meant == f"adk-python@{CODE_COMMIT}:src/google/adk/runners.py"
        assert "class Runner" in await read(client, meant)
        basket = citations(await answer(client, "search_code_and_docs", query="basket", index="shop"))[0]
        commit = basket.partition(":")[0]
        assert "no such file" in await unreadable(client, f"{commit}:../of odd/src/twin  one.py#L1-L2")
        assert "not a citation" in await unreadable(client, "/etc/passwd")


@pytest.mark.asyncio
async def test_of_an_address_that_several_pages_share_each_can_be_read(session: AgentSession) -> None:
    async with Client(make_server(session)) as client:
        shared = f"adk-python@{CODE_COMMIT}:https://adk.dev/api-reference/python/google-adk.html"
        refused = await unreadable(client, shared)
        assert "stands for 3 pages" in refused
        pages = re.findall(rf"adk-python@{CODE_COMMIT}:\S+\.md", refused)
        assert len(pages) == 3
        for page in pages:
            await read(client, page)


@pytest.mark.asyncio
async def test_the_lines_of_a_page_are_read_alone(session: AgentSession) -> None:
    async with Client(make_server(session)) as client:
        text = await answer(client, "search_code_and_docs", query="retry a tool", where="docs")
        cited = next(one for one in citations(text) if one.endswith("#retry-a-tool L1-L3"))
        assert "#L1-L3" in await read(client, cited)
        assert "#L3-L3" in await read(client, cited.replace("L1-L3", "L3-L3"))


@pytest.mark.asyncio
@pytest.mark.parametrize(("bird", "where"), [("parrot", "code"), ("macaw", "docs"), ("cockatoo", "docs")])
async def test_a_name_that_had_to_be_escaped_is_understood_as_it_was_shown(
    session: AgentSession, bird: str, where: str
) -> None:
    async with Client(make_server(session)) as client:
        text = await answer(client, "search_code_and_docs", query=bird, index="odd", where=where, max_results=1)
        (shown,) = citations(text)
        source = await read(client, shown)
        assert bird in source.lower() and not hidden_characters(source)
        # As it is to the letter, too.
        exact = next(path for path, content in ODD.items() if bird in content.lower())
        commit, lines = shown.partition(":")[0], shown.rpartition("#")[2]
        assert bird in (await read(client, f"{commit}:{exact}#{lines}")).lower()


@pytest.mark.asyncio
async def test_a_name_that_two_files_are_shown_by_opens_neither(session: AgentSession) -> None:
    async with Client(make_server(session)) as client:
        text = await answer(client, "search_code_and_docs", query="lory", index="odd", max_results=1)
        (shown,) = citations(text)
        assert "2 files" in await unreadable(client, shown)


@pytest.mark.asyncio
async def test_a_source_is_read_with_the_places_that_use_it(session: AgentSession) -> None:
    async with Client(make_server(session)) as client:
        found = await answer(client, "search_code_and_docs", query="turnover_of", index="shop", where="code")
        cited = next(each for each in citations(found) if ":jobs/turnover.py#" in each)
        whole = f"{cited.partition('#')[0]}#L4-L7"
        text = await answer(client, "read_adk_source", citation=whole, uses=True)
        assert "def turnover_of(day" in text and "Uses of jobs.turnover.turnover_of:" in text
        assert "in mail_report  send_mail" in text and "jobs/report.py#L3-L3  from jobs.turnover import" in text
        assert "Uses of" not in await answer(client, "read_adk_source", citation=whole)
        page = await answer(client, "read_adk_source", citation=f"{PAGE}:1-3", uses=True)
        assert "No definition is at these lines." in page

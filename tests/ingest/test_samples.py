"""Example programs are evidence of the documentation; what pages have for other readers is searched when asked for."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from adk_evidence.errors import IndexMismatchError
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import EvidencePack, LineSpan
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_ingest.commands.doctor import examine
from adk_ingest.commands.reports import verify_published
from tests.corpora import CODE, Workplace, write_checkout, write_files

LICENCE = "# Copyright 2026 Somebody\n#\n# Licensed under the Apache License, Version 2.0\n"
SAMPLE = f'''{LICENCE}
from google.adk import Runner


def pour_tea(cups: int) -> str:
    """Pours some cups of tea."""
    return f"{{cups}} cups"


teahouse = Runner(tools=[pour_tea])
'''
PAGE = """\
# Serve drinks

A runner serves drinks when a person asks it:

=== "Python"

    ```python
    --8<-- "examples/python/tea.py"
    ```

=== "Java"

    ```java
    Runner.serve("a samovar of drinks");
    ```

=== "Go"

    ```go
    runner.Serve("samovar")
    ```

Then the runner cleans the cups.
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    workplace = Workplace(tmp_path_factory.mktemp("samples"))
    write_files(
        workplace.docs,
        {
            "docs/tools/drinks.md": PAGE,
            "docs/tools/serve-java.md": "# Serve\n\nA samovar of drinks is served by a servlet.\n",
            "examples/python/tea.py": SAMPLE,
            "examples/python/__init__.py": f"{LICENCE}\nfrom . import tea\n",
            "examples/python/tests/test_tea.py": f"{SAMPLE}\n\ndef test_tea():\n    assert pour_tea(1)\n",
            "examples/java/Tea.java": "class Tea {}\n",
        },
    )
    write_files(
        workplace.code,
        {
            "contributing/samples/coffee/agent.py": SAMPLE.replace("tea", "coffee"),
            "contributing/samples/coffee/README.md": "# Coffee\n\nHow to run the sample of coffee.\n",
        },
    )
    workplace.ingest()
    return workplace


def find(place: Workplace, query: str, **filters: object) -> EvidencePack:
    with closing(place.service()) as service:
        return service.find(EvidenceRequest(query=query, filters=EvidenceFilters(**filters)))  # type: ignore[arg-type]


def samples(place: Workplace) -> list[ChunkPayload]:
    found = (payload for payload in place.points().values() if payload.origin == "sample")
    return sorted(found, key=lambda payload: (payload.path, payload.start_line))


def test_samples_are_documentation_that_is_cited_at_its_own_lines(place: Workplace) -> None:
    paths = {payload.path for payload in samples(place)}
    assert paths == {"examples/python/tea.py", "contributing/samples/coffee/agent.py"}
    assert all(payload.kind == "doc" and payload.fqn is None and "sample" in payload.tags for payload in samples(place))
    [first, *_] = [one for one in find(place, "pour_tea cups").candidates if one.origin == "sample"]
    assert "examples/python/tea.py#L" in first.citation and first.verification.state == "exact"
    assert first.source_type == "docs" and first.language == "py"
    assert verify_published(place.settings, citations=True).ok
    current = place.published
    assert {"adk_docs-samples", "adk_python-samples"} <= set(current.manifest.corpora)
    code = {payload.path for payload in place.points().values() if payload.kind == "code"}
    assert "contributing/samples/coffee/agent.py" not in code and "contributing/samples/coffee/README.md" in code


def test_samples_that_are_gone_leave_the_index(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    sample = place.docs / "examples/tea.py"
    write_files(place.docs, {"examples/empty.py": "", "examples/tea.py": SAMPLE, "docs/.aws/credentials": "x"})
    run = place.ingest()
    assert samples(place)
    assert run.corpora["adk_docs-samples"].skipped == {"empty": 1}, "the walk for samples tells of samples alone"
    assert sum(".aws" in notice for notice in run.notices) == 1
    sample.unlink()
    place.ingest()
    current = place.published
    assert not samples(place) and "adk_docs-samples" not in current.manifest.corpora


def test_a_change_makes_only_what_depends_on_it_anew(tmp_path: Path) -> None:
    def changed(place: Workplace) -> dict[str, int]:
        return {name: corpus.files_changed for name, corpus in place.ingest().corpora.items() if corpus.files_changed}

    place = Workplace(tmp_path)
    write_files(place.docs, {"docs/tools/drinks.md": PAGE, "examples/python/tea.py": SAMPLE})
    place.ingest()
    write_files(place.docs, {"examples/python/tea.py": SAMPLE.replace("Pours", "Brews")})
    # The sample, and the one page that includes the sample.
    assert changed(place) == {"adk_docs-samples": 1, "adk_docs": 1}
    pages = sum(payload.origin == "repository" for payload in place.points().values() if payload.chunk_index == 0)
    of_java = Workplace(tmp_path, {"ingestion": {"corpora": {"adk_docs": {"language": "java"}}}})
    code = sum(payload.kind == "code" for payload in place.points().values() if payload.chunk_index == 0)
    assert changed(of_java) == {"adk_docs": pages - code}
    assert {payload.for_language for payload in of_java.points().values()} == {None, "python", "go"}


def test_a_sample_that_is_not_as_in_the_commit_is_cited_as_it_is(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    shutil.rmtree(place.code)
    agent = place.code / "contributing/samples/tea/agent.py"
    commit = write_checkout(place.code, CODE | {"contributing/samples/tea/agent.py": SAMPLE})

    def cited() -> set[tuple[str, str]]:
        found = [one for one in find(place, "pour_tea cups").candidates if one.origin == "sample"]
        return {(one.citation.split("@")[1].split(":")[0], one.verification.state) for one in found}

    place.ingest()
    assert cited() == {(commit, "exact")}
    agent.write_text("# A new first line.\n\n" + SAMPLE)
    assert cited() == {(commit, "moved")}
    place.ingest()
    [(name, state)] = cited()
    assert name.startswith("tree-") and state == "exact"
    assert verify_published(place.settings, citations=True).ok


def test_a_page_is_found_by_the_code_that_it_includes(place: Workplace) -> None:
    page = next(one for one in find(place, "pour_tea cups").candidates if one.path == "docs/tools/drinks.md")
    assert "def pour_tea" in page.attached
    [payload] = [one for one in place.points().values() if one.path == page.path and one.for_language is None]
    assert payload.passage_lines[0] == 1 and payload.passage_lines[-1] == 8


def test_an_index_of_an_older_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    current = place.published
    manifest = current.folder / "manifest.json"
    manifest.write_text(re.sub(r'"payload": \d+', '"payload": 1', manifest.read_text()))
    with pytest.raises(IndexMismatchError, match="another version") as refused:
        place.ask("how does a runner retry?")
    assert "adk-ingest" in (refused.value.hint or "")
    [finding] = [one for one in examine(place.settings) if one.what == "models"]
    assert finding.state == "broken" and finding.found == refused.value.message


class TestReaders:
    def test_what_is_for_other_readers_is_not_searched_and_not_paid_for(self, place: Workplace) -> None:
        pack = find(place, "samovar of drinks")
        assert not any(one.for_language for one in pack.candidates)
        page = next(one for one in pack.candidates if one.path == "docs/tools/drinks.md")
        assert [(out.lines.start, out.lines.end, out.language) for out in page.left_out] == [
            (11, 15, "java"),
            (17, 21, "go"),
        ]
        assert page.verification.state == "exact" and page.lines is not None and page.lines.end == 23
        assert "samovar" in page.text and "samovar" not in page.why.matched_terms

    @pytest.mark.parametrize(
        ("query", "filters", "found"),
        [
            ("samovar of drinks in Java", {}, {"java"}),
            ("samovar of drinks in Java or Go", {}, {"java", "go"}),
            ("samovar of drinks", {"languages": ("java",)}, {"java"}),
            ("samovar of drinks", {"tags": ("go",)}, {"go"}),
            ("samovar of drinks", {"path_allowlist": ("docs/tools/serve-java.md",)}, {"java"}),
        ],
    )
    def test_a_language_that_is_named_is_searched(
        self, place: Workplace, query: str, filters: dict[str, object], found: set[str]
    ) -> None:
        assert {one.for_language for one in find(place, query, **filters).candidates} - {None} == found

    def test_without_a_readers_language_everything_is_searched(self, place: Workplace) -> None:
        pack = find(Workplace(place.root, {"retrieval": {"language": None}}), "samovar of drinks")
        assert {one.for_language for one in pack.candidates} == {None, "java", "go"}

    def test_a_citation_of_other_readers_lines_opens_their_chunk(self, place: Workplace) -> None:
        write_files(place.docs, {"docs/tools/drinks.md": "# New first line\n\n" + PAGE})
        with closing(place.service()) as service, service.session() as session:
            moved = session.read_file("docs/tools/drinks.md", lines=LineSpan(start=11, end=15))
        write_files(place.docs, {"docs/tools/drinks.md": PAGE})
        assert moved.verification is not None and moved.verification.state == "moved"
        assert moved.lines == LineSpan(start=13, end=17)

"""An edited pack is known by its id, and the same content gives the same pack wherever it is asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest

from adk_evidence.citations.saved import read_pack
from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.pack import EvidencePack, content_id, is_intact
from adk_evidence.models.request import EvidenceRequest
from tests.corpora import Workplace

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
ERROR = (
    'Traceback (most recent call last):\n  File "google/adk/plugins/retry.py", line 9, in on_tool_error\nValueError: x'
)


def all_answered(place: Workplace, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The JSON of packs, as `ask --json` saves it."""
    with closing(place.service()) as service:
        packs = [service.find(EvidenceRequest(**{"query": QUESTION, **values})) for values in asked]
    return [json.loads(pack.model_dump_json()) for pack in packs]


@pytest.fixture(scope="module")
def saved(indexed: Workplace) -> dict[str, Any]:
    return all_answered(indexed, [{"max_results_final": 5}])[0]


@pytest.mark.parametrize("edit", [{"query": "other question"}, {"warnings": []}], ids=str)
def test_an_edited_pack_is_not_intact(saved, edit):
    pack = {**saved, "warnings": [{"code": "coverage", "text": "x"}]}
    pack["pack_id"] = content_id(pack)
    assert is_intact(pack) and not is_intact({**pack, **edit})


@pytest.mark.parametrize("edit", [{"text": "other words"}, {"citation": "adk-docs@0:invented"}], ids=str)
def test_a_pack_with_an_edited_result_is_not_intact(saved, edit):
    first, *others = saved["candidates"]
    assert is_intact(saved)
    assert not is_intact({**saved, "candidates": [{**first, **edit}, *others]})
    assert not is_intact({**saved, "candidates": [*others, first]})


def test_the_id_does_not_depend_on_how_the_json_is_written(saved):
    # As JavaScript writes numbers, with the question beside the pack and the members in another order.
    def rewritten(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rewritten(value[name]) for name in reversed(value)}
        if isinstance(value, list):
            return [rewritten(part) for part in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    found = read_pack(json.dumps({**rewritten(saved), "queryUsed": {"text": QUESTION}}))
    assert found.pack_id == saved["pack_id"] == EvidencePack.model_validate(saved).with_id().pack_id


def test_values_that_are_nested_deeply_are_refused(saved):
    depth = 100_000
    with pytest.raises(InvalidRequestError):
        read_pack(json.dumps(saved)[:-1] + f', "z": {"[" * depth}{"]" * depth}}}')


# The same content, elsewhere

_ELSEWHERE = """
import sys
from pathlib import Path
from tests.core.test_same_packs import all_answered
from tests.corpora import Workplace
import json
place = Workplace(Path(sys.argv[1]))
print(json.dumps(all_answered(place, json.loads(sys.argv[2]))))
"""
ASKED = [{"query": query} for query in (QUESTION, ERROR, "RetryPlugin", "wait between two attempts", "sessions")]


@pytest.fixture(scope="module")
def here(indexed: Workplace) -> list[dict[str, Any]]:
    return all_answered(indexed, ASKED)


def test_other_processes_and_other_homes_give_the_same_bytes(indexed, here, tmp_path_factory):
    copied = tmp_path_factory.mktemp("elsewhere") / "a home with ümlauts"
    shutil.copytree(indexed.root, copied)
    counts = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    environment = {
        **os.environ,
        **dict.fromkeys(counts, "4"),
        "PYTHONHASHSEED": "3",
        "LC_ALL": "POSIX",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, str(copied), json.dumps(ASKED)],
        capture_output=True,
        check=True,
        cwd=copied,
        env=environment,
    )
    for pack, other in zip(here, json.loads(done.stdout), strict=True):
        for one in (pack, other):
            one.pop("debug", None), one.pop("query_id", None)
        assert other == pack


def test_an_index_that_was_built_elsewhere_and_in_another_order_gives_the_same_ids(tmp_path, indexed, here):
    other = Workplace(tmp_path / "another place")
    # First without a file, then with the file: its points come last, as in an index that has grown.
    page = other.docs / "docs/tools/retry.md"
    text = page.read_bytes()
    page.unlink()
    other.ingest()
    first = [pack["pack_id"] for pack in all_answered(other, ASKED)]
    page.write_bytes(text)
    other.ingest()
    packs = all_answered(other, ASKED)
    assert [pack["pack_id"] for pack in packs] == [pack["pack_id"] for pack in here] != first
    for pack, built_here in zip(packs, here, strict=True):
        assert pack["index"]["generation"] != built_here["index"]["generation"]
        assert pack["index"]["content"] == built_here["index"]["content"]

"""The table of questions that ships."""

from __future__ import annotations

import pickle

from adk_evidence.settings import config_file
from adk_ingest import questions
from adk_ingest.questions import SHIPPED, Table


def test_another_process_gets_the_same_table() -> None:
    shipped = questions._read(config_file(SHIPPED))
    copied: Table = pickle.loads(pickle.dumps(shipped))  # noqa: S301 - our own
    assert copied.by_text == shipped.by_text

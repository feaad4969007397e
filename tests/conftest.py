"""Fixtures that several folders of tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpora import Workplace


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """A fresh home with small corpora beside it; nothing is ingested yet."""
    return Workplace(tmp_path)

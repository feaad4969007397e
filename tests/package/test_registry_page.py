"""The README on the page of a package registry, which has none of the repository's files."""

from __future__ import annotations

import pytest
from hatch_build import absolute

ADDRESS = "https://github.com/somebody/evidence"
AT = f"{ADDRESS}/blob/v1.2.3"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[map](CONTRIBUTING.md#map)", f"[map]({AT}/CONTRIBUTING.md#map)"),
        ("[`map`](CONTRIBUTING.md)", f"[`map`]({AT}/CONTRIBUTING.md)"),
        ("![p](a/p.png)", f"![p]({ADDRESS}/raw/v1.2.3/a/p.png)"),
        *((text, text) for text in ("[a](https://b.example)", "[a](mailto:a@b.example)", "[a](vscode:x/y)", "[a](#b)")),
        ("`[a](b)` and [a](b)", f"`[a](b)` and [a]({AT}/b)"),
        ("```\n[a](b)\n```\n[a](b)", f"```\n[a](b)\n```\n[a]({AT}/b)"),
    ],
)
def test_paths_become_addresses_of_the_version_and_all_else_stays(text: str, shown: str) -> None:
    assert absolute(text, ADDRESS, "1.2.3") == shown

"""Reads Markdown as its readers do: what stands outside all fences."""

from __future__ import annotations

import re

_FENCE = re.compile(r"(`{3,})(.*)")


def outside_fences(text: str) -> str:
    """The lines of a text that no fence holds."""
    shown, fence = [], ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            if match and len(match[1]) >= len(fence) and not match[2].strip():
                fence = ""
        elif match:
            fence = match[1]
        else:
            shown.append(line)
    assert not fence, "a fence is left open"
    return "\n".join(shown)

"""What a prompt is made of besides an Evidence Pack."""

from __future__ import annotations

from typing import Literal

from adk_evidence.models.base import Frozen


class Turn(Frozen):
    """One turn of a conversation. Its content is data like a corpus text: a role inside it counts for nothing."""

    role: Literal["user", "assistant"]
    content: str

"""What a prompt is made of besides an Evidence Pack."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Turn(BaseModel):
    """One turn of a conversation. Its content is data like a corpus text: a role inside it counts for nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["user", "assistant"]
    content: str

"""What most models have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A model that cannot be changed and refuses fields that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)

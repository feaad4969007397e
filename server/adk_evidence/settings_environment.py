"""Settings in environment variables, as pydantic-settings reads them."""

from __future__ import annotations

import json
from typing import Any, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

from adk_evidence.settings_sources import DELIMITER, PREFIX


class Environment(EnvSettingsSource):
    """The environment's settings. A list may be written as JSON or as `dense,sparse`, and null as in a file."""

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__(
            # A source asks its class for no more than the fields and the configuration.
            cast("type[BaseSettings]", model),
            env_prefix=PREFIX,
            env_nested_delimiter=DELIMITER,
            # An empty home would otherwise be the working directory.
            env_ignore_empty=True,
            env_parse_none_str="null",
        )

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """The value of a list or a mapping; a value that cannot be read stays a text, which the validation refuses."""
        if not value.lstrip().startswith(("[", "{")) and "tuple[" in str(getattr(field, "annotation", field)):
            return [item.strip() for item in value.split(",") if item.strip()]
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value

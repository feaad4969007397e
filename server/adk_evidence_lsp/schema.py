"""The JSON schema of the server's own requests, from which the extension's TypeScript types are generated.

python -m adk_evidence_lsp.schema
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from adk_evidence.models.code import CodeCheck
from adk_evidence.models.pack import EvidencePack
from adk_evidence.search.read import CitedSource
from adk_evidence.symbols.lookup import SymbolInfo
from adk_evidence.symbols.query import QueryUsed
from adk_evidence.targets.target import TargetAnswer
from adk_evidence_lsp.protocol import (
    PARAMS,
    CheckResult,
    IndexResult,
    IngestProgress,
    IngestResult,
    RenderResult,
    ServerStatus,
)


class EvidenceResult(EvidencePack):
    """`adk/evidence`'s result: the pack, and the question that was asked."""

    query_used: QueryUsed = Field(alias="queryUsed")


class SymbolResult(SymbolInfo):
    """`adk/symbol`'s result; `others` are paths that the name may mean, too."""

    others: tuple[str, ...]


class SourceResult(CitedSource):
    """`adk/source`'s result; `url` may be opened in a browser only if it is a page of the site at `site_url`."""

    site_url: str | None


_RESULTS: tuple[type[BaseModel], ...] = (
    EvidenceResult,
    SymbolResult,
    TargetAnswer,
    SourceResult,
    ServerStatus,
    IngestResult,
    IndexResult,
    IngestProgress,
    RenderResult,
    CheckResult,
    CodeCheck,
)


class _Generator(GenerateJsonSchema):
    """Members with a default are required in results, which are always written whole."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return self.mode == "serialization" or super().field_is_required(field, total)


def protocol_schema() -> dict[str, Any]:
    """One schema that defines every request's parameters and result, each a property of its own name."""
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, "validation") for model in PARAMS.values()),
        *((model, "serialization") for model in _RESULTS),
    ]
    _, schema = models_json_schema(models, schema_generator=_Generator)
    for definition in schema["$defs"].values():
        for name, member in definition.get("properties", {}).items():
            definition["properties"][name] = _plain(member)
    for params in ("RenderParams", "CheckParams"):
        schema["$defs"][params]["properties"]["pack"] = {"$ref": "#/$defs/EvidenceResult"}
    names = [model.__name__ for model, _ in models]
    return {
        "title": "Protocol",
        "description": "Parameters and results of the server's own requests.",
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names},
        "required": names,
        "additionalProperties": False,
        **schema,
    }


def _plain(member: Any) -> Any:
    """A member's schema without titles and without neighbours of a reference, which would make a second type."""
    if isinstance(member, list):
        return [_plain(part) for part in member]
    if not isinstance(member, dict):
        return member
    if "$ref" in member:
        return {"$ref": member["$ref"]}
    return {key: _plain(part) for key, part in member.items() if key != "title"}


if __name__ == "__main__":
    json.dump(protocol_schema(), sys.stdout, indent=2)

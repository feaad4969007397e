"""The published JSON schemas of requests and responses (`config/schemas`)."""

from __future__ import annotations

from typing import Any, Literal

from adk_evidence_agents.operations.requests import OperationRequest
from adk_evidence_agents.operations.responses import OperationResponse

SchemaName = Literal["request", "response"]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def operation_schema(name: SchemaName) -> dict[str, Any]:
    """The schema of `config/schemas/operation-<name>.schema.json`; a test fails when they drift."""
    model = OperationRequest if name == "request" else OperationResponse
    return {"$schema": _DRAFT, **model.model_json_schema()}

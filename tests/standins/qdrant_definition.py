"""What Qdrant itself defines as its HTTP interface: the stand-in's requests and answers are held against it.

The definition (OpenAPI, of the version that the stand-in calls itself) is not part of this repository. Without it
nothing is compared, and `tests/core/test_qdrant_definition.py` says so.
"""

from __future__ import annotations

import functools
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VARIABLE = "ADK_EVIDENCE_QDRANT_OPENAPI"
BESIDE = Path(__file__).parents[2].parent / "shared/reference/qdrant-openapi-1.19.json"
MISSING = f"NO DEFINITION OF QDRANT, NOT TESTED: set {VARIABLE} to Qdrant's openapi.json"
# Vectors are long, and one of their numbers is like another.
NUMBERS = 8


@dataclass(frozen=True)
class Exchange:
    """A request that came in and what was, or would have been, answered; `status` is 0 where nothing was."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: bytes
    kind: str
    status: int = 0
    answer: bytes = b""


# The exchanges of this process, and the shapes of those that were compared. Exchanges are compared when a test is over
# (`tests/conftest.py`), because the comparison takes the server's time; exchanges of one shape are compared once, which
# takes half the time in one test of `tests/ingest/test_server_store.py` and less in the next ones.
_exchanges: list[Exchange] = []
_compared: set[str] = set()
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,64}")
# The end of a collection's name: when it was made.
_RUN = re.compile(r"-\d{8}T\d{6}-[0-9a-f]{8}")


class Definition:
    """The definition in a file, read more strictly than it is written.

    As it stands, `{"nullable": true}` beside other schemas lets everything pass, and objects may have any field:
    here it means null, and an object has the fields that are defined.
    """

    def __init__(self, file: Path) -> None:
        from openapi_core import OpenAPI

        written = _strict(json.loads(file.read_bytes()))
        # Wherever the server is.
        written["servers"] = [{"url": "/"}]
        self._parameters = [
            (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), _query_parameters(operation))
            for path, operations in written["paths"].items()
            for method, operation in operations.items()
        ]
        self._api = OpenAPI.from_dict(written)

    def of_request(self, method: str, path: str, query: dict[str, list[str]], body: bytes, kind: str) -> list[str]:
        """How a request deviates; `kind` is its content type."""
        known = next((names for verb, each, names in self._parameters if verb == method and each.fullmatch(path)), None)
        if known is None:
            return [f"{method} {path} is not defined"]
        unknown = [f"{method} {path} has no parameter {name}" for name in query if name not in known]
        errors = self._api.iter_request_errors(_request(method, path, query, _short(body), kind))
        return unknown + [f"{method} {path}: {_told(error)}" for error in errors]

    def of_answer(self, method: str, path: str, status: int, answer: bytes) -> list[str]:
        """How a JSON answer deviates."""
        from openapi_core.testing import MockResponse

        request = _request(method, path, {}, b"", "application/json")
        response = MockResponse(_short(answer), status_code=status)
        errors = self._api.iter_response_errors(request, response)
        return [f"{method} {path} answers {status}: {_told(error)}" for error in errors]


def note(exchange: Exchange) -> None:
    """Keep an exchange to be compared."""
    if _file() is not None:
        _exchanges.append(exchange)


def take_deviations() -> list[str]:
    """How the exchanges since the last call deviate from the definition."""
    found: list[str] = []
    while _exchanges and (defined := definition()):
        each = _exchanges.pop()
        shape = _shape_of(each)
        if shape in _compared:
            continue
        _compared.add(shape)
        found += defined.of_request(each.method, each.path, each.query, each.body, each.kind)
        if each.status:
            found += defined.of_answer(each.method, each.path, each.status, each.answer)
    return list(dict.fromkeys(found))


@functools.cache
def definition() -> Definition | None:
    """The definition that the environment names, or the one beside the repository; None without one."""
    file = _file()
    return Definition(file) if file else None


@functools.cache
def _file() -> Path | None:
    named = os.environ.get(VARIABLE)
    file = Path(named) if named else BESIDE
    return file if file.is_file() else None


def _strict(value: Any) -> Any:
    if isinstance(value, list):
        return [_strict(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value == {"nullable": True}:
        return {"nullable": True, "enum": [None]}
    made = {key: _strict(each) for key, each in value.items()}
    fields = made.get("properties")
    if made.get("type") == "object" and isinstance(fields, dict):
        made.setdefault("additionalProperties", False)
        if {"result", "status", "time", "usage"} == set(fields):
            made.setdefault("required", ["result", "status", "time"])
    return made


def _query_parameters(operation: dict[str, Any]) -> set[str]:
    return {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}


def _request(method: str, path: str, query: dict[str, list[str]], body: bytes, kind: str) -> Any:
    from openapi_core.testing import MockRequest

    args = {name: values[-1] for name, values in query.items()}
    return MockRequest(
        "http://localhost", method.lower(), path, args=args, data=body or None, content_type=kind or "application/json"
    )


def _short(body: bytes) -> bytes:
    return json.dumps(_shortened(json.loads(body))).encode() if body else body


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        numbers = len(value) > NUMBERS and all(type(each) in (int, float) for each in value)
        return value[:NUMBERS] if numbers else [_shortened(each) for each in value]
    return value


def _shape_of(exchange: Exchange) -> str:
    """An exchange without what the definition leaves open: payloads, ids, numbers of vectors, times and scores."""
    bodies = [_shape(json.loads(body)) if body else None for body in (exchange.body, exchange.answer)]
    path = _RUN.sub("", exchange.path)
    return json.dumps([exchange.method, path, exchange.query, exchange.kind, exchange.status, *bodies])


def _shape(value: Any, key: str = "") -> Any:
    if key == "payload":
        return type(value).__name__
    if key in ("time", "score", "[]") and type(value) in (int, float):
        return [type(value).__name__, value < 0]
    if isinstance(value, dict):
        return {name: _shape(each, name) for name, each in sorted(value.items())}
    if isinstance(value, list):
        return sorted({json.dumps(_shape(each, "[]")) for each in value})
    if isinstance(value, str):
        return "UUID" if _UUID.fullmatch(value) else _RUN.sub("", value)
    return value


def _told(error: Exception) -> str:
    return f"{error}; {error.__cause__ or ''}"[:2000]

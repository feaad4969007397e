"""Resources: what a citation stands for, and the state of the index."""

from __future__ import annotations

import datetime
import json
from urllib.parse import quote, unquote

from mcp import types

from adk_evidence import __version__
from adk_evidence.errors import InvalidRequestError
from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS
from adk_evidence.render.sanitize import visible_json
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.tools import cited_text

INDEX_URI = "adk-evidence://index"
_SOURCE = "adk-evidence://source/"
_HINT = f"Read {INDEX_URI}, or {_SOURCE} followed by a percent-encoded citation."

RESOURCES = (
    types.Resource(
        uri=INDEX_URI,
        name="index",
        title="ADK Evidence index",
        description="What is indexed: repositories, commits, number of chunks, age and profile; and how busy this "
        "server is, with the hit rates of its caches.",
        mime_type="application/json",
    ),
)
TEMPLATES = (
    types.ResourceTemplate(
        uri_template=f"{_SOURCE}{{citation}}",
        name="source",
        title="Cited source",
        description="The lines that a citation of any tool points to, of the ADK or of a codebase, quoted at the "
        "indexed commit, and whether they still hold. "
        f"At most {DEFAULT_MAX_TOKENS} tokens; a longer text names the URI of its rest.",
        mime_type="text/markdown",
    ),
)


def citation_uri(citation: str) -> str:
    """The URI of a citation: the template of `TEMPLATES`, expanded by RFC 6570."""
    return _SOURCE + quote(citation, safe="")


def cited_in(uri: str) -> str:
    """The citation in a URI, which need not be percent-encoded, or only in part."""
    try:
        citation = unquote(uri.removeprefix(_SOURCE), errors="strict")
    except UnicodeDecodeError:
        citation = ""
    if not uri.startswith(_SOURCE) or not citation:
        raise InvalidRequestError("There is no such resource.", _HINT)
    return citation


def read_resource(session: AgentSession, uri: str) -> types.TextResourceContents:
    if uri == INDEX_URI:
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=_status(session))
    text = cited_text(session, cited_in(uri), DEFAULT_MAX_TOKENS, citation_uri)
    return types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)


def _status(session: AgentSession) -> str:
    with session.desk.session() as (opened, _):
        info = opened.index.info
    age = datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(info.created_at)
    status = {
        "version": __version__,
        "profile": opened.settings.profile,
        "age_days": round(age.total_seconds() / 86_400, 2),
        "index": info.model_dump(mode="json"),
        "load": session.load().model_dump(mode="json"),
    }
    return visible_json(json.dumps(status, indent=1, ensure_ascii=False))

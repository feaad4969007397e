"""The Qdrant server that tests of the server store talk to: the one that QDRANT_URL names, or else a stand-in.

A real one is left as it was found: collections that tests
create bear names of their own, and are dropped at the end.
"""

from __future__ import annotations

import atexit
import functools
import os
import uuid
from typing import Any

from tests.standins.qdrant import QdrantStandIn

LIVE_URL = os.environ.get("QDRANT_URL")
# Collections of this process on a real server; the contract's collections are noted in `created`.
PREFIX = f"adk-evidence-test-{uuid.uuid4().hex[:8]}-"
created: set[str] = set()


@functools.cache
def server_url() -> str:
    """The server's address; a stand-in is started once a process."""
    if LIVE_URL:
        atexit.register(_drop_created, LIVE_URL)
        return LIVE_URL
    return _stand_in().url


@functools.cache
def _stand_in() -> QdrantStandIn:
    stand_in = QdrantStandIn()
    atexit.register(stand_in.close)
    return stand_in


def server_store() -> dict[str, Any]:
    """Settings of a store on that server. On a real one the product's own aliases are not touched."""
    prefix = PREFIX if LIVE_URL else ""
    names = {"docs_collection": f"{prefix}adk_docs", "code_collection": f"{prefix}adk_code"}
    # Every test has a home of its own, and all of them share the server.
    return {"kind": "server", "url": server_url(), "take_over_aliases": True, **names}


def _drop_created(url: str) -> None:
    from qdrant_client import QdrantClient

    from adk_evidence.services.qdrant import api_key

    client = QdrantClient(url=url, api_key=api_key(), check_compatibility=False)
    for collection in client.get_collections().collections:
        if collection.name in created or collection.name.startswith(PREFIX):
            client.delete_collection(collection.name)
    client.close()

"""The Qdrant server that tests of the server store talk to: the one that QDRANT_URL names, or else a stand-in.

A real one is left as it was found: collections that a test creates are noted in `created` and dropped at the end.
"""

from __future__ import annotations

import atexit
import functools
import os

from tests.standins.qdrant import QdrantStandIn

LIVE_URL = os.environ.get("QDRANT_URL")
created: set[str] = set()


@functools.cache
def server_url() -> str:
    """The server's address; a stand-in is started once a process."""
    if LIVE_URL:
        atexit.register(_drop_created, LIVE_URL)
        return LIVE_URL
    stand_in = QdrantStandIn()
    atexit.register(stand_in.close)
    return stand_in.url


def _drop_created(url: str) -> None:
    from qdrant_client import QdrantClient

    from adk_evidence.store.server_client import api_key

    client = QdrantClient(url=url, api_key=api_key(), check_compatibility=False)
    for name in created:
        client.delete_collection(name)
    client.close()

"""Work-done progress of one request."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from lsprotocol import types

from adk_evidence_lsp.protocol import Token

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer

_LOG = logging.getLogger(__name__)
CREATE_SECONDS = 2.0


class WorkDone:
    """Reports under a token; without one it says nothing.

    Args:
        server: Sends the reports.
        token: Names the progress to the client.
        created: The server made the token (`create_token`) instead of the client.
    """

    def __init__(self, server: EvidenceServer, token: Token | None, *, created: bool = False) -> None:
        self._server = server
        self.token = token
        self._created = created

    @contextmanager
    def running(self, title: str, *, cancellable: bool = False, percentage: int | None = None) -> Iterator[None]:
        """Begin, and end whatever happens in between. Without a `percentage` here, clients show none of a report."""
        progress = self._server.work_done_progress
        if self.token in progress.tokens and not self._created:
            # The client gave it to another request, whose progress it shows.
            self.token = None
        if self.token is None:
            yield
            return
        progress.begin(
            self.token, types.WorkDoneProgressBegin(title=title, cancellable=cancellable, percentage=percentage)
        )
        try:
            yield
        finally:
            progress.tokens.pop(self.token, None)
            progress.end(self.token, types.WorkDoneProgressEnd())

    def report(self, message: str, percentage: int | None = None) -> None:
        """Say where the work is; `percentage` from 0 to 100."""
        if self.token is not None:
            value = types.WorkDoneProgressReport(message=message, percentage=percentage)
            self._server.work_done_progress.report(self.token, value)


async def create_token(server: EvidenceServer) -> Token | None:
    """A token of the server's own, or None where the client shows no progress or does not answer."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = str(uuid.uuid4())
    with suppress(Exception):
        await asyncio.wait_for(server.work_done_progress.create_async(token), CREATE_SECONDS)
        return token
    _LOG.info("The client did not make a token for progress")
    return None

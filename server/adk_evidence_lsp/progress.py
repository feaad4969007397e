"""Work-done progress of one request."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from adk_evidence_lsp.protocol import Token

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

_LOG = logging.getLogger(__name__)
CREATE_SECONDS = 2.0

# Says where the work is: a message, and a percentage from 0 to 100.
Report = Callable[[str, int], None]


@contextmanager
def work_done(
    server: LanguageServer, token: Token | None, title: str, cancels: asyncio.Task[Any] | None = None
) -> Iterator[Report]:
    """Show progress while the work runs; without a token, nothing is shown.

    Args:
        server: Sends the progress.
        token: Names the progress to the client.
        title: What is being done.
        cancels: The task that the user may cancel. With a task, the progress begins with a percentage: a client
            shows none later unless the beginning has one.
    """
    progress = server.work_done_progress
    # A client may give the token of another request, whose progress it shows.
    if token is None or token in progress.tokens:
        yield lambda message, percentage: None
        return
    begin = types.WorkDoneProgressBegin(title, cancellable=cancels is not None, percentage=0 if cancels else None)
    progress.begin(token, begin)
    if cancels is not None:
        progress.tokens[token].add_done_callback(lambda _: cancels.cancel())

    def report(message: str, percentage: int) -> None:
        progress.report(token, types.WorkDoneProgressReport(message=message, percentage=percentage))

    try:
        yield report
    finally:
        progress.tokens.pop(token, None)
        progress.end(token, types.WorkDoneProgressEnd())


async def create_token(server: LanguageServer) -> Token | None:
    """A token that the server makes, or None where the client shows no progress or does not answer."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = str(uuid.uuid4())
    try:
        await asyncio.wait_for(server.work_done_progress.create_async(token), CREATE_SECONDS)
    except Exception:
        _LOG.info("The client did not make a token for progress")
        return None
    # `work_done` registers the token, and takes a registered one for that of another request.
    del server.work_done_progress.tokens[token]
    return token

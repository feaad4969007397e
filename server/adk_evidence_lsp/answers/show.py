"""Shows evidence in any editor: as a Markdown document, or in a message where no document can be opened."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from adk_evidence.errors import EvidenceError
from adk_evidence.render.sanitize import one_line
from adk_evidence_lsp.answers.requests import rendered
from adk_evidence_lsp.protocol import RenderParams
from adk_evidence_lsp.server import EvidenceServer

_LOG = logging.getLogger(__name__)

# The server waits no longer for a client that does not say whether it opened the document.
OPEN_SECONDS = 3.0
BEST = 5


class ShownDocuments:
    """Makes documents of packs, and removes them at the end.

    Args:
        server: The server.
        find: Answers `adk/evidence`.
    """

    def __init__(self, server: EvidenceServer, find: Callable[[Any], Awaitable[dict[str, Any]]]) -> None:
        self._server = server
        self._find = find
        self._written: list[Path] = []

    async def show(self, *arguments: Any) -> dict[str, Any] | None:
        """Find evidence and show it to the person at the editor.

        Args:
            arguments: One: the parameters of `adk/evidence`.

        Returns:
            The document's `uri`, and whether the client has `opened` it; None where a message said why there is none.

        Raises:
            JsonRpcInvalidParams: The parameters are not valid.
        """
        if len(arguments) != 1:
            raise JsonRpcInvalidParams("The command takes one argument, the parameters of adk/evidence.")
        try:
            pack = await self._find(arguments[0])
            uri, summary = await self._server.executor.run(lambda _: self._write(pack))
        except EvidenceError as exc:
            # Several editors only log the errors of commands.
            self._say(f"{exc.message} {exc.hint}".strip(), types.MessageType.Error)
            return None
        opened = await self._opened(uri)
        if not opened:
            self._say(summary, types.MessageType.Info)
        return {"uri": uri, "opened": opened}

    def clear(self) -> None:
        for file in self._written:
            # On Windows, a file that nobody may write cannot be removed.
            with suppress(OSError):
                file.chmod(0o600)
                file.unlink()

    def _write(self, result: dict[str, Any]) -> tuple[str, str]:
        """The URI of a document with the pack, which nobody can change by mistake, and the pack in a few lines."""
        params = RenderParams.model_validate({"pack": result, "format": "markdown"})
        try:
            # For the user's eyes alone.
            handle, name = mkstemp(prefix="adk-evidence-", suffix=".md")
            file = Path(name)
            self._written.append(file)
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as opened:
                opened.write(rendered(params).text)
            file.chmod(0o400)
        except OSError as exc:
            hint = "Make room in the folder of temporary files, or let TMPDIR name another one."
            raise EvidenceError(f"The evidence could not be written to a file: {exc.strerror}.", hint) from exc
        best = [f"{candidate.rank}. {one_line(candidate.citation)}" for candidate in params.pack.candidates[:BEST]]
        return file.as_uri(), "\n".join([one_line(params.pack.quality.note), *best, f"The evidence is in {file}"])

    async def _opened(self, uri: str) -> bool:
        window = self._server.client_capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            return False
        try:
            answer = self._server.window_show_document_async(types.ShowDocumentParams(uri=uri, take_focus=True))
            return (await asyncio.wait_for(answer, OPEN_SECONDS)).success
        except Exception as exc:
            _LOG.info("The client did not open the document (%s)", type(exc).__name__)
            return False

    def _say(self, message: str, kind: types.MessageType) -> None:
        self._server.window_show_message(types.ShowMessageParams(type=kind, message=message))

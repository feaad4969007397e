"""The command that shows evidence in any editor: as a Markdown document, or in a message where none can be opened."""

from __future__ import annotations

import asyncio
import itertools
import logging
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from adk_evidence.errors import EvidenceError
from adk_evidence.models.pack import EvidencePack
from adk_evidence.render.sanitize import one_line
from adk_evidence_lsp.protocol import EVIDENCE, SHOW_EVIDENCE, RenderParams

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer

_LOG = logging.getLogger(__name__)

# A client that does not say whether it opened the document is not waited for longer.
OPEN_SECONDS = 3.0
BEST = 5


class ShowFeature:
    """Registers the command; `adk/evidence` must be registered before."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        self._folder: Path | None = None
        # Several documents may be written at once.
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

        async def show(*arguments: Any) -> dict[str, Any] | None:
            return await self.show(*arguments)

        server.command(SHOW_EVIDENCE)(show)

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
            pack = await self._server.answers[EVIDENCE](arguments[0])
            uri, summary = await self._server.executor.run(lambda _: self._write(pack))
        except EvidenceError as exc:
            # Several editors only log the errors of commands.
            self._tell(f"{exc.message} {exc.hint}".strip(), types.MessageType.Error)
            return None
        opened = await self._opened(uri)
        if not opened:
            self._tell(summary, types.MessageType.Info)
        return {"uri": uri, "opened": opened}

    def clear(self) -> None:
        """Remove the documents."""
        if self._folder is not None:
            shutil.rmtree(self._folder, onerror=_make_removable)

    def _write(self, result: dict[str, Any]) -> tuple[str, str]:
        """The URI of a document with the pack, which nobody can change by mistake, and the pack in a few lines."""
        from adk_evidence_lsp.features.render import render

        params = RenderParams.model_validate({"pack": result, "format": "markdown"})
        try:
            file = self._own_folder() / f"adk-evidence-{next(self._numbers)}.md"
            file.write_text(render(params).text, encoding="utf-8", errors="replace", newline="\n")
            file.chmod(0o400)
        except OSError as exc:
            hint = "Make room in the folder of temporary files, or let TMPDIR name another one."
            raise EvidenceError(f"The evidence could not be written to a file: {exc.strerror}.", hint) from exc
        return file.as_uri(), _summary(params.pack, file)

    def _own_folder(self) -> Path:
        """The folder of the documents. Systems remove old temporary folders while the server runs: then a new one."""
        with self._lock:
            if self._folder is None or not self._folder.is_dir():
                self._folder = Path(tempfile.mkdtemp(prefix="adk-evidence-"))
            return self._folder

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

    def _tell(self, message: str, kind: types.MessageType) -> None:
        self._server.window_show_message(types.ShowMessageParams(type=kind, message=message))


def _summary(pack: EvidencePack, file: Path) -> str:
    best = [f"{candidate.rank}. {one_line(candidate.citation)}" for candidate in pack.candidates[:BEST]]
    return "\n".join([one_line(pack.quality.note), *best, f"The evidence is in {file}"])


def _make_removable(remove: Any, path: str, _: Any) -> None:
    # Windows does not remove a file that is read-only.
    try:
        Path(path).chmod(0o700)
        remove(path)
    except OSError:
        _LOG.info("A temporary document was left behind")

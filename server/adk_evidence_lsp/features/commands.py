"""workspace/executeCommand: every request of the server's own as a command, for editors without the extension."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from adk_evidence_lsp.protocol import COMMANDS

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer


class CommandsFeature:
    """Registers the commands; the requests must be registered before."""

    def __init__(self, server: EvidenceServer) -> None:
        for name, method in COMMANDS.items():
            server.command(name)(_command(server.answers[method]))


def _command(answer: Callable[[Any], Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def command(*arguments: Any) -> Any:
        if len(arguments) > 1:
            raise JsonRpcInvalidParams("The command takes one argument, the request's parameters.")
        return await answer(arguments[0] if arguments else None)

    return command

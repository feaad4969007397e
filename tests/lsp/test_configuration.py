"""The client's settings: requests wait for the newest."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from adk_evidence_lsp.configuration import Configuration


class Client:
    """A client that fails at the first question for its settings, and leaves the second one open."""

    def __init__(self) -> None:
        self.client_capabilities = SimpleNamespace(workspace=types.WorkspaceClientCapabilities(configuration=True))
        self.asked = 0

    def workspace_configuration_async(self, params: Any) -> asyncio.Future[Any]:
        self.asked += 1
        if self.asked == 1:
            raise ConnectionError
        return asyncio.get_running_loop().create_future()


async def turns() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_a_change_is_awaited_even_if_a_request_waited_before_it() -> None:
    client = Client()
    configuration = Configuration(client, lambda settings: None)
    before = asyncio.create_task(configuration.settled())
    await turns()
    started = asyncio.create_task(configuration.start())
    changing = asyncio.create_task(configuration.changed(None))
    await turns()
    assert before.done() and started.done() and client.asked == 2
    after = asyncio.create_task(configuration.settled())
    await turns()
    assert not after.done()
    for task in (changing, after):
        task.cancel()

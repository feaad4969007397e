"""The client's settings: pulled when the client is ready and whenever they change, validated before they count."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pydantic import ValidationError

from adk_evidence.validation import first_problem
from adk_evidence_lsp.protocol import SECTION, ClientSettings

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

_LOG = logging.getLogger(__name__)
# The server waits no longer for a client that says it has settings and then does not send them.
PULL_SECONDS = 2.0


class Configuration:
    """Keeps the client's valid settings in `client`; `problem` says what is wrong with newer settings, if anything.

    Args:
        server: Asks the client.
        taken: Called with settings that are valid.
    """

    def __init__(self, server: LanguageServer, taken: Callable[[ClientSettings], None]) -> None:
        self._server = server
        self._taken = taken
        self.client = ClientSettings()
        self.problem: str | None = None
        self._settled = asyncio.Event()

    async def settled(self) -> None:
        """Wait until the client's settings are known, or will not come."""
        if not self._settled.is_set():
            try:
                await asyncio.wait_for(self._settled.wait(), PULL_SECONDS)
            except TimeoutError:
                self._settled.set()

    async def start(self) -> None:
        """Get the settings of a client that is ready."""
        if self._can_be_pulled:
            await self._pull()
        self._settled.set()

    async def register(self) -> None:
        """Ask a client that takes registrations to say when its settings change."""
        workspace = self._server.client_capabilities.workspace
        dynamic = workspace is not None and workspace.did_change_configuration
        if dynamic and dynamic.dynamic_registration:
            registration = types.Registration(
                id="adk-evidence-configuration",
                method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                register_options=types.DidChangeConfigurationRegistrationOptions(section=SECTION),
            )
            await self._server.client_register_capability_async(types.RegistrationParams([registration]))

    async def changed(self, settings: Any) -> None:
        """Take changed settings, from the notification where the client cannot be asked for them."""
        if self._can_be_pulled:
            # Requests that come after the change wait for what it changed.
            self._settled.clear()
            await self._pull()
            self._settled.set()
        elif isinstance(settings, dict):
            self.take(settings.get(SECTION))

    def take(self, section: Any) -> None:
        """Validate the section's content; what is not valid leaves the settings as they were."""
        try:
            client = ClientSettings.model_validate({} if section is None else section)
        except ValidationError as exc:
            self.problem = f"The setting {SECTION}.{first_problem(exc)}."
            _LOG.warning("%s The previous settings stay.", self.problem)
            return
        self.problem = None
        self.client = client
        if client.log_level is not None:
            logging.getLogger().setLevel(client.log_level.upper())
        self._taken(client)

    @property
    def _can_be_pulled(self) -> bool:
        workspace = self._server.client_capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

    async def _pull(self) -> None:
        items = [types.ConfigurationItem(section=SECTION)]
        try:
            answer = self._server.workspace_configuration_async(types.ConfigurationParams(items))
            found = await asyncio.wait_for(answer, PULL_SECONDS)
        except Exception as exc:
            _LOG.warning("The client's settings cannot be read (%s)", type(exc).__name__)
            return
        self.take(found[0] if found else None)

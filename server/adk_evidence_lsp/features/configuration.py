"""The client's settings: pulled when it is ready and whenever they change, validated before they count."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pydantic import ValidationError

from adk_evidence.validation import first_problem
from adk_evidence_lsp.protocol import SECTION, ClientSettings

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer

_LOG = logging.getLogger(__name__)
# A client that says it has settings and then does not send them is not waited for longer.
PULL_SECONDS = 2.0


class ConfigurationFeature:
    """Keeps `client` as the client's settings are; `problem` says what is wrong with the latest, if anything."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        self.client = ClientSettings()
        self.problem: str | None = None
        self._settled = asyncio.Event()

        async def initialized(params: types.InitializedParams) -> None:
            await self._start()

        async def changed(params: types.DidChangeConfigurationParams) -> None:
            await self._changed(params.settings)

        server.feature(types.INITIALIZED)(initialized)
        server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(changed)

    def take_initialization_options(self, options: Any) -> None:
        """Settings of clients that cannot be asked for them: the section's content."""
        if isinstance(options, dict):
            self._take(options)

    async def settled(self) -> None:
        """Wait until the client's settings are known, or will not come."""
        if not self._settled.is_set():
            try:
                await asyncio.wait_for(self._settled.wait(), PULL_SECONDS)
            except TimeoutError:
                self._settled.set()

    async def _start(self) -> None:
        workspace = self._server.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            await self._pull()
        self._settled.set()
        dynamic = workspace is not None and workspace.did_change_configuration
        if dynamic and dynamic.dynamic_registration:
            self._server.in_background(self._register())
        self._server.in_background(self._server.warm_up())

    async def _register(self) -> None:
        registration = types.Registration(
            id="adk-evidence-configuration",
            method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            register_options=types.DidChangeConfigurationRegistrationOptions(section=SECTION),
        )
        await self._server.client_register_capability_async(types.RegistrationParams([registration]))

    async def _changed(self, settings: Any) -> None:
        workspace = self._server.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            # Requests that come after the change wait for what it changed.
            self._settled.clear()
            await self._pull()
            self._settled.set()
        elif isinstance(settings, dict):
            self._take(settings.get(SECTION))
        self._server.in_background(self._server.warm_up())

    async def _pull(self) -> None:
        items = [types.ConfigurationItem(section=SECTION)]
        try:
            answer = self._server.workspace_configuration_async(types.ConfigurationParams(items))
            found = await asyncio.wait_for(answer, PULL_SECONDS)
        except Exception as exc:
            _LOG.warning("The client's settings could not be had (%s)", type(exc).__name__)
            return
        self._take(found[0] if found else None)

    def _take(self, section: Any) -> None:
        try:
            client = ClientSettings.model_validate({} if section is None else section)
        except ValidationError as exc:
            self.problem = f"The setting {SECTION}.{first_problem(exc)}."
            _LOG.warning("%s The settings before stay.", self.problem)
            return
        self.problem = None
        self.client = client
        if client.log_level is not None:
            logging.getLogger().setLevel(client.log_level.upper())
        self._server.backend.configure(client)

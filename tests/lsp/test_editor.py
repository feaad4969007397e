"""A journey with pytest-lsp's client, which speaks the protocol as VS Code does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from tests.corpora import Workplace
from tests.lsp.conftest import command
from tests.lsp.rpc import environment

URI = "file:///work/agent.py"
TEXT = "from google.adk.agents import LlmAgent\n\nagent = LlmAgent(model='m')\n"
SECONDS = 60

pytestmark = pytest.mark.asyncio


# The root matters to ingestion alone, which this journey leaves out.
@pytest_lsp.fixture(config=ClientServerConfig(server_command=command(Path()), server_env=environment()))
async def editor(lsp_client: LanguageClient, indexed: Workplace) -> AsyncIterator[None]:
    """VS Code with a Python document open."""
    lsp_client.set_configuration({"home": str(indexed.home)}, section="adkEvidence")

    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        """pytest-lsp's client says that it takes registrations, but does not."""

    capabilities = client_capabilities("visual-studio-code")
    await within(lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities)))
    document = types.TextDocumentItem(uri=URI, language_id="python", version=1, text=TEXT)
    lsp_client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
    yield
    await within(lsp_client.shutdown_session())


async def within(answer: Awaitable[Any]) -> Any:
    """pytest-lsp itself would wait for ever."""
    return await asyncio.wait_for(answer, SECONDS)


async def ask(editor: LanguageClient, method: str, params: dict[str, Any]) -> Any:
    return await within(editor.protocol.send_request_async(method, params))


def position(line: int, character: int) -> types.Position:
    return types.Position(line=line, character=character)


async def test_hover_evidence_source_and_actions(editor: LanguageClient) -> None:
    document = types.TextDocumentIdentifier(uri=URI)
    hover = await within(
        editor.text_document_hover_async(types.HoverParams(text_document=document, position=position(2, 1)))
    )
    assert isinstance(hover.contents, types.MarkupContent)
    assert "class LlmAgent(BaseAgent)" in hover.contents.value

    where = {"start": {"line": 2, "character": 8}, "end": {"line": 2, "character": 16}}
    pack = await ask(editor, "adk/evidence", {"textDocument": {"uri": URI}, "range": where})
    assert pack.queryUsed.text == "LlmAgent (using LlmAgent)"
    assert pack.status == "success"

    source = await ask(editor, "adk/source", {"citation": pack.candidates[0].citation})
    assert source.path == pack.candidates[0].path

    spot = types.Range(start=position(2, 8), end=position(2, 16))
    diagnostics = [types.Diagnostic(range=spot, message="bad argument")]
    actions = await within(
        editor.text_document_code_action_async(
            types.CodeActionParams(document, spot, types.CodeActionContext(diagnostics))
        )
    )
    assert [action.title for action in actions] == ["Explain this error with ADK evidence"]

"""JSON-RPC as pygls speaks it, corrected where a request would get no answer or an answer would say too much.

pygls 2.1.1 answers nothing where a message does not fit its types: a request without `params`, one with an object
that holds the key `jsonrpc`, a known request with wrong members. Its errors carry tracebacks, and its log carries
bodies. So messages are read here, once, at their top level, and every failure is turned into an answer here.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, LanguageServerProtocol, lsp_method

from adk_evidence.admission import BusyError
from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.text.redaction import where_raised
from adk_evidence_lsp.protocol import REQUEST_FAILED, json_safe

_LOG = logging.getLogger(__name__)
_VERSION = "2.0"
_NEVER_NEEDS_INITIALIZE = (types.INITIALIZE, types.EXIT)


class EvidenceProtocol(LanguageServerProtocol):
    """Answers every request, whatever its parameters."""

    def structure_message(self, data: Any) -> Any:
        """Leave every object unchanged: the JSON reader calls this for inner objects, too."""
        return data

    def handle_message(self, message: Any) -> None:
        if not isinstance(message, dict) or message.get("jsonrpc") != _VERSION:
            self._refuse(_usable_id(message), JsonRpcInvalidRequest("This is not a JSON-RPC 2.0 message."))
            return
        if "method" not in message:
            self._take_response(message)
            return
        method = message["method"]
        if "id" in message:
            self._take_request(message, method)
        elif isinstance(method, str):
            self._take_notification(message, method)

    def _take_request(self, message: dict[str, Any], method: Any) -> None:
        msg_id = _usable_id(message)
        if msg_id is None or not isinstance(method, str):
            self._refuse(msg_id, JsonRpcInvalidRequest("The id or the method of the request is of the wrong type."))
        elif self._shutdown:
            self._refuse(msg_id, JsonRpcInvalidRequest("The server is shutting down."))
        elif self._workspace is None and method not in _NEVER_NEEDS_INITIALIZE:
            self._refuse(msg_id, JsonRpcServerNotInitialized("The first request must be initialize."))
        elif self._workspace is not None and method == types.INITIALIZE:
            self._refuse(msg_id, JsonRpcInvalidRequest("The server was initialized before."))
        else:
            try:
                request = self._structured(message, method)
            except Exception as exc:
                _LOG.info("%s came with parameters that do not fit (%s)", method, type(exc).__name__)
                self._refuse(msg_id, JsonRpcInvalidParams(f"The parameters of {method} are not valid."))
                return
            super().handle_message(request)

    def _take_notification(self, message: dict[str, Any], method: str) -> None:
        if self._workspace is None and method not in _NEVER_NEEDS_INITIALIZE:
            return
        try:
            notification = self._structured(message, method)
        except Exception as exc:
            _LOG.warning("The notification %s does not fit its type (%s)", method, type(exc).__name__)
            return
        super().handle_message(notification)

    def _take_response(self, message: dict[str, Any]) -> None:
        try:
            response = super().structure_message(message)
        except JsonRpcException:
            _LOG.warning("A response of the client does not fit its request")
            future = self._request_futures.pop(_usable_id(message) or "", None)
            if future is not None:
                future.set_exception(JsonRpcInternalError("The client's response does not fit."))
            return
        super().handle_message(response)

    def _structured(self, message: dict[str, Any], method: str) -> Any:
        message_type = self.get_message_type(method)
        if message_type is not None:
            return self._converter.structure(message, message_type)
        # pygls would turn objects into named tuples, which lose the keys that are not identifiers.
        params = message.get("params")
        if "id" in message:
            return JsonRPCRequestMessage(id=message["id"], method=method, jsonrpc=_VERSION, params=params)
        return JsonRPCNotification(method=method, jsonrpc=_VERSION, params=params)

    def refuse_unreadable(self) -> None:
        """Answer bytes that are not JSON."""
        self._refuse(None, JsonRpcParseError("The message is not valid JSON."))

    def _refuse(self, msg_id: Any, error: JsonRpcException) -> None:
        _LOG.info("A message was refused: %s", type(error).__name__)
        self._send_response(msg_id, error=error.to_response_error())

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        """Answer a request with its handler's result, or with an error that tells a user what to do."""
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            error: JsonRpcException = JsonRpcRequestCancelled("The request was cancelled.")
        else:
            failure = future.exception()
            if failure is None:
                result = future.result()
                # The server's own requests answer with plain objects, other requests with typed ones.
                self._send_response(msg_id, result=json_safe(result) if isinstance(result, dict) else result)
                return
            error = to_json_rpc(failure)
        self._result_types.pop(msg_id, None)
        self._send_response(msg_id, error=error.to_response_error())

    def _handle_request(self, msg_id: Any, method_name: str, params: Any) -> None:
        try:
            self._get_handler(method_name)
        except JsonRpcMethodNotFound as error:
            self._refuse(msg_id, error)
            return
        super()._handle_request(msg_id, method_name, params)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:  # type: ignore[override]
        """Run a command. The generator in which pygls would run it never ends for a cancelled command."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams("There is no such command.")
        return await handler(*(params.arguments or ()))


def to_json_rpc(failure: BaseException) -> JsonRpcException:
    """The error that a client gets for a failure: a sentence, a code and a hint."""
    if isinstance(failure, JsonRpcException):
        return failure
    if isinstance(failure, EvidenceError):
        data: dict[str, Any] = {"code": failure.code, "hint": failure.hint}
        if isinstance(failure, BusyError):
            data["retryAfterSeconds"] = failure.retry_after
        if failure.code == "cancelled":
            return JsonRpcRequestCancelled(failure.message)
        if isinstance(failure, InvalidRequestError):
            return JsonRpcInvalidParams(f"{failure.message} {failure.hint}".strip(), data=data)
        return JsonRpcException(failure.message, REQUEST_FAILED, data)
    # The text of an unexpected exception may quote a document or a key: only where it was raised is logged.
    _LOG.error("A request failed:\n%s", where_raised(failure))
    data = {"code": "internal_error", "hint": "The server's log says where; please report it."}
    return JsonRpcInternalError("The server failed at this request.", data=data)


def _usable_id(message: Any) -> str | int | None:
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None

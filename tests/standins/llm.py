"""An OpenAI-compatible chat service on loopback: its wire contract and errors, with a model that knows three tasks.

The model reads the numbered documents of a question and orders them by the share of the question's words that they
have. A question without documents it words as `words` says. For marked passages it writes questions, as `writes` says;
`replies` puts other answers in its mouth. Parameters that the product does not send are refused.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from adk_evidence.text.tokens import estimate_tokens
from tests.standins.json_service import JsonStandIn, RefusedError
from tests.standins.voyage import relevance

KEY = "sk-stand-in-key-0123456789abcdef"
CHAT = "/v1/chat/completions"
MODEL = "stand-in-1"
_PASSAGE = re.compile(r"^=== PASSAGE (\S+) (.*?)$\n(.*?)(?=^=== PASSAGE |\Z)", re.MULTILINE | re.DOTALL)
_DOCUMENTS = "\n\nDocuments:\n\n"
_DOCUMENT = re.compile(r"^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)


@dataclass
class LlmStandIn(JsonStandIn):
    """Starts with `with`; `base_url` is where it listens.

    Args:
        keys: The keys that it takes; empty: a local server, which wants none.
        json_mode: Whether it knows `response_format`.
        writes: The questions for a passage, by the passage's title and text.
        words: The wordings of a question.
    """

    endpoints: ClassVar = (CHAT,)

    keys: set[str] = field(default_factory=lambda: {KEY})
    json_mode: bool = True
    writes: Callable[[str, str], list[str]] = lambda title, text: [f"what would somebody ask about {title} here?"]
    words: Callable[[str], list[str]] = lambda question: []

    def __post_init__(self) -> None:
        super().__init__()
        self.replies: deque[str | None] = deque()

    @staticmethod
    def refusal(detail: str) -> dict[str, Any]:
        return {"error": {"message": detail, "type": "invalid_request_error", "param": None, "code": None}}

    @property
    def prompts(self) -> list[str]:
        """The questions that were asked, with their documents."""
        return [body["messages"][-1]["content"] for body in self.sent(CHAT)]

    def checked(self, path: str, headers: Any, raw: bytes) -> dict[str, Any]:
        key = (headers.get("Authorization") or "").removeprefix("Bearer ")
        if self.keys and not key:
            raise RefusedError(401, "You didn't provide an API key.")
        if self.keys and key not in self.keys:
            # As a careless service would: the answer repeats the key.
            raise RefusedError(401, f"Incorrect API key provided: {key}.")
        if path != CHAT:
            raise RefusedError(404, f"Invalid URL (POST {path})")
        body = json.loads(raw)
        messages = self._messages(body)
        reply = self.replies.popleft() if self.replies else json.dumps(self._said(messages[-1]["content"]))
        prompt = sum(estimate_tokens(message["content"]) for message in messages)
        said = estimate_tokens(reply or "")
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said},
        }

    def _said(self, prompt: str) -> dict[str, Any]:
        if passages := _PASSAGE.findall(prompt):
            return {"passages": [{"passage": mark, "questions": self.writes(*rest)} for mark, *rest in passages]}
        if _DOCUMENTS not in prompt:
            return {"wordings": self.words(prompt)}
        return {"order": _order(prompt)}

    def _messages(self, body: dict[str, Any]) -> list[dict[str, str]]:
        if body.get("model") != MODEL:
            raise RefusedError(404, f"The model `{body.get('model')}` does not exist.")
        unknown = set(body) - {"model", "messages", "temperature", "response_format"}
        messages = body.get("messages")
        if unknown or not isinstance(messages, list) or not messages:
            raise RefusedError(400, f"Unknown or missing parameters: {sorted(unknown)}.")
        for message in messages:
            if message.get("role") not in ("system", "user", "assistant") or not isinstance(message["content"], str):
                raise RefusedError(400, "Invalid value for 'messages'.")
        if not 0 <= body.get("temperature", 1) <= 2:
            raise RefusedError(400, "Invalid value for 'temperature'.")
        if "response_format" in body:
            if not self.json_mode or body["response_format"] != {"type": "json_object"}:
                raise RefusedError(400, "Unknown parameter: 'response_format'.")
            if not any("json" in message["content"].lower() for message in messages):
                raise RefusedError(400, "'messages' must contain the word 'json' to use 'response_format'.")
        return messages


def _order(prompt: str) -> list[int]:
    question, _, documents = prompt.partition(_DOCUMENTS)
    found = [(int(number), relevance(question, text)) for number, text in _DOCUMENT.findall(documents)]
    return [number for number, _ in sorted(found, key=lambda item: (-item[1], item[0]))]

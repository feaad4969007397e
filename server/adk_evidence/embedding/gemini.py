"""Google's Gemini embeddings through google-genai (the extra `gemini`).

The key is read from GOOGLE_API_KEY or GEMINI_API_KEY, in that order as google-genai does, and is not a setting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from adk_evidence.embedding.base import FloatMatrix, Once
from adk_evidence.errors import ServiceError
from adk_evidence.services.eventloop import stop_if_cancelled
from adk_evidence.services.keys import key_from
from adk_evidence.services.resilience import Clock, RetryPolicy, TransientError, call_with_retries
from adk_evidence.services.vectors import unit_vectors
from adk_evidence.settings import GeminiSettings

KEY_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_NAMES = " or ".join(reversed(KEY_VARIABLES))
# Waits between the tries of one request, of questions and ingestions alike.
BACKOFF = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
# So many texts go into one request, which is the most that the service takes.
BATCH_SIZE = 100
TIMEOUT_SECONDS = 60
MAX_ATTEMPTS = 5
_TRANSIENT_STATUS = frozenset({408, 429, 500, 502, 503, 504})
_TRANSPORTS = ("aiohttp", "anyio", "httpcore", "httpx", "requests", "urllib3")

_Task = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]


class GeminiEmbedder:
    """A `DenseEmbedder` that asks the Gemini API; its vectors are L2-normalised."""

    def __init__(self, settings: GeminiSettings, clock: Clock | None = None) -> None:
        self.model = f"gemini/{settings.model};dimension={settings.dimension}"
        self.dimension = settings.dimension
        self._settings = settings
        self._clock = clock or Clock()
        self._client = Once(self._connect)

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        for start in range(0, len(texts), BATCH_SIZE):
            batch = texts[start : start + BATCH_SIZE]
            yield list(range(start, start + len(batch))), self._embed(batch, "RETRIEVAL_DOCUMENT")

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._embed([text], "RETRIEVAL_QUERY")[0].tolist()
        return vector

    def _embed(self, texts: Sequence[str], task: _Task) -> FloatMatrix:
        policy = RetryPolicy(MAX_ATTEMPTS, BACKOFF)
        return call_with_retries(lambda _: self._ask(texts, task), policy, self._clock, check=stop_if_cancelled)

    def _ask(self, texts: Sequence[str], task: _Task) -> FloatMatrix:
        client = self._client()
        from google.genai import errors, types

        # One content a text: a list of strings would be one content to models that take images as well.
        contents = [types.Content(parts=[types.Part(text=text or " ")]) for text in texts]
        config = types.EmbedContentConfig(task_type=task, output_dimensionality=self.dimension)
        try:
            answer = client.models.embed_content(model=self._settings.model, contents=contents, config=config)
        except errors.APIError as exc:
            raise _refused(exc.code, exc.status, self._settings.model) from None
        except Exception as exc:
            # Connections, time-outs and bodies that are not JSON, of whichever of three HTTP libraries is installed.
            # Another failure is a fault of a program, which "check the network" would hide.
            if not (isinstance(exc, OSError | ValueError) or type(exc).__module__.startswith(_TRANSPORTS)):
                raise
            error = ServiceError if isinstance(exc, ValueError) else TransientError
            raise error(
                f"The Gemini API did not answer ({type(exc).__name__}).", "Check the network and try again."
            ) from None
        rows = [item.values or [] for item in answer.embeddings or []]
        hint = "Check `embedding.gemini.model` and `embedding.gemini.dimension`."
        return unit_vectors(rows, len(texts), self.dimension, "The Gemini API", hint)

    def _connect(self) -> Any:
        _, key = key_from(*KEY_VARIABLES)
        if not key:
            raise ServiceError("There is no key for the Gemini API.", f"Set {_NAMES}.")
        try:
            from google import genai
            from google.genai import types
        except ImportError:
            raise ServiceError("google-genai is not installed.", "Run `pip install adk-evidence[gemini]`.") from None
        options = types.HttpOptions(
            base_url=self._settings.base_url,
            timeout=int(TIMEOUT_SECONDS * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        # Not vertexai, whatever the environment says: that takes no key and another request.
        return genai.Client(api_key=key, vertexai=False, http_options=options)


def _refused(code: int, status: str | None, model: str) -> ServiceError:
    """What a refusal means; the service's own text is left out, since it may quote the key."""
    if code in (401, 403) or (code == 400 and status == "INVALID_ARGUMENT"):
        hint = f"Check the key in {_NAMES} and the settings under `embedding.gemini`."
        return ServiceError(f"The Gemini API refused the request ({code}).", hint)
    if code == 404:
        return ServiceError(f"The Gemini API has no model {model}.", "Change `embedding.gemini.model`.")
    if code == 429:
        return TransientError("The Gemini API's quota is used up (429).", "Wait a minute; finished vectors are kept.")
    error = TransientError if code in _TRANSIENT_STATUS else ServiceError
    return error(f"The Gemini API failed ({code}).", "Try again later; finished vectors are kept.")

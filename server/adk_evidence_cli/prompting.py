"""What `ask --prompt` puts around the evidence: a system prompt and the conversation so far."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.prompt import Turn
from adk_evidence.validation import first_problem

_TURNS = TypeAdapter(tuple[Turn, ...])
_FORM = 'It is a JSON list such as [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}].'


@dataclass(frozen=True)
class PromptFrame:
    """What a prompt holds besides the evidence.

    `max_tokens` is the budget of the whole prompt in estimated tokens, None for the usual budget. `history` has the
    turns before the question, oldest first.
    """

    max_tokens: int | None = None
    system: str = ""
    history: tuple[Turn, ...] = ()


def prompt_frame(max_tokens: int | None, system: str | None, history: Path | None) -> PromptFrame:
    """The frame that the options name: `system` is a file or a text of more than one word, `history` a JSON file.

    Raises:
        InvalidRequestError: A file cannot be read, or is not what it should be.
    """
    return PromptFrame(max_tokens, _system(system), () if history is None else _history(history))


def _system(value: str | None) -> str:
    # A word alone is the name of a file: the name of a missing file must not pass for the prompt.
    if value is None or (len(value.split()) > 1 and not _is_file(value)):
        return value or ""
    return _read("--system", Path(value))


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        # A long text cannot be a file name.
        return False


def _history(path: Path) -> tuple[Turn, ...]:
    try:
        return _TURNS.validate_json(_read("--history", path))
    except ValidationError as exc:
        raise InvalidRequestError(f"The file of --history is not valid: {first_problem(exc)}.", _FORM) from exc


def _read(option: str, path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise InvalidRequestError(f"The file of {option} is not UTF-8.", "Save it as UTF-8.") from exc
    except (OSError, ValueError) as exc:
        raise InvalidRequestError(
            f"The file of {option} cannot be read: {path}.", "Name a text file that is there."
        ) from exc

"""The systems that are compared: this program with other settings, or a file of what another program showed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from adk_evidence.errors import InvalidRequestError
from adk_evidence.render.prompt import to_prompt
from adk_evidence.tokens import estimate_tokens
from adk_evidence_eval.golden import Question, Row, read_rows
from adk_evidence_eval.variants import Bench, grid

_SYSTEM = (
    "Write NAME=FILE.jsonl, or NAME= with settings between semicolons, such as "
    "'plain=retrieval.branches=[sparse];rerank.provider=none'; NAME= alone is the settings as they are."
)
_LINE = 'Each line is {"id": "...", "text": "...", "passages": 12}, as `adk-evidence eval judge answers` writes it.'
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
# A line that may be a fence, and the mark that a prompt puts before a passage.
_FENCE = re.compile(r"^ {0,3}(`{3,})(.*)$")
_MARK = re.compile(r"^\[[A-Z]{1,8} (\d{1,4})\]")


class Shown(Row):
    """What a system shows for a question, and in how many passages; None: as many as the text's marks number."""

    text: str = Field(min_length=1)
    passages: int | None = Field(default=None, ge=0)


@dataclass(frozen=True)
class System:
    """A name with a file of answers, or else with settings by dotted path."""

    name: str
    file: Path | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)


def parse_system(option: str, text: str) -> System:
    """Read `NAME=FILE` or `NAME=setting=value;setting=value`.

    Args:
        option: The option that is read, for errors.
        text: Its value.

    Raises:
        InvalidRequestError: The text is neither, or a setting has several values.
    """
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not equals or not _NAME.fullmatch(name):
        message = f"{option} {text!r} does not begin with a name of letters, digits, dots and hyphens, and =."
        raise InvalidRequestError(message, _SYSTEM)
    if rest and ("=" not in rest or Path(rest).is_file()):
        return System(name, file=Path(rest))
    return System(name, overrides=settings_of(option, [part for part in rest.split(";") if part.strip()]))


def settings_of(option: str, parts: Sequence[str]) -> Mapping[str, Any]:
    """Settings with one value each, by dotted path."""
    variants = grid(parts, option)
    if len(variants) != 1:
        raise InvalidRequestError(f"A setting of {option} has several values.", _SYSTEM)
    return variants[0].overrides


def answers(bench: Bench, system: System, questions: Sequence[Question], max_tokens: int) -> Iterable[Shown]:
    """What the system shows for each question, in their order: prompts of `max_tokens` estimated tokens at most.

    Raises:
        InvalidRequestError: The file cannot be read, lacks a question, or has a text that is too long.
        EvidenceError: The index cannot answer with these settings.
    """
    if system.file is not None:
        yield from _from_file(system.file, questions, max_tokens)
        return
    with closing(bench.service(system.overrides)) as service:
        for question in questions:
            with service.session() as session:
                pack = session.find(question.request(session))
            block = to_prompt(pack, max_tokens)
            yield Shown(id=question.id, text=block.text, passages=block.included)


def _from_file(path: Path, questions: Sequence[Question], max_tokens: int) -> Iterable[Shown]:
    found = read_rows(path, Shown, _LINE)
    for question in questions:
        if question.id not in found:
            raise InvalidRequestError(f"{path} has no answer to the question {question.id!r}.", _LINE)
        shown = found[question.id]
        tokens = estimate_tokens(shown.text)
        if tokens > max_tokens:
            message = f"The answer to {question.id!r} in {path} takes {tokens} tokens, more than {max_tokens}."
            raise InvalidRequestError(message, "Compare answers of one budget, or allow more with --max-tokens.")
        passages = len(marked_passages(shown.text)) if shown.passages is None else shown.passages
        if not passages and shown.passages is None:
            message = f"The answer to {question.id!r} in {path} neither says nor marks how many passages it has."
            raise InvalidRequestError(message, f"{_LINE} Or mark passages by lines that begin with [CTX 1].")
        yield shown.model_copy(update={"passages": passages})


def marked_passages(text: str) -> list[str]:
    """The passages that a text marks as `[CTX 1]`, `[CTX 2]` and so on outside its fences, without their marks.

    A passage ends where the next one begins or, after its fence, at the next blank line.
    """
    passages: list[list[str]] = []
    fence, ended = "", True
    for line in text.split("\n"):
        ticks = _FENCE.match(line)
        mark = None if fence else _MARK.match(line)
        if mark and int(mark[1]) == len(passages) + 1:
            passages.append([])
            line, ended = line[mark.end() :], False
        elif fence:
            fence = "" if ticks and len(ticks[1]) >= len(fence) and not ticks[2].strip() else fence
        elif ticks:
            fence = ticks[1]
        else:
            ended = ended or not line.strip()
        if not ended:
            passages[-1].append(line)
    return ["\n".join(lines).strip() for lines in passages]

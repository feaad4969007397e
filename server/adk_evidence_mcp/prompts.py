"""Prompts: a task with the evidence for it, ready to be sent to a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from mcp import types
from pydantic import BaseModel, Field, StringConstraints, create_model

from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.models.base import Frozen
from adk_evidence.models.request import MAX_PASTED_CHARS, TaskMode
from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS
from adk_evidence_agents.session import AgentSession, valid
from adk_evidence_mcp.tools import Budget, evidence_block
from adk_evidence_mcp.work import Call

# The protocol's limit.
MAX_COMPLETIONS = 100
MAX_SYMBOL_CHARS = 300
_RULES = (
    "Answer from the evidence below, and name the citation behind each statement in brackets. Where the evidence does "
    "not settle something, say so instead of guessing; the tool find_adk_evidence finds more."
)

# A query holds the subject and the symbol, and an empty line between them, at which the message of an error ends.
_BETWEEN = "\n\n"
MAX_SUBJECT_CHARS = MAX_PASTED_CHARS - MAX_SYMBOL_CHARS - len(_BETWEEN)
_Subject = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUBJECT_CHARS)]


class _Arguments(Frozen):
    symbol: str = Field(
        default="", max_length=MAX_SYMBOL_CHARS, description="A name of the ADK that it is about, e.g. LlmAgent."
    )
    max_tokens: Budget = Field(default=DEFAULT_MAX_TOKENS, description="Most tokens of the prompt, estimated.")


@dataclass(frozen=True)
class Prompt:
    """A task for a model, whose name is also the task mode of the search.

    `subject` is the argument that says what evidence is looked for, and `asked` its description. The model reads the
    instruction; title and description are for people.
    """

    name: TaskMode
    title: str
    description: str
    instruction: str
    subject: str
    asked: str

    @cached_property
    def arguments(self) -> type[BaseModel]:
        field = (_Subject, Field(description=self.asked))
        return create_model(self.name, __base__=_Arguments, **{self.subject: field})  # type: ignore[call-overload,no-any-return]

    def declared(self) -> types.Prompt:
        """The prompt as the protocol lists it, required arguments first."""
        arguments = [
            types.PromptArgument(name=name, description=field.description, required=field.is_required())
            for name, field in self.arguments.model_fields.items()
        ]
        arguments.sort(key=lambda argument: not argument.required)
        return types.Prompt(name=self.name, title=self.title, description=self.description, arguments=arguments)


def get_prompt(session: AgentSession, name: str, values: dict[str, str], call: Call) -> types.GetPromptResult:
    """The message of a prompt, with evidence, within the budget."""
    prompt = next((prompt for prompt in PROMPTS if prompt.name == name), None)
    if prompt is None:
        names = ", ".join(prompt.name for prompt in PROMPTS)
        raise InvalidRequestError(f"There is no prompt {name!r}.", f"Get one of: {names}.")
    arguments = valid(prompt.arguments, values).model_dump()
    query = _BETWEEN.join((arguments[prompt.subject], arguments["symbol"])).strip()
    request = {"query": query, "task_mode": prompt.name}
    _, block = evidence_block(session, request, arguments["max_tokens"], call, f"{prompt.instruction} {_RULES}")
    content = types.TextContent(type="text", text=block.text)
    return types.GetPromptResult(description=prompt.title, messages=[types.PromptMessage(role="user", content=content)])


def complete(session: AgentSession, argument: types.CompletionArgument) -> types.Completion:
    """Names of symbols that complete an argument; empty where there is nothing to offer, for whatever reason."""
    names = _symbols(session, argument.value) if argument.name == "symbol" else []
    return types.Completion(values=names[:MAX_COMPLETIONS], has_more=len(names) > MAX_COMPLETIONS)


def _symbols(session: AgentSession, beginning: str) -> list[str]:
    try:
        with session.desk.use() as (service, _):
            search = service.symbols.targets()
    except EvidenceError:
        # The prompt itself says what is missing.
        return []
    typed = beginning.strip().lower()
    found: dict[str, None] = {}
    for place in search.names.prefix(typed, 2 * MAX_COMPLETIONS):
        target = search.targets[place]
        names = (target.symbol, target.name, target.import_path, target.fqn)
        found[next(name for name in names if name.lower().startswith(typed))] = None
    return list(found)


_ADK = "Google's Agent Development Kit (ADK) for Python"
PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        "explain",
        "Explain something of the ADK",
        "Explains how something in the ADK works, with citations.",
        f"Explain the following to a developer who uses {_ADK}.",
        "question",
        "What is to be explained.",
    ),
    Prompt(
        "debug",
        "Find the cause of an ADK error",
        "Finds the cause of an error in code that uses the ADK, with citations.",
        f"Find the cause of the following error in code that uses {_ADK}, and say how to mend it.",
        "error",
        "The error message, and what was done when it came.",
    ),
    Prompt(
        "build",
        "Write code with the ADK",
        "Writes code with the ADK, with citations for the API that it uses.",
        f"Write code with {_ADK} that does the following. Use no API that the evidence does not show.",
        "goal",
        "What the code is to do.",
    ),
    Prompt(
        "refactor",
        "Change code that uses the ADK",
        "Plans a change of code that uses the ADK, with citations for the API that it moves to.",
        f"Say how to change code that uses {_ADK} as follows, step by step, without changing what else it does.",
        "goal",
        "What the code is to do.",
    ),
)

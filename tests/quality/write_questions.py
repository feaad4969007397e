"""Has a language model write the questions that `config/questions.json.gz` lacks for the chunks of an index.

    python -m tests.quality.write_questions --answers answers.jsonl --plan
    python -m tests.quality.write_questions --answers answers.jsonl --table config/questions.json.gz

The model is that of `rerank.llm` in the settings, behind any OpenAI-compatible service. A later call goes on where this
one stopped. `adk-ingest all` then indexes the questions of the table.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.registry import settings_of
from adk_evidence.services.chat import ChatService
from adk_evidence.settings import LlmRerankSettings
from adk_evidence_console import Home, Profile, path_option, say, settings_from, stderr, stdout, table
from adk_ingest.commands.progress import make_progress
from adk_ingest.wording import counted
from tests.quality.tool import tool
from tests.quality.writing.answers import Answers
from tests.quality.writing.planning import Job, Plan, Prices, survey
from tests.quality.writing.prompt import FIRST_CHARS, LAST_CHARS
from tests.quality.writing.table import add_to_table
from tests.quality.writing.writer import Writer, Written

# A job waits longer than a question does.
LEAST_SECONDS = 180.0
ATTEMPTS = 4


def write_questions(
    answers: Annotated[Path, path_option("File of the answers, which grows.")],
    add_to: Annotated[
        Path | None, typer.Option("--table", metavar="PATH", help="Table that gets the answers, too.")
    ] = None,
    index: Annotated[str | None, typer.Option("--index", help="Name of another index than the main one.")] = None,
    plan_only: Annotated[bool, typer.Option("--plan", help="Say what would be sent and cost; send nothing.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(help="Texts to write for, at most: sections of documentation and public symbols first.", min=1),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model that writes. Without: that of `rerank.llm`.")] = None,
    usd_per_million: Annotated[
        tuple[float, float] | None,
        typer.Option(help="US dollars for a million tokens that the model reads, and that it writes."),
    ] = None,
    max_cost: Annotated[float, typer.Option(help="US dollars that a run may cost.")] = 5.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before texts are sent.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Have a language model write questions for the chunks of an index that have none."""
    overrides: dict[str, Any] = {"rerank": {"llm": {"model": model}}} if model else {}
    settings = settings_from(profile, home, **overrides)
    if index is not None:
        settings = settings_of(settings, index)
    file = Answers(answers)
    if file.damaged:
        lines = counted(file.damaged, "line", "lines")
        say(stderr(), f"{lines} of {answers} cannot be read and count for nothing.", "yellow")
    prices = Prices(*usd_per_million, most=max_cost) if usd_per_million else None
    job = Job(settings, survey(settings, file.known), prices, limit)
    show_plan(job.plan())
    if plan_only:
        return
    unanswered = 0
    if job.chunks:
        job.check()
        if not yes:
            _ask_for_consent(consent(job.plan()))
        with (
            make_progress(stderr(), as_json=False) as progress,
            closing(ChatService(patient(settings.rerank.llm), max_attempts=ATTEMPTS)) as chat,
        ):
            written = Writer(job, chat, file).write(progress)
        show_written(written, answers)
        unanswered = written.unanswered
    if add_to is not None:
        added = add_to_table(add_to, file.known.values())
        say(stdout(), f"{counted(added, 'text is', 'texts are')} new in {add_to}.")
    if unanswered:
        raise typer.Exit(1)


def patient(settings: LlmRerankSettings) -> LlmRerankSettings:
    """The same settings with the patience of a job."""
    return settings.model_copy(update={"timeout_seconds": max(settings.timeout_seconds, LEAST_SECONDS)})


def show_plan(plan: Plan) -> None:
    """How many chunks of each corpus have questions, and what the rest would take."""
    console = stdout()
    rows = table("corpus", "kind", "chunks", "with questions", "nothing to ask", "missing")
    for name, one in plan.coverage.items():
        numbers = (one.chunks, one.with_questions, one.nothing_to_ask, one.missing)
        rows.add_row(name, one.kind, *(f"{number:,}" for number in numbers))
    console.print(rows)
    if plan.withheld:
        chunks = counted(plan.withheld, "chunk holds", "chunks hold")
        say(console, f"{chunks} what looks like a credential and will not be sent.", "yellow")
    wanted = sum(plan.to_write.values())
    if not wanted:
        say(console, "No other chunk lacks questions." if plan.withheld else "No chunk lacks questions.")
        return
    kinds = ", ".join(f"{count:,} of {kind}" for kind, count in plan.to_write.items() if count)
    say(
        console,
        f"{counted(wanted, 'text', 'texts')} to write for ({kinds}) in "
        f"{counted(plan.requests, 'request', 'requests')}: about {plan.tokens_in:,} tokens to read and "
        f"{plan.tokens_out:,} to write, {_price(plan)}.",
    )


def consent(plan: Plan) -> str:
    """What is sent where, before anything is."""
    texts = counted(sum(plan.to_write.values()), "text", "texts")
    return (
        f"{texts} of {plan.index} would go to {plan.service}, where {plan.model} reads them: of each the path, the "
        f"name, the first {FIRST_CHARS:,} characters and the last {LAST_CHARS:,}."
    )


def show_written(written: Written, answers: Path) -> None:
    """What the model wrote, and what it left out."""
    console = stdout()
    if written.chunks:
        spent = f", about ${written.usd:.2f}" if written.usd else ""
        questions, texts = counted(written.questions, "question", "questions"), counted(written.chunks, "text", "texts")
        nothing = f"; nobody would ask for {written.nothing_to_ask:,} of them" if written.nothing_to_ask else ""
        say(console, f"{questions} for {texts}{spent}{nothing}. They are in {answers}.")
    if written.unanswered:
        texts = counted(written.unanswered, "text has", "texts have")
        say(console, f"{texts} no usable answer; the next run asks for them again.", "yellow")


def _price(plan: Plan) -> str:
    if plan.price_usd is None:
        return f"at a price that nobody named (--usd-per-million has those of {plan.model})"
    return f"about ${plan.price_usd:.2f}" if plan.price_usd else "no cost"


def _ask_for_consent(sentence: str) -> None:
    say(stderr(), sentence)
    if not sys.stdin.isatty():
        raise InvalidRequestError("There is nobody to ask whether these texts may be sent.", "Add --yes.")
    if not typer.confirm("Send them?", err=True):
        raise typer.Exit(1)


app = tool(write_questions)

if __name__ == "__main__":
    app()

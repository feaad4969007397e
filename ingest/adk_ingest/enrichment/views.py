"""What `adk-ingest enrich` prints."""

from __future__ import annotations

from rich.console import Console

from adk_evidence_console import say, table
from adk_ingest.enrichment.planning import Plan
from adk_ingest.enrichment.prompt import FIRST_CHARS, LAST_CHARS
from adk_ingest.enrichment.session import EnrichmentReport
from adk_ingest.wording import counted


def show_plan(plan: Plan, console: Console) -> None:
    rows = table("corpus", "kind", "chunks", "with questions", "nothing to ask", "missing")
    for name, one in plan.coverage.items():
        numbers = (one.chunks, one.with_questions, one.nothing_to_ask, one.missing)
        rows.add_row(name, one.kind, *(f"{number:,}" for number in numbers))
    if plan.coverage:
        console.print(rows)
    wanted = sum(plan.to_write.values())
    if not wanted:
        _say_all_have(plan.withheld, console)
        return
    if plan.withheld:
        say(console, _withheld(plan.withheld), "yellow")
    kinds = ", ".join(f"{count:,} of {kind}" for kind, count in plan.to_write.items() if count)
    say(
        console,
        f"{counted(wanted, 'text', 'texts')} to write for ({kinds}) in "
        f"{counted(plan.requests, 'request', 'requests')}: about {plan.tokens_in:,} tokens to read and "
        f"{plan.tokens_out:,} to write, {_price(plan)}.",
    )
    if plan.above_cap:
        say(console, "That is above enrichment.max_cost_usd: an enrichment would be refused.")


def consent(plan: Plan) -> str:
    """What is sent where, before anything is."""
    texts = counted(sum(plan.to_write.values()), "text", "texts")
    return (
        f"{texts} of {plan.index} would go to {plan.service}, where {plan.model} reads them: of each the path, the "
        f"name, the first {FIRST_CHARS:,} characters and the last {LAST_CHARS:,}; {_price(plan)}."
        f"{f' {_withheld(plan.withheld)}' if plan.withheld else ''}"
    )


def show_report(report: EnrichmentReport, console: Console) -> None:
    written = report.written
    if report.damaged:
        lines = counted(report.damaged, "line", "lines")
        say(console, f"{lines} of {report.file} cannot be read and count for nothing.", "yellow")
    if not written.chunks and not written.unanswered:
        _say_all_have(report.withheld, console)
    if written.chunks:
        spent = f", about ${written.usd:.2f}" if written.usd else ""
        nothing = (
            f"; for {written.nothing_to_ask:,} of these nobody would ask anything" if written.nothing_to_ask else ""
        )
        say(
            console,
            f"{counted(written.questions, 'question', 'questions')} for {counted(written.chunks, 'text', 'texts')}"
            f"{spent}{nothing}. They are in {report.file}.",
        )
    if written.unanswered:
        texts = counted(written.unanswered, "text has", "texts have")
        say(console, f"{texts} no usable answer; the next run asks for them again.", "yellow")
    if report.generation:
        say(console, f"Generation {report.generation} of {report.index} has the questions.")


def _say_all_have(withheld: int, console: Console) -> None:
    if withheld:
        say(console, _withheld(withheld), "yellow")
    say(console, "No other chunk lacks questions." if withheld else "No chunk lacks questions.")


def _withheld(count: int) -> str:
    chunks = counted(count, "chunk holds", "chunks hold")
    return f"{chunks} what looks like a credential and will not be sent."


def _price(plan: Plan) -> str:
    if plan.price_usd is None:
        return f"at a price that the settings do not name (enrichment.usd_per_million_tokens has no {plan.model})"
    return f"about ${plan.price_usd:.2f}" if plan.price_usd else "no cost"

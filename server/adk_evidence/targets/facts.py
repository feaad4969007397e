"""What surfaces show of a found symbol beside its name, its import and its citation."""

from __future__ import annotations

from adk_evidence.render.sanitize import one_line
from adk_evidence.render.signatures import limited_signature, listed_fields, listed_methods, listed_notes, listed_takers
from adk_evidence.targets.target import RankedTarget, TargetAnswer

# For the signature of a symbol that is neither the first nor was asked for by its name.
BESIDE_TOKENS = 60
# For the parameters or fields of one that is.
MAIN_TOKENS = 300


def facts_of(
    found: RankedTarget, answer: TargetAnswer, summary: str, *, methods: int, calls: int, notes: int
) -> list[str]:
    """The parts of a result in the order in which they are shown, each made harmless.

    The numbers are the most tokens of a class's methods, and of what is shown of a class that was asked for alone: its
    methods with the names of their parameters, and what the code says of its fields.
    """
    tokens = MAIN_TOKENS if answer.is_main(found) else BESIDE_TOKENS
    alone = answer.is_only_named(found)
    # Of a result beside the one that was asked for, a signature helps only where it is a member of that.
    beside = answer.is_aside(found) and not answer.is_member(found)
    facts = (
        "" if beside else limited_signature(one_line(found.signature), tokens),
        listed_fields([one_line(field) for field in found.fields], tokens),
        listed_notes([one_line(note) for note in found.field_notes], notes) if alone else "",
        listed_methods(found.methods, methods, calls if alone else 0),
        summary,
        listed_takers(found.taken_by),
    )
    return [fact for fact in facts if fact]

"""What an upgrade means for some files: what breaks, what was wrong before, and what changes behind names that stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from adk_evidence.api.changes import Changes, cited_in
from adk_evidence.api.comparison import Comparison, Pair
from adk_evidence.api.history import Place, VersionApi, path_of, read_call
from adk_evidence.api.signatures import Told
from adk_evidence.checks.calls import Remark
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.fixes import fixes_of
from adk_evidence.checks.mend import Ages
from adk_evidence.checks.remarks import CODES, all_remarks
from adk_evidence.documents.document import PythonDocument
from adk_evidence.models.difference import Upgrade, UpgradeProblem, UsedChange

# Places that use a changed name; a person looks at the first ones.
MAX_USES = 5
_DEFAULT = re.compile(r"the default of `(\w+)`")

_Use = Literal["call", "name"]
# The list of the report that a problem belongs to.
_List = Literal["breaks", "wrong_before", "deprecated"]
# The places where each name is called, or used otherwise.
_Uses = dict[tuple[str, _Use], list[str]]


def examine(
    old: DriftChecker, new: DriftChecker, files: Mapping[str, str], comparison: Comparison | None = None
) -> Upgrade:
    """What the upgrade from one version to another means for some files.

    Args:
        old: Knows the earlier version.
        new: Knows the later one.
        files: Python modules by the names that the report gives them.
        comparison: The code of both versions, for what changes behind names that stay, and for citations.
    """
    found: dict[_List, list[UpgradeProblem]] = {"breaks": [], "wrong_before": [], "deprecated": []}
    uses: _Uses = {}
    right_after = 0
    for path, text in files.items():
        document = PythonDocument(text.removeprefix("\ufeff"))
        for _, code in new.checks_of(document):
            before, after = ([*all_remarks(checker, document)] for checker in (old, new))
            for problem, kind in _problems(old, new, document, path, before, after, comparison):
                found[kind].append(problem)
            errors = {one.place for one in after}
            right_after += sum(one.place not in errors for one in before)
            names = code.names(new.api)
            for mention in document.mentions:
                symbol = names.symbol(mention)[0] if mention.use != "import" else None
                if symbol is not None:
                    # Who calls a class sets its fields.
                    use: _Use = "call" if mention.use == "call" else "name"
                    uses.setdefault((symbol, use), []).append(f"{path}:{mention.line + 1}")

    told = {problem.symbol for problems in found.values() for problem in problems}
    return Upgrade(
        before=old.version,
        after=new.version,
        taken_from="",
        files=len(files),
        breaks=tuple(found["breaks"]),
        wrong_before=tuple(found["wrong_before"]),
        deprecated=tuple(found["deprecated"]),
        changed=tuple(_changed(old.api, uses, told, comparison)) if comparison else (),
        right_after=right_after,
    )


def _problems(
    old: DriftChecker,
    new: DriftChecker,
    document: PythonDocument,
    path: str,
    before: Iterable[Remark],
    after: Iterable[Remark],
    comparison: Comparison | None,
) -> Iterator[tuple[UpgradeProblem, _List]]:
    """The problems of a file, each with the list that it belongs to, by the remarks of both versions."""
    remarks = sorted(after, key=lambda one: one.place)
    fixes = {id(one): fix for one, fix in fixes_of(new, document, remarks, likely=True)}
    was_wrong = {one.place for one in before if one.kind != "deprecated"}
    ages = Ages(new, document)
    for remark in remarks:
        is_old = remark.place in was_wrong
        kind: _List = "deprecated" if remark.kind == "deprecated" else "wrong_before" if is_old else "breaks"
        fix = fixes.get(id(remark))
        problem = UpgradeProblem(
            path=path,
            line=remark.line + 1,
            code=CODES[remark.kind],
            symbol=remark.symbol,
            text=remark.text,
            since=ages.since(remark, old.version if kind == "breaks" else None),
            fix=fix.title if fix else None,
            certain=bool(fix and fix.certain),
            citation=_citation(comparison, remark),
        )
        yield problem, kind


def _citation(comparison: Comparison | None, remark: Remark) -> str:
    """Where the later version shows what a remark says; else where the earlier version has what is gone."""
    sides = (comparison.new, comparison.old) if comparison else ()
    paths = dict.fromkeys((remark.cited, path_of(remark.symbol)))
    return next(filter(None, (cited_in(side, path, modules=False) for side in sides for path in paths)), "")


def _changed(api: VersionApi, uses: _Uses, told: Iterable[str], comparison: Comparison) -> Iterator[UsedChange]:
    """What changes behind the names that the files use, but for those that problems are about."""
    pairs: dict[Place, Pair] = {pair.before: pair for pair in comparison.pairs if pair.before and pair.after}
    about = {place for one in told if (place := api.definition(one))}
    used: dict[Place, list[str]] = {}
    # How often each parameter of what is called is given.
    given: Counter[tuple[Place, str]] = Counter()
    for (symbol, use), places in uses.items():
        call = read_call(symbol)
        place = api.definition(call.callable if call else symbol)
        if place is None or place in about:
            continue
        if call is not None:
            given[place, call.keyword] += len(places)
            continue
        used.setdefault(place, []).extend(places)
        keywords = api.keywords(symbol) if use == "call" and api.kind(symbol) == "c" else None
        for name in keywords.names if keywords else ():
            member = api.definition(f"{symbol}.{name}")
            if member is not None and not uses.keys() & {(f"{symbol}({name}=)", "name")}:
                used.setdefault(member, []).extend(places)
    changes = Changes(comparison)
    for place, places in used.items():
        pair = pairs.get(place)
        matters = [
            one
            for one in (pair.told if pair else ())
            if _matters(one)
            and not ((default := _DEFAULT.search(one.text)) and given[place, default[1]] >= len(places))
        ]
        if pair is not None and matters:
            first = tuple(dict.fromkeys(places))
            change = changes.change(replace(pair, told=matters))
            yield UsedChange(change=change, uses=first[:MAX_USES], more=max(0, len(first) - MAX_USES))


def _matters(told: Told) -> bool:
    """Whether a difference may change what code does that names all things rightly: new things and texts do not."""
    if told.text.startswith(("cannot be imported as", "is deprecated", "was deprecated")):
        return False
    is_value = told.text.startswith("its value is") and ", not " in told.text
    return told.breaking or told.kind == "result" or is_value or _DEFAULT.search(told.text) is not None

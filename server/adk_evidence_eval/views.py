"""What `adk-evidence eval` prints: one table, or one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from adk_evidence.settings import SupportSettings
from adk_evidence_console import write_json
from adk_evidence_eval.abstention import Abstention, Counted
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.check import Finding
from adk_evidence_eval.compare import Comparison
from adk_evidence_eval.exact import AnnMisses
from adk_evidence_eval.golden import Target
from adk_evidence_eval.misses import TargetFate, count_fates, demoted
from adk_evidence_eval.score import CUT, POOL_PREFIX, Scores, by_category, mean_scores
from adk_evidence_eval.variants import TABLE_METRICS, Golden, Measured

# Tables are read in files and logs, too: a row is one line there, however long.
_WIDTH = 220


def show_scores(scores: Mapping[str, Scores], golden: Golden, answered: int, out: Console, *, as_json: bool) -> None:
    """Means with their intervals, then the means of each category."""
    means = mean_scores(scores)
    intervals = {
        name: mean_interval([row[name] for row in scores.values() if name in row])
        for name in means
        if any(name in row for row in scores.values())
    }
    categories = {name: mean_scores(rows) for name, rows in by_category(scores, golden).items()}
    if as_json:
        write_json(
            out,
            questions=len(scores),
            answered=answered,
            scores=_rounded(means),
            intervals={name: _bounds(interval) for name, interval in intervals.items()},
            categories={name: _rounded(row) for name, row in categories.items()},
        )
        return
    table = _table("metric", "mean", "95 %")
    for name, value in means.items():
        interval = intervals.get(name)
        table.add_row(name, _number(name, value), _between(interval) if interval else "")
    _print(out, table)
    sizes = {name: len(rows) for name, rows in by_category(scores, golden).items()}
    shown = [*TABLE_METRICS, f"{POOL_PREFIX}recall@50"]
    table = _table("category", "questions", *shown)
    for name, row in categories.items():
        table.add_row(Text(name), str(sizes[name]), *(_number(metric, row.get(metric)) for metric in shown))
    _print(out, table)
    _print(out, f"{answered} of {len(scores)} questions answered")


def show_comparison(rows: Sequence[Comparison], out: Console, *, as_json: bool) -> None:
    """One line a metric; a difference that is beyond chance is marked."""
    if as_json:
        write_json(out, metrics=[{**asdict(row), "difference": asdict(row.difference)} for row in rows])
        return
    table = _table("metric", "questions", "first", "second", "difference", "95 %", "", "better", "worse")
    for row in rows:
        table.add_row(
            row.metric,
            str(row.questions),
            _number(row.metric, row.first),
            _number(row.metric, row.second),
            f"{row.difference.mean:+.3f}",
            _between(row.difference),
            _mark(row.difference),
            str(row.gained),
            str(row.lost),
        )
    _print(out, table)
    _print(out, "+ and -: the interval of the paired difference leaves out nothing at all.")


def show_variants(measured: Mapping[str, Sequence[Measured]], out: Console, *, as_json: bool) -> None:
    """One table for all golden sets: each variant's means with intervals, and what it gains over the first."""
    if as_json:
        write_json(out, **{name: [_variant(one, rows[0]) for one in rows] for name, rows in measured.items()})
        return
    gained = TABLE_METRICS[0]
    table = _table("set", "variant", *TABLE_METRICS, f"{gained} over the first", "", "p50 ms", left=2)
    for name, rows in measured.items():
        for one in rows:
            gain = one.gain(gained, rows[0])
            table.add_row(
                Text(name),
                Text(one.variant.name),
                *(f"{_number(metric, one.means[metric])} {_between(one.interval(metric))}" for metric in TABLE_METRICS),
                "" if one is rows[0] else f"{gain.mean:+.3f} {_between(gain)}",
                _mark(gain),
                _number("latency_p50_ms", one.means.get("latency_p50_ms")),
            )
        table.add_section()
    _print(out, table)
    sizes = ", ".join(f"{name} {len(rows[0].scores)}" for name, rows in measured.items())
    _print(out, f"Questions with an answer: {sizes}. Intervals: 95 % bootstrap over questions; differences are paired.")


def show_ann_misses(misses: Sequence[AnnMisses], out: Console, *, as_json: bool) -> None:
    """How many of the exactly nearest chunks approximate search did not return, by collection."""
    if as_json:
        write_json(out, questions=[asdict(miss) for miss in misses])
        return
    table = _table("kind", "questions", "nearest chunks", "missed", "recall")
    for kind in dict.fromkeys(miss.kind for miss in misses):
        mine = [miss for miss in misses if miss.kind == kind]
        nearest, missed = sum(miss.exact for miss in mine), sum(miss.missed for miss in mine)
        recall = f"{1 - missed / nearest:.4f}" if nearest else "-"
        table.add_row(kind, str(len(mine)), str(nearest), str(missed), recall)
    _print(out, table)
    for miss in sorted(misses, key=lambda miss: -miss.missed):
        if miss.missed:
            _print(out, f"{miss.question}: {miss.missed} of {miss.exact} {miss.kind} chunks missed")


def show_fates(fates: Sequence[TargetFate], out: Console, *, as_json: bool) -> None:
    """Every missed target with where it was lost, then how many met each fate."""
    if as_json:
        targets = [{**asdict(fate), "target": fate.target.model_dump(mode="json")} for fate in fates]
        write_json(out, counts=count_fates(fates), demoted=demoted(fates), targets=targets)
        return
    table = _table("question", "grade", "fate", "target", "branches", "pool", "final", left=4)
    for fate in fates:
        if fate.fate == "found":
            continue
        branches = " ".join(f"{name} {rank}" for name, rank in fate.branches.items())
        table.add_row(
            Text(fate.question),
            str(fate.target.grade),
            fate.fate.replace("_", " "),
            Text(_place(fate.target)),
            branches or "-",
            str(fate.pool or "-"),
            str(fate.final or "-"),
        )
    _print(out, table)
    table = _table("fate", "targets", "share")
    for name, count in count_fates(fates).items():
        table.add_row(name.replace("_", " "), str(count), f"{count / max(1, len(fates)):.2f}")
    _print(out, table)
    _print(out, f"{demoted(fates)} targets were within the first {CUT} before the reranker and are not any more.")


def show_abstention(
    rows: Sequence[Abstention],
    groups: Sequence[Counted],
    golden: Golden,
    out: Console,
    weights: SupportSettings | None = None,
    *,
    as_json: bool,
) -> None:
    """The quality levels of each group, and the effect of treating a level and all lower levels as refusals."""
    unanswerable = sum(not question.answerable for question in golden.values())
    if as_json:
        write_json(
            out,
            answerable=len(golden) - unanswerable,
            unanswerable=unanswerable,
            levels=[*map(asdict, rows)],
            groups=[*map(asdict, groups)],
            **({} if weights is None else {"support": weights.model_dump()}),
        )
        return
    table = _table("half", "questions", "asked", "high", "mixed", "keyword_only", "none", left=2)
    for one in groups:
        found = (str(one.levels[level]) for level in ("high", "mixed", "keyword_only", "none"))
        table.add_row(one.half, one.group, str(one.asked), *found)
    _print(out, table)
    table = _table("refused: up to", "refusal recall", "false refusals")
    for row in rows:
        table.add_row(row.level, _number("", row.refusal_recall), _number("", row.false_refusals))
    _print(out, table)
    _print(out, f"{unanswerable} questions without an answer, {len(golden) - unanswerable} with one")


def show_weights(weights: SupportSettings, out: Console) -> None:
    """Weights as the settings take them."""
    _print(out, "retrieval:\n  support:")
    for name, value in weights.model_dump().items():
        _print(out, f"    {name}: {value}")


def show_findings(findings: Sequence[Finding], out: Console, *, as_json: bool) -> None:
    """Every span that does not stand where the set says, and how many do."""
    if as_json:
        write_json(out, spans=[_finding(finding) for finding in findings])
        return
    table = _table("question", "state", "span", "why", left=4)
    wrong = [finding for finding in findings if finding.state != "ok"]
    for finding in wrong:
        table.add_row(Text(finding.question), finding.state, Text(_place(finding.old)), Text(finding.reason))
    if wrong:
        _print(out, table)
    _print(out, f"{len(findings) - len(wrong)} of {len(findings)} spans stand where the set says")


def _variant(one: Measured, first: Measured) -> dict[str, Any]:
    return {
        "variant": one.variant.name,
        "settings": dict(one.variant.overrides),
        "questions": len(one.scores),
        "scores": _rounded(one.means),
        "intervals": {metric: _bounds(one.interval(metric)) for metric in TABLE_METRICS},
        "gains": {metric: asdict(one.gain(metric, first)) for metric in TABLE_METRICS},
    }


def _finding(finding: Finding) -> dict[str, Any]:
    old, new = (target.model_dump(mode="json", exclude_none=True) for target in (finding.old, finding.target))
    return {"question": finding.question, "state": finding.state, "reason": finding.reason, "old": old, "new": new}


def _place(target: Target) -> str:
    return f"{target.path}:{target.start_line}-{target.end_line}"


def _rounded(scores: Scores) -> Scores:
    return {name: round(value, 6) for name, value in scores.items()}


def _bounds(interval: Interval) -> list[float]:
    return [round(interval.low, 6), round(interval.high, 6)]


def _number(metric: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if metric.startswith("latency") else f"{value:.3f}"


def _between(interval: Interval) -> str:
    return f"{interval.low:.3f}..{interval.high:.3f}"


def _mark(interval: Interval) -> str:
    return {1: "+", 0: "", -1: "-"}[interval.sign]


def _table(*columns: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right", no_wrap=True)
    return table


def _print(out: Console, what: Table | str) -> None:
    out.width = max(_WIDTH, out.width)
    out.print(what, markup=False)

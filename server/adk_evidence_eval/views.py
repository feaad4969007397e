"""What `adk-evidence eval` prints: JSON, or tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from adk_evidence_console import stdout, write_json
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.check import Finding
from adk_evidence_eval.golden import Target
from adk_evidence_eval.score import (
    CPU_TIMES,
    LATENCIES,
    POOL_PREFIX,
    TABLE_METRICS,
    TIMES,
    Comparison,
    Scores,
    by_category,
    formatted,
    mean_scores,
    set_kind,
)
from adk_evidence_eval.variants import Golden, Measured

# Tables are read in files and logs, too: a row is one line there, however long.
_WIDTH = 260

# The members of a JSON object, and the same for a reader.
View = tuple[Mapping[str, object], Sequence[Table | str]]


def show(view: View, *, as_json: bool) -> None:
    data, parts = view
    out = stdout()
    if as_json:
        write_json(out, data)
        return
    out.width = max(_WIDTH, out.width)
    for part in parts:
        out.print(part, markup=False)


def scores_view(scores: Mapping[str, Scores], golden: Golden, answered: int) -> View:
    """Means with their intervals, then the means of each category."""
    means = mean_scores(scores)
    values = {name: [row[name] for row in scores.values() if name in row] for name in means}
    intervals = {name: mean_interval(found) for name, found in values.items() if found}
    groups = by_category(scores, golden)
    categories = {name: mean_scores(rows) for name, rows in groups.items()}
    data = {
        "questions": len(scores),
        "answered": answered,
        "scores": _rounded(means),
        "intervals": {name: _bounds(interval) for name, interval in intervals.items()},
        "categories": {name: _rounded(row) for name, row in categories.items()},
    }
    metrics = new_table("metric", "mean", "95 %")
    for name, value in means.items():
        metrics.add_row(name, formatted(name, value), _between(intervals[name], name) if name in intervals else "")
    shown = [*TABLE_METRICS[set_kind(golden)], f"{POOL_PREFIX}recall@50"]
    table = new_table("category", "questions", *shown)
    for name, row in categories.items():
        table.add_row(Text(name), str(len(groups[name])), *(formatted(metric, row.get(metric)) for metric in shown))
    return data, [metrics, table, f"{answered} of {len(scores)} questions answered"]


def comparison_view(rows: Sequence[Comparison]) -> View:
    """One line per metric; a difference that is beyond chance is marked."""
    table = new_table("metric", "questions", "first", "second", "difference", "95 %", "", "better", "worse")
    for row in rows:
        table.add_row(
            row.metric,
            str(row.questions),
            formatted(row.metric, row.first),
            formatted(row.metric, row.second),
            f"{row.difference.mean:+.3f}",
            _between(row.difference, row.metric),
            _mark(row.difference),
            str(row.gained),
            str(row.lost),
        )
    note = "+ and -: the whole interval of the paired difference lies above or below zero."
    return {"metrics": [*map(asdict, rows)]}, [table, note]


def variants_view(measured: Mapping[str, Sequence[Measured]]) -> View:
    """For each golden set a table of the variants' means, and tables of what the variants gain over each base."""
    data: dict[str, list[dict[str, Any]]] = {}
    parts: list[Table | str] = []
    for name, rows in measured.items():
        first = rows[0]
        known = {one.variant.name: one for one in rows}
        pairs = [(one, known.get(one.variant.base or "", first)) for one in rows]
        data[name] = [_measured_row(one, base) for one, base in pairs]
        parts += [f"{name}: {len(first.scores)} questions with an answer", _means_table(rows), ""]
        for base in dict.fromkeys(base.variant.name for one, base in pairs if one is not base):
            against = [(one, over) for one, over in pairs if over.variant.name == base and one is not over]
            parts += [f"{name}: difference to {base}", _gains_table(against), ""]
    notes = (
        "Intervals: 95 % bootstrap over questions. Differences are paired: + and - mark those whose interval lies",
        "above or below zero, and = says that no question differs. ms: p50/p95 of the time of a question.",
        "CPU ms: the same of what the processors spend.",
    )
    return data, [*parts, *notes]


def _measured_row(one: Measured, base: Measured) -> dict[str, Any]:
    gained = (*_shared(one, base), *(time for time in TIMES if time in _metrics(one) and time in _metrics(base)))
    return {
        "variant": one.variant.name,
        "settings": dict(one.variant.overrides),
        "questions": len(one.scores),
        "scores": _rounded(one.means),
        "intervals": {metric: _bounds(one.interval(metric)) for metric in one.metrics},
        "base": base.variant.name,
        "gains": {metric: asdict(one.gain(metric, base)) for metric in gained},
    }


def _means_table(rows: Sequence[Measured]) -> Table:
    shown = [metric for metric in TABLE_METRICS[rows[0].kind] if any(metric in one.means for one in rows)]
    table = new_table("variant", *shown, "ms", "CPU ms")
    for one in rows:
        intervals = {metric: one.interval(metric) for metric in one.metrics}
        means = (
            f"{formatted(metric, intervals[metric].mean)} ({_between(intervals[metric], metric)})"
            if metric in intervals
            else "-"
            for metric in shown
        )
        times = ("/".join(formatted(name, one.means.get(name)) for name in names) for names in (LATENCIES, CPU_TIMES))
        table.add_row(Text(one.variant.name), *means, *times)
    return table


def _gains_table(pairs: Sequence[tuple[Measured, Measured]]) -> Table:
    metrics = TABLE_METRICS[pairs[0][0].kind]
    shown = [metric for metric in metrics if any(metric in _shared(one, base) for one, base in pairs)]
    table = new_table("variant", *shown, "CPU ms")
    for one, base in pairs:
        shared = _shared(one, base)
        cells = [_gain(metric, one.gain(metric, base)) if metric in shared else "-" for metric in shown]
        timed = all("cpu_ms" in _metrics(each) for each in (one, base))
        cells.append(_gain("cpu_ms", one.gain("cpu_ms", base)) if timed else "-")
        name = one.variant.name.removeprefix(f"{base.variant.name}, ")
        table.add_row(Text(name), *cells)
    return table


def _shared(one: Measured, base: Measured) -> tuple[str, ...]:
    """The metrics of tables that both have."""
    return tuple(metric for metric in one.metrics if metric in base.metrics)


def _metrics(one: Measured) -> Set[str]:
    return {metric for row in one.scores.values() for metric in row}


def _gain(metric: str, gain: Interval) -> str:
    if gain.low == gain.high == 0:
        return "= "
    low, mean, high = (_signed(metric, value) for value in (gain.low, gain.mean, gain.high))
    return f"{mean} ({low}, {high}){_mark(gain) or ' '}"


def _signed(metric: str, value: float) -> str:
    if metric == "cpu_ms":
        return f"{value:+.1f}"
    return f"{value:+,.0f}" if metric.startswith("tokens") else f"{value:+.3f}"


def findings_view(findings: Sequence[Finding]) -> View:
    """Every span that does not stand where the set says, and how many do."""
    spans = []
    for finding in findings:
        old, new = (target.model_dump(mode="json", exclude_none=True) for target in (finding.old, finding.target))
        about = {"question": finding.question, "state": finding.state, "reason": finding.reason}
        spans.append({**about, "old": old, "new": new})
    table = new_table("question", "state", "span", "why", left=4)
    for finding in findings:
        if finding.state != "ok":
            table.add_row(Text(finding.question), finding.state, Text(place_of(finding.old)), Text(finding.reason))
    right = sum(finding.state == "ok" for finding in findings)
    note = f"{right} of {len(findings)} spans stand where the set says"
    return {"spans": spans}, [table, note] if table.row_count else [note]


def place_of(target: Target) -> str:
    return f"{target.path}:{target.start_line}-{target.end_line}"


def _rounded(scores: Scores) -> Scores:
    return {name: round(value, 6) for name, value in scores.items()}


def _bounds(interval: Interval) -> list[float]:
    return [round(interval.low, 6), round(interval.high, 6)]


def _between(interval: Interval, metric: str = "") -> str:
    return f"{formatted(metric, interval.low)}..{formatted(metric, interval.high)}"


def _mark(interval: Interval) -> str:
    return {1: "+", 0: "", -1: "-"}[interval.sign]


def new_table(*columns: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right", no_wrap=True)
    return table

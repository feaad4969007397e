"""What `adk-evidence eval` prints: JSON, or tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from adk_evidence.render.sanitize import one_line
from adk_evidence.settings import SupportSettings
from adk_evidence_console import stdout, write_json
from adk_evidence_eval.abstention import Judged, abstention, counts
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.check import Finding
from adk_evidence_eval.footprint import Footprint
from adk_evidence_eval.golden import Target
from adk_evidence_eval.judging.report import Report
from adk_evidence_eval.misses import AnnMisses, TargetFate, count_fates, demoted
from adk_evidence_eval.score import (
    CPU_TIMES,
    CUT,
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
    metrics = _table("metric", "mean", "95 %")
    for name, value in means.items():
        metrics.add_row(name, formatted(name, value), _between(intervals[name], name) if name in intervals else "")
    shown = [*TABLE_METRICS[set_kind(golden)], f"{POOL_PREFIX}recall@50"]
    table = _table("category", "questions", *shown)
    for name, row in categories.items():
        table.add_row(Text(name), str(len(groups[name])), *(formatted(metric, row.get(metric)) for metric in shown))
    return data, [metrics, table, f"{answered} of {len(scores)} questions answered"]


def comparison_view(rows: Sequence[Comparison]) -> View:
    """One line per metric; a difference that is beyond chance is marked."""
    table = _table("metric", "questions", "first", "second", "difference", "95 %", "", "better", "worse")
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


def ablation_view(measured: Mapping[str, Sequence[Measured]], footprints: Sequence[Footprint]) -> View:
    """The variants, and what the parts of the index take."""
    sets, parts = variants_view(measured)
    table = _table("part of the index", "chunks", "payload MB", "vectors MB", "further passages MB")
    for one in footprints:
        sizes = (one.payload_bytes, one.vector_bytes, one.further_vector_bytes)
        table.add_row(one.part, f"{one.chunks:,}", *(f"{size / 1e6:.1f}" for size in sizes))
    note = "Further passages: the vectors of each chunk's passages after the first, which are among the vectors."
    return {"sets": sets, "index": [*map(asdict, footprints)]}, [*parts, "", table, note]


def _measured_row(one: Measured, base: Measured) -> dict[str, Any]:
    gained = (*_shared(one, base), *(time for time in TIMES if time in _metrics(one) and time in _metrics(base)))
    return {
        "variant": one.variant.name,
        "part": one.variant.part,
        "settings": dict(one.variant.overrides),
        "questions": len(one.scores),
        "scores": _rounded(one.means),
        "intervals": {metric: _bounds(one.interval(metric)) for metric in one.metrics},
        "base": base.variant.name,
        "gains": {metric: asdict(one.gain(metric, base)) for metric in gained},
    }


def _means_table(rows: Sequence[Measured]) -> Table:
    shown = [metric for metric in TABLE_METRICS[rows[0].kind] if any(metric in one.means for one in rows)]
    table = _table("variant", *shown, "ms", "CPU ms")
    for one in rows:
        intervals = {metric: one.interval(metric) for metric in one.metrics}
        means = (
            f"{_short(metric, intervals[metric].mean)} ({_short_between(intervals[metric], metric)})"
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
    parted = any(one.variant.part for one, _ in pairs)
    table = _table(*(["part of"] if parted else []), "variant", *shown, "CPU ms", left=2 if parted else 1)
    for one, base in pairs:
        shared = _shared(one, base)
        cells = [_gain(metric, one.gain(metric, base)) if metric in shared else "-" for metric in shown]
        timed = all("cpu_ms" in _metrics(each) for each in (one, base))
        cells.append(_gain("cpu_ms", one.gain("cpu_ms", base)) if timed else "-")
        name = one.variant.name.removeprefix(f"{base.variant.name}, ")
        table.add_row(*([Text(one.variant.part)] if parted else []), Text(name), *cells)
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
    return f"{value:+,.0f}" if metric.startswith("tokens") else f"{value:+.3f}".replace("0.", ".", 1)


def _short(metric: str, value: float) -> str:
    """As `formatted`, but shares without the 0 before their point."""
    return formatted(metric, value).removeprefix("0") if 0 < value < 1 else formatted(metric, value)


def _short_between(interval: Interval, metric: str) -> str:
    return f"{_short(metric, interval.low)}-{_short(metric, interval.high)}"


def ann_misses_view(misses: Sequence[AnnMisses]) -> View:
    """How many of the exactly nearest chunks approximate search did not return, by collection."""
    table = _table("kind", "questions", "nearest chunks", "missed", "recall")
    for kind in dict.fromkeys(miss.kind for miss in misses):
        mine = [miss for miss in misses if miss.kind == kind]
        nearest, missed = sum(miss.exact for miss in mine), sum(miss.missed for miss in mine)
        recall = f"{1 - missed / nearest:.4f}" if nearest else "-"
        table.add_row(kind, str(len(mine)), str(nearest), str(missed), recall)
    worst = sorted((miss for miss in misses if miss.missed), key=lambda miss: -miss.missed)
    lines = [f"{miss.question}: {miss.missed} of {miss.exact} {miss.kind} chunks missed" for miss in worst]
    return {"questions": [*map(asdict, misses)]}, [table, *lines]


def fates_view(fates: Sequence[TargetFate]) -> View:
    """Every missed target with where it was lost, then how many met each fate."""
    targets = [{**asdict(fate), "target": fate.target.model_dump(mode="json")} for fate in fates]
    data = {"counts": count_fates(fates), "demoted": demoted(fates), "targets": targets}
    missed = _table("question", "grade", "fate", "target", "branches", "pool", "final", left=4)
    for fate in fates:
        if fate.fate != "found":
            missed.add_row(
                Text(fate.question),
                str(fate.target.grade),
                fate.fate.replace("_", " "),
                Text(_place(fate.target)),
                " ".join(f"{name} {rank}" for name, rank in fate.branches.items()) or "-",
                str(fate.pool or "-"),
                str(fate.final or "-"),
            )
    table = _table("fate", "targets", "share")
    for name, count in count_fates(fates).items():
        table.add_row(name.replace("_", " "), str(count), f"{count / max(1, len(fates)):.2f}")
    note = f"{demoted(fates)} targets were within the first {CUT} before the reranker and are not any more."
    return data, [missed, table, note]


def abstention_view(judged: Sequence[Judged], weights: SupportSettings | None) -> View:
    """The quality levels of each group, the effect of treating low levels as refusals, and weights as settings."""
    answerable = sum(one.group == "answerable" for one in judged)
    groups, refusals = counts(judged), abstention(judged)
    data: dict[str, object] = {
        "answerable": answerable,
        "unanswerable": len(judged) - answerable,
        "levels": [*map(asdict, refusals)],
        "groups": [*map(asdict, groups)],
    }
    levels = _table("half", "questions", "asked", "high", "mixed", "keyword_only", "none", left=2)
    for one in groups:
        found = (str(one.levels[level]) for level in ("high", "mixed", "keyword_only", "none"))
        levels.add_row(one.half, one.group, str(one.asked), *found)
    table = _table("refused: up to", "refusal recall", "false refusals")
    for row in refusals:
        table.add_row(row.level, formatted("", row.refusal_recall), formatted("", row.false_refusals))
    note = f"{len(judged) - answerable} questions without an answer, {answerable} with one"
    parts: list[Table | str] = [levels, table, note]
    if weights is not None:
        data["support"] = weights.model_dump()
        parts += ["retrieval:\n  support:", *(f"    {name}: {value}" for name, value in weights.model_dump().items())]
    return data, parts


def findings_view(findings: Sequence[Finding]) -> View:
    """Every span that does not stand where the set says, and how many do."""
    spans = []
    for finding in findings:
        old, new = (target.model_dump(mode="json", exclude_none=True) for target in (finding.old, finding.target))
        about = {"question": finding.question, "state": finding.state, "reason": finding.reason}
        spans.append({**about, "old": old, "new": new})
    table = _table("question", "state", "span", "why", left=4)
    for finding in findings:
        if finding.state != "ok":
            table.add_row(Text(finding.question), finding.state, Text(_place(finding.old)), Text(finding.reason))
    right = sum(finding.state == "ok" for finding in findings)
    note = f"{right} of {len(findings)} spans stand where the set says"
    return {"spans": spans}, [table, note] if table.row_count else [note]


def judgements_view(report: Report) -> View:
    """Both systems' means and what lies between them, the preferences, and what was missed."""
    first, second = report.systems
    table = _table("metric", "pairs", first, "95 %", second, "95 %", "difference", "95 %", "", "more", "less")
    for row in report.metrics:
        before, after = report.intervals[row.metric]
        table.add_row(
            row.metric.replace("_", " "),
            str(row.questions),
            formatted(row.metric, row.first),
            _between(before, row.metric),
            formatted(row.metric, row.second),
            _between(after, row.metric),
            f"{row.difference.mean:+,.0f}" if row.metric == "tokens" else f"{row.difference.mean:+.3f}",
            _between(row.difference, row.metric),
            _mark(row.difference),
            str(row.gained),
            str(row.lost),
        )
    missed = _table("pair", "question", "system", "judge", "sufficient", "missing", left=4)
    missed.columns[-1].justify = "left"
    for one in report.missing:
        texts = (one.pair, one.question, one.system, one.judge, str(one.sufficient), one.text)
        missed.add_row(*(Text(one_line(text)) for text in texts))
    who = "judge" if len(report.judges) == 1 else "judges"
    notes = [f"{report.judged} of {report.pairs} pairs judged; {who}: {one_line(', '.join(report.judges))}"]
    if report.unfinished:
        notes.append(f"Not counted, as not every side is graded: {', '.join(report.unfinished)}")
    if any(report.preferences.values()):
        notes.append("preferred: " + ", ".join(f"{name} {count}" for name, count in report.preferences.items()))
    if report.agreement:
        shares = ", ".join(f"{name.replace('_', ' ')} {share:.2f}" for name, share in report.agreement.items())
        notes.append(f"share of equal grades between judges: {shares}")
    notes.append("+ and -: the whole interval of the paired difference (second minus first) lies above or below zero.")
    return asdict(report), [table, *([missed] if report.missing else []), *notes]


def _place(target: Target) -> str:
    return f"{target.path}:{target.start_line}-{target.end_line}"


def _rounded(scores: Scores) -> Scores:
    return {name: round(value, 6) for name, value in scores.items()}


def _bounds(interval: Interval) -> list[float]:
    return [round(interval.low, 6), round(interval.high, 6)]


def _between(interval: Interval, metric: str = "") -> str:
    return f"{formatted(metric, interval.low)}..{formatted(metric, interval.high)}"


def _mark(interval: Interval) -> str:
    return {1: "+", 0: "", -1: "-"}[interval.sign]


def _table(*columns: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right", no_wrap=True)
    return table

"""Variants as a picture and as a page."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adk_evidence.errors import InvalidRequestError
from adk_evidence_eval.extra import charts_library
from adk_evidence_eval.score import LATENCIES, formatted
from adk_evidence_eval.variants import Measured

_STYLE = (
    "body{font:14px system-ui,sans-serif;margin:2em;max-width:80em}table{border-collapse:collapse}"
    "td,th{padding:.3em .8em;text-align:right;border-bottom:1px solid #ccc;font-variant-numeric:tabular-nums}"
    "td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}"
)


def write_charts(measured: Mapping[str, Sequence[Measured]], folder: Path) -> list[Path]:
    """Write `sweep.png` and `sweep.html`: the table's metrics with their intervals, by variant and golden set.

    Raises:
        EvaluationMissingError: matplotlib is not installed.
        InvalidRequestError: The folder cannot be written.
    """
    figure = _figure(measured)
    svg = io.StringIO()
    # Without a date, the same measurements make the same file.
    figure.savefig(svg, format="svg", metadata={"Date": None}, bbox_inches="tight")
    png, page = folder / "sweep.png", folder / "sweep.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(png, dpi=150, bbox_inches="tight")
        page.write_text(_page(measured, svg.getvalue()), encoding="utf-8")
    except OSError as exc:
        message = f"The charts cannot be written to {folder}: {exc.strerror or exc}."
        raise InvalidRequestError(message, "Name another folder with --out.") from exc
    return [png, page]


def _figure(measured: Mapping[str, Sequence[Measured]]) -> Any:
    """One row of axes for each golden set: its metrics, each with all variants."""
    names = [one.variant.name for one in next(iter(measured.values()))]
    columns = max(len(rows[0].metrics) for rows in measured.values())
    size = (4 * columns, (1.5 + 0.3 * len(names)) * len(measured))
    figure = charts_library().Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(measured), columns, squeeze=False)
    for line, (golden, rows) in zip(axes, measured.items(), strict=True):
        for axis in line[len(rows[0].metrics) :]:
            axis.set_visible(False)
        for axis, metric in zip(line, rows[0].metrics, strict=False):
            found = [one.interval(metric) for one in rows]
            reach = [each.mean - each.low for each in found], [each.high - each.mean for each in found]
            axis.errorbar([each.mean for each in found], range(len(rows)), xerr=reach, fmt="o", capsize=3)
            axis.set_title(f"{golden}: {metric}")
            axis.grid(axis="x", alpha=0.3)
            axis.set_yticks(range(len(names)), names if metric == rows[0].metrics[0] else [])
            axis.invert_yaxis()
    return figure


def _page(measured: Mapping[str, Sequence[Measured]], svg: str) -> str:
    tables = "".join(f"<h2>{html.escape(name)}</h2>{_table(rows)}" for name, rows in measured.items())
    drawing = svg[svg.index("<svg") :]
    note = "<p>Means with the 95 % bootstrap interval over questions.</p>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sweep</title><style>{_STYLE}</style></head>'
        f"<body><h1>Sweep</h1>{drawing}{tables}{note}</body></html>\n"
    )


def _table(rows: Sequence[Measured]) -> str:
    head = "".join(f"<th>{metric}</th>" for metric in (*rows[0].metrics, "p50 ms", "p95 ms"))
    body = "".join(f"<tr><td>{html.escape(one.variant.name)}</td>{_cells(one)}</tr>" for one in rows)
    return f"<table><tr><th>variant</th>{head}</tr>{body}</table>"


def _cells(one: Measured) -> str:
    intervals = [(metric, one.interval(metric)) for metric in one.metrics]
    cells = [
        f"{formatted(metric, each.mean)} ({formatted(metric, each.low)} to {formatted(metric, each.high)})"
        for metric, each in intervals
    ]
    cells += [formatted(metric, one.means[metric]) for metric in LATENCIES]
    return "".join(f"<td>{cell}</td>" for cell in cells)

"""`adk-evidence drift`: what docs show and a version of the ADK lacks, for people and for tools."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from adk_evidence.checks.corpus import (
    DriftReport,
    Found,
    files_of_folder,
    files_of_index,
    indexed_version,
    report_drift,
)
from adk_evidence.checks.drift import DriftKind
from adk_evidence.errors import InvalidRequestError
from adk_evidence.render.sanitize import one_line
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence_console import counted
from adk_evidence_console.pinned import required_checker
from adk_evidence_console.sarif import Finding, Rule

RULES = (
    Rule("drift-import", "The code imports what this version of google-adk does not have.", "warning"),
    Rule(
        "drift-name",
        "The code uses an attribute, or the text names a definition, that this version of google-adk does not have.",
        "warning",
    ),
    Rule("drift-keyword", "A call has a keyword that this version of google-adk does not take.", "warning"),
    Rule("drift-await", "A call of an asynchronous function of google-adk lacks an `await`.", "warning"),
    Rule("drift-deprecated", "The code uses what this version of google-adk calls deprecated.", "note"),
)


def examine(settings: Settings, folder: Path | None, version: str | None) -> DriftReport:
    """Check a folder, or the docs of the settings' index, against a version; by default that of the index.

    Raises:
        InvalidRequestError: The table does not know the version, or no version was named and there is no index.
        SourceError: The folder or the source of an indexed corpus is missing.
    """
    generation = open_generations(settings).current()
    wanted = version or (indexed_version(settings, generation.manifest) if generation else None)
    checker = required_checker(wanted)
    if folder is not None:
        return report_drift(checker, files_of_folder(folder))
    if generation is None:
        raise InvalidRequestError("There is no index whose docs could be checked.", "Name a folder.")
    return report_drift(checker, files_of_index(generation.manifest, generation.folder))


def show_text(report: DriftReport, out: Console) -> None:
    for path, group in groupby(report.found, lambda one: one.file.path):
        out.print(Text(one_line(path), style="bold"), soft_wrap=True)
        for one in group:
            style = "dim" if one.deviation.kind == "deprecated" else ""
            out.print(Text(f"{one.deviation.first + 1:>6}  {one_line(_message(one))}", style), soft_wrap=True)
    lost = f"{report.missing} ({report.share:.1%}) do not exist in google-adk {report.version}"
    shown = f"{counted(report.imports, 'import')} from google.adk in {counted(report.files, 'file')}"
    out.print(Text(f"{shown}: {lost}."), soft_wrap=True)
    counts = report.counts()
    kinds: tuple[tuple[DriftKind, str], ...] = (
        ("import", "import"),
        ("name", "name"),
        ("keyword", "keyword"),
        ("await", "missing await"),
    )
    listed = ", ".join(counted(counts.get(kind, 0), word) for kind, word in kinds)
    notes = counted(counts.get("deprecated", 0), "note")
    out.print(Text(f"Findings: {listed}; {notes} on deprecated names."), soft_wrap=True)


def as_json(report: DriftReport) -> dict[str, Any]:
    found = [
        {
            "path": one.file.path,
            "lines": {"start": one.deviation.first + 1, "end": one.deviation.last + 1},
            "included": one.deviation.included or None,
            **{name: getattr(one.deviation, name) for name in ("kind", "symbol", "until", "since", "instead", "text")},
        }
        for one in report.found
    ]
    return {
        "version": report.version,
        "files": report.files,
        "imports": report.imports,
        "missing": report.missing,
        "share": round(report.share, 4),
        "findings": found,
    }


def findings(report: DriftReport) -> list[Finding]:
    return [
        Finding(
            rule=f"drift-{one.deviation.kind}",
            message=_message(one),
            path=str(one.file.disk),
            start=one.deviation.first + 1,
            end=one.deviation.last + 1,
            key=one.deviation.symbol,
        )
        for one in report.found
    ]


def _message(one: Found) -> str:
    included = f" (in the included {one.deviation.included})" if one.deviation.included else ""
    return f"{one.deviation.text}{included}"

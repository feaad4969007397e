"""The doctor's findings on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from adk_evidence.render.sanitize import visible
from adk_ingest.commands.doctor import Finding

_MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("BROKEN", "red")}


def show_findings(findings: Sequence[Finding], console: Console) -> None:
    for finding in findings:
        mark, style = _MARKS[finding.state]
        what = ((f"{mark:>6}  ", style), (f"{finding.what}: ", "bold"), visible(finding.found))
        console.print(Text.assemble(*what), soft_wrap=True)
        if finding.mend:
            console.print(Text(f"        {finding.mend}"), soft_wrap=True)

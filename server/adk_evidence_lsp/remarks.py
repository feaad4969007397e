"""What is said of a document and what mends it, as values of the protocol. No package is needed for that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from adk_evidence_lsp.documents import Position, Snapshot

if TYPE_CHECKING:
    from adk_evidence.checks.calls import Remark
    from adk_evidence.checks.drift import DriftChecker
    from adk_evidence.checks.fixes import Edit
    from adk_evidence.documents.document import PythonDocument

SOURCE = "ADK Evidence"
QUICK_FIX = "quickfix"
# Mends what nobody needs to look at, all in one.
FIX_ALL = "source.fixAll.adkEvidence"
# Nobody reads more.
MAX_REMARKS = 100
# The protocol counts them from 1.
_SEVERITIES = ("error", "warning", "information", "hint")
_DEPRECATED = 2


def may_concern(snapshot: Snapshot) -> bool:
    """Whether a document may name the ADK, or what is checked beside it. Most Python files need not be parsed."""
    return snapshot.language == "python" and any(name in snapshot.text for name in ("google", "mcp", "a2a"))


class Said(NamedTuple):
    """What is said of a document, and by what."""

    snapshot: Snapshot
    document: PythonDocument
    checker: DriftChecker
    remarks: list[Remark]


def said_of(snapshot: Snapshot, document: PythonDocument, checker: DriftChecker, severity: Mapping[str, str]) -> Said:
    """What is said of a document but for rules that the user has switched off."""
    from adk_evidence.checks.remarks import CODES, all_remarks

    shown = (one for one in all_remarks(checker, document) if severity.get(CODES[one.kind]) != "off")
    return Said(snapshot, document, checker, list(islice(shown, MAX_REMARKS)))


def diagnostic_of(snapshot: Snapshot, remark: Remark, severity: Mapping[str, str]) -> dict[str, Any]:
    """A remark as a diagnostic; `severity` has what the user has set for rules, by their codes."""
    from adk_evidence.checks.remarks import CODES

    code, is_deprecated = CODES[remark.kind], remark.kind == "deprecated"
    return {
        "range": _range(snapshot, (remark.line, remark.start), (remark.line, remark.end)),
        "message": remark.text,
        "severity": 1 + _SEVERITIES.index(severity.get(code, "hint" if is_deprecated else "warning")),
        "code": code,
        "source": SOURCE,
        **({"tags": [_DEPRECATED]} if is_deprecated else {}),
    }


def wants_fix_all(only: Iterable[str] | None) -> bool | None:
    """Whether a client that asks for some kinds of actions alone wants all fixes in one; None: it wants quick fixes."""
    if only is None or any(kind in ("", QUICK_FIX) for kind in only):
        return None
    return any(f"{FIX_ALL}.".startswith(f"{kind}.") for kind in only)


def quick_fix(said: Said, start: Position, code: object) -> dict[str, Any] | None:
    """The action that mends what the diagnostic with a code is about that begins somewhere; None where there is none.

    What the client sends back only says which remark is meant, which the text may not have any more.
    """
    from adk_evidence.checks.fixes import fix_of
    from adk_evidence.checks.remarks import CODES

    meant = (*said.snapshot.place(start), code)
    remark = next((one for one in said.remarks if (one.line, one.start, CODES[one.kind]) == meant), None)
    fix = fix_of(said.checker, said.document, remark) if remark else None
    if remark is None or fix is None:
        return None
    # A value for an argument is not known.
    preferred, edit = remark.kind != "argument", _edit(said.snapshot, fix.edits)
    return {"title": fix.title, "kind": QUICK_FIX, "isPreferred": preferred, "edit": edit}


def fix_all(said: Said) -> list[dict[str, Any]]:
    """One action that mends all that is certain; none where nothing is."""
    from adk_evidence.checks.fixes import certain_edits

    edits = certain_edits(said.checker, said.document, said.remarks)
    title = "Fix all that does not fit google-adk and is certain"
    return [{"title": title, "kind": FIX_ALL, "edit": _edit(said.snapshot, edits)}] if edits else []


def _edit(snapshot: Snapshot, edits: Iterable[Edit]) -> dict[str, Any]:
    changes = [{"range": _range(snapshot, edit.start, edit.end), "newText": edit.text} for edit in edits]
    return {"changes": {snapshot.uri: changes}}


def _range(snapshot: Snapshot, start: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    return {"start": snapshot.position(*start), "end": snapshot.position(*end)}

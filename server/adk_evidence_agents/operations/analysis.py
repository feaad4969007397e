"""`analyze`: what an index holds and repeats, and how far it is up to date."""

from __future__ import annotations

from adk_evidence.analysis.analyse import analyse
from adk_evidence.errors import SourceError
from adk_evidence.index.indexer import Survey
from adk_evidence.index.registry import IndexSummary, list_indexes
from adk_evidence.models.analysis import AnalysisOptions, IndexAnalysis
from adk_evidence.search.session import Session
from adk_evidence_agents.operations.run import Run


def analyze(run: Run, options: AnalysisOptions) -> tuple[IndexAnalysis, ...]:
    """Analyse each index, which reads every chunk and looks at every file of its sources."""
    known = {summary.name: summary for summary in list_indexes(run.indexes.settings)}

    def look(name: str, session: Session) -> IndexAnalysis:
        return analyse(
            session.index,
            known.get(name) or IndexSummary(name, None),
            _survey(run, name, session),
            options,
            run.progress,
            run.context.stop_if_cancelled,
        )

    return tuple(run.ask_each(look, freshen=False))


def _survey(run: Run, name: str, session: Session) -> Survey | None:
    """What the sources hold now; None where that cannot be told, with a note."""
    run.progress(0, None, f"Looking at the sources of {name}.")
    try:
        found = run.make_indexer(run.indexes.settings).survey(session.index, session.settings)
    except SourceError as exc:
        run.notes.fail(exc, "warning", name)
        return None
    for why in found.unread.values():
        run.notes.fail(why, "warning", name)
    return found

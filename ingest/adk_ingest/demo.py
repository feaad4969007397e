"""What `adk-evidence demo` needs before it can answer: an index of the ADK corpora."""

from __future__ import annotations

from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_ingest.chunkers import index_fingerprint
from adk_ingest.progress import Silent
from adk_ingest.session import Sources, ingest
from adk_ingest.sources.resolve import DEMO_ORDER


def prepare(settings: Settings, progress: Silent) -> None:
    """Ingest unless a complete index of this version is there.

    The docs come from a clone if it can be reached within seconds, else from `ADK_EVIDENCE_DOCS`, else the API
    reference stands in; the progress says which.
    """
    current = open_generations(settings).current()
    if current is not None and current.manifest.dense == "complete":
        if current.manifest.fingerprint == index_fingerprint(settings):
            return
        progress.note("The index is of an older version or of other settings; it is built anew.")
    with progress:
        ingest(settings, "all", Sources(docs_order=DEMO_ORDER), progress)

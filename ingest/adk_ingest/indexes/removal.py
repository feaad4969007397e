"""Removes a named index: its generations, its collections on a server, its record and its folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from adk_evidence.errors import EvidenceError, IndexMismatchError, IngestError
from adk_evidence.files import remove_tree
from adk_evidence.index.registry import registry
from adk_evidence.settings import Settings
from adk_evidence.store.factory import make_publisher, open_generations


def remove_index(settings: Settings, record: str) -> None:
    """Remove the index of these settings; the caller holds the registry. `record` is the name of its record's file.

    Raises:
        StoreError: It is being written or read, or its collections cannot be dropped.
        IndexMismatchError: It is in a store of another kind than the settings name.
    """
    generations = open_generations(settings)
    current = generations.current()
    if current is not None and current.manifest.store != settings.store.kind:
        raise IndexMismatchError(
            f"The index {settings.paths.named} is in a store of kind {current.manifest.store}, and the settings say "
            f"{settings.store.kind}.",
            "Change `store.kind` back to remove it.",
        )
    generations.clear()
    make_publisher(settings).clear()
    (settings.paths.own / record).unlink(missing_ok=True)
    remove_tree(settings.paths.own)


@contextmanager
def kept_if_published(main: Settings, settings: Settings, record: str, *, is_new: bool) -> Iterator[None]:
    """Remove what a failed first run of an index leaves; where that cannot be done, at least the name.

    Args:
        main: Settings of the main index.
        settings: Settings of the index that the run builds.
        record: Name of its record's file.
        is_new: Whether the run registered the index.
    """
    try:
        yield
    except BaseException as exc:
        if not is_new or open_generations(settings).current() is not None:
            raise
        try:
            with registry(main):
                remove_index(settings, record)
        except EvidenceError:
            with suppress(OSError):
                (settings.paths.own / record).unlink(missing_ok=True)
        if type(exc) is IngestError:
            # The report that its hint names went with the folder.
            raise IngestError(exc.message, "Nothing is kept of this index; mend that and try again.") from exc
        raise

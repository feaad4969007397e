"""The generations of an index on a Qdrant server as a whole: aliases, and collections that nobody needs any more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from adk_evidence.errors import StoreError
from adk_evidence.models.chunk import KINDS
from adk_evidence.settings import Settings
from adk_evidence.store.files import write_atomic
from adk_evidence.store.index_manifest import IndexManifest
from adk_evidence.store.qdrant_server import OLDEST_SERVER, ServerIndexReader, ServerRecord
from adk_evidence.store.server_client import ServerConnection, connect, query_patience, upload_patience

if TYPE_CHECKING:
    from qdrant_client import models


class ServerIndex:
    """What publishing, going back and tidying up mean on a server.

    Several home folders may publish to one server: each one's readers keep to the collections that its own generations
    name, each one drops only what it created, and moves the aliases of another one only where the settings say so.

    Args:
        settings: `store` names the server; the home folder keeps a journal of what was created.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._journal = settings.paths.server_collections
        self._generations = settings.index_path / "generations"

    def prepare(self) -> None:
        """Before a run: make sure that it can end well, and drop what dead runs left behind.

        Raises:
            StoreError: The server cannot be reached, is too old, or has a collection, or the alias of another home,
                where an alias must go.
        """
        with connect(self._settings, query_patience(self._settings)) as connection:
            version = connection.version()
            if version and version < OLDEST_SERVER:
                found, oldest = (".".join(map(str, numbers)) for numbers in (version, OLDEST_SERVER))
                raise StoreError(
                    f"The Qdrant server at {connection.url} is version {found}; {oldest} is the oldest that works.",
                    "Update the server.",
                )
            taken = _collections(connection).intersection(self._aliases())
            if taken:
                raise StoreError(
                    f"The Qdrant server has a collection {min(taken)}, and the index needs that name for an alias.",
                    "Delete that collection, or change `store.docs_collection` and `store.code_collection`.",
                )
            self._require_own(self.aliases(connection))
            self._drop_unneeded(connection)

    def holds(self, folder: Path, manifest: IndexManifest) -> bool:
        """Whether every point of a generation is still on the server.

        Raises:
            StoreError: The server cannot be asked.
        """
        record = ServerRecord.read(folder)
        if record is None:
            return False
        connection = connect(self._settings, query_patience(self._settings))
        reader = ServerIndexReader(folder, manifest.specs(), connection)
        try:
            if not _collections(connection).issuperset(record.collections.values()):
                return False
            return all(reader.count(name) == points for name, points in manifest.counts().items())
        finally:
            reader.close()

    def register(self, names: Iterable[str]) -> None:
        """Note collections before they are created.

        Raises:
            StoreError: The index folder cannot be written.
        """
        self._write_journal(self._read_journal() | set(names))

    def publish(self, folder: Path) -> None:
        """Move the aliases to a generation's collections, all in one step.

        Raises:
            StoreError: The server refuses or cannot be reached, or an alias is that of another home; the aliases are
                as they were.
        """
        record = ServerRecord.read(folder)
        if record is None:
            raise StoreError(f"The index generation {folder.name} is not on a Qdrant server.", "Run `adk-ingest all`.")
        from qdrant_client import models

        with connect(self._settings, upload_patience(self._settings)) as connection:
            existing = self.aliases(connection)
            self._require_own(existing)
            steps: list[models.AliasOperations] = []
            for alias, collection in record.collections.items():
                if alias in existing:
                    steps.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
                create = models.CreateAlias(alias_name=alias, collection_name=collection)
                steps.append(models.CreateAliasOperation(create_alias=create))
            connection.call(lambda client: client.update_collection_aliases(steps))

    def collect_garbage(self) -> None:
        """Drop the collections of generations whose folders are gone.

        Raises:
            StoreError: The server cannot be reached; the next run tries again.
        """
        with connect(self._settings, query_patience(self._settings)) as connection:
            self._drop_unneeded(connection)

    def aliases(self, connection: ServerConnection) -> dict[str, str]:
        """The server's aliases of the settings' names, with the collections that they point to."""
        found = connection.call(lambda client: client.get_aliases()).aliases
        wanted = self._aliases()
        return {each.alias_name: each.collection_name for each in found if each.alias_name in wanted}

    def _aliases(self) -> set[str]:
        return {self._settings.store.collection(kind) for kind in KINDS}

    def _require_own(self, aliases: Mapping[str, str]) -> None:
        """Refuse to move an alias that somebody else's clients may rely on."""
        if self._settings.store.take_over_aliases:
            return
        own = self._read_journal() | self._needed()
        foreign = sorted(alias for alias, collection in aliases.items() if collection not in own)
        if foreign:
            raise StoreError(
                f"The alias {foreign[0]} on the Qdrant server at {self._settings.store.url} points to what another "
                "home folder published.",
                "Choose other names for the collections (of a codebase, another name for its index), or set "
                "`store.take_over_aliases` to move it.",
            )

    def _drop_unneeded(self, connection: ServerConnection) -> None:
        for name in sorted(self._read_journal() - self._needed()):
            connection.call(lambda client, name=name: client.delete_collection(name))  # type: ignore[misc]
            self._write_journal(self._read_journal() - {name})

    def _needed(self) -> set[str]:
        if not self._generations.is_dir():
            return set()
        records = (ServerRecord.read(folder) for folder in self._generations.iterdir())
        return {name for record in records if record for name in record.collections.values()}

    def _read_journal(self) -> set[str]:
        try:
            return set(json.loads(self._journal.read_bytes())["collections"])
        except (OSError, ValueError, KeyError, TypeError):
            # Without it collections may stay on the server; none is dropped that is not known to be ours.
            return set()

    def _write_journal(self, names: set[str]) -> None:
        try:
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(self._journal, json.dumps({"collections": sorted(names)}, indent=1).encode())
        except OSError as exc:
            raise StoreError(f"{self._journal} cannot be written: {exc.strerror or exc}.") from exc


def _collections(connection: ServerConnection) -> set[str]:
    return {each.name for each in connection.call(lambda client: client.get_collections()).collections}

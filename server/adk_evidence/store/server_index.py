"""The aliases of an index on a Qdrant server, and the removal of collections that nobody needs any more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adk_evidence.errors import StoreError
from adk_evidence.files import write_atomic
from adk_evidence.models.chunk import KINDS
from adk_evidence.services.qdrant import ServerConnection, ServerError, connect, query_patience, upload_patience
from adk_evidence.settings import Settings
from adk_evidence.store.generations import GenerationStore, Publisher
from adk_evidence.store.manifest import IndexManifest
from adk_evidence.store.qdrant_server import OLDEST_SERVER, ServerIndexReader, ServerRecord

if TYPE_CHECKING:
    from qdrant_client import models


class ServerIndex(Publisher):
    """Publishing, rolling back and tidying up on a server.

    Several home folders may publish to one server. The readers of each home use the collections that its generations
    name. A home drops only collections that it created, and moves the aliases of another home only if the settings
    allow that.

    Args:
        settings: `store` names the server; the home folder keeps a journal of created collections.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._journal = settings.paths.server_collections
        self._generations = settings.index_path / "generations"

    def prepare(self) -> None:
        """Before a run: make sure that it can succeed, repair the aliases and drop what dead runs left behind.

        Raises:
            StoreError: The server cannot be reached or is too old, or a needed alias is the name of a collection or
                belongs to another home.
        """
        with connect(self._settings, query_patience(self._settings)) as connection:
            _require_version(connection)
            taken = _collections(connection).intersection(self._aliases())
            if taken:
                raise StoreError(
                    f"The Qdrant server has a collection {min(taken)}, and the index needs that name for an alias.",
                    "Delete that collection, or change `store.docs_collection` and `store.code_collection`.",
                )
            existing = self.aliases(connection)
            self._require_own(existing)
            self._mend(connection, existing)
            self._drop_unneeded(connection)

    def holds(self, folder: Path, manifest: IndexManifest) -> bool:
        """Whether every point of a generation is still on the server."""
        record = _readable(folder)
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
        """Note collections before they are created."""
        self._write_journal(self._read_journal() | dict.fromkeys(names, str(self._settings.index_path)))

    def publish(self, folder: Path) -> None:
        """Move the aliases to a generation's collections.

        A server carries out the steps of a request one after another, and a failed request may have done some of them.
        After a failure the aliases are read again and set back to their old state, if the server lets that happen.

        Raises:
            StoreError: The server refuses or cannot be reached, or an alias belongs to another home.
        """
        record = ServerRecord.read(folder)
        if record is None:
            raise StoreError(f"The index generation {folder.name} is not on a Qdrant server.", "Run `adk-ingest all`.")
        with connect(self._settings, upload_patience(self._settings)) as connection:
            before = self.aliases(connection)
            self._require_own(before)
            try:
                self._move(connection, before, {**before, **record.collections})
            except ServerError as exc:
                self._bring_back(connection, before, record.collections, exc)

    def _move(self, connection: ServerConnection, existing: Mapping[str, str], wanted: Mapping[str, str]) -> None:
        """Make the existing aliases exactly the wanted ones."""
        from qdrant_client import models

        steps: list[models.AliasOperations] = []
        for alias in sorted(alias for alias in {*existing, *wanted} if existing.get(alias) != wanted.get(alias)):
            if alias in existing:
                steps.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
            if alias in wanted:
                create = models.CreateAlias(alias_name=alias, collection_name=wanted[alias])
                steps.append(models.CreateAliasOperation(create_alias=create))
        if steps:
            connection.call(lambda client: client.update_collection_aliases(steps))

    def _bring_back(
        self, connection: ServerConnection, before: Mapping[str, str], wanted: Mapping[str, str], failure: ServerError
    ) -> None:
        """After a failed move: set the aliases back and raise an error, unless all of them were moved nevertheless."""
        with suppress(ServerError):
            found = self.aliases(connection)
            if found == {**before, **wanted}:
                return
            if found != before:
                self._move(connection, found, before)
        raise StoreError(
            f"The aliases could not be moved: {failure.reason}.",
            "Run the same command again once the server works: it sets them right.",
        ) from failure

    def collect_garbage(self) -> None:
        """Drop the collections of generations whose folders are gone; after a failure the next run tries again."""
        with connect(self._settings, query_patience(self._settings)) as connection:
            self._drop_unneeded(connection)

    def clear(self) -> None:
        """Drop all collections of an index whose generations were all removed, and with them its aliases."""
        with connect(self._settings, query_patience(self._settings)) as connection:
            needed = self._needed()
            if needed is not None:
                self._drop_all_but(needed, connection)

    def aliases(self, connection: ServerConnection) -> dict[str, str]:
        """The aliases on the server that have the settings' names, with their collections."""
        wanted = self._aliases()
        return {alias: collection for alias, collection in _aliases(connection).items() if alias in wanted}

    def _aliases(self) -> set[str]:
        return {self._settings.store.collection(kind) for kind in KINDS}

    def _require_own(self, aliases: Mapping[str, str]) -> None:
        """Refuse to move an alias that clients of another home may rely on."""
        if self._settings.store.take_over_aliases:
            return
        own = self._own()
        foreign = [alias for alias, collection in aliases.items() if collection not in own]
        if foreign:
            raise StoreError(
                f"The alias {min(foreign)} on the Qdrant server at {self._settings.store.url} points to what another "
                "home folder published.",
                "Choose other names for the collections (of a codebase, another name for its index), or set "
                "`store.take_over_aliases` to move it.",
            )

    def _mend(self, connection: ServerConnection, existing: Mapping[str, str]) -> None:
        """Point our aliases to the current generation: a run that died during publishing may have moved them."""
        current = GenerationStore(self._settings.index_path).current()
        record = _readable(current.folder) if current else None
        if record is None:
            return
        # An alias that another index of this home has moved since stays.
        own, there = self._created_here() | (self._needed() or set()), _collections(connection)
        wanted = {
            alias: collection
            for alias, collection in record.collections.items()
            if alias in self._aliases() and collection in there and existing.get(alias, collection) in own
        }
        self._move(connection, existing, {**existing, **wanted})

    def _drop_unneeded(self, connection: ServerConnection) -> None:
        needed = self._needed()
        if needed is not None:
            # Dropping a collection would delete the aliases that point to it.
            self._drop_all_but(needed | set(self.aliases(connection).values()), connection)

    def _drop_all_but(self, needed: set[str], connection: ServerConnection) -> None:
        """Drop what this home created for this index. Where the needed collections are unknown, do not call this."""
        for name in sorted(self._created_here() - needed):
            _drop(connection, name)
            self._write_journal({other: index for other, index in self._read_journal().items() if other != name})

    def _created_here(self) -> set[str]:
        """Collections that this home created for this index."""
        here = str(self._settings.index_path)
        return {name for name, index in self._read_journal().items() if index == here}

    def _own(self) -> set[str]:
        """Collections that this home created, or whose generations it has."""
        return set(self._read_journal()) | (self._needed() or set())

    def _needed(self) -> set[str] | None:
        """The collections of all generations; None if a record cannot be read."""
        if not self._generations.is_dir():
            return set()
        try:
            records = [ServerRecord.read(folder) for folder in self._generations.iterdir()]
        except StoreError:
            return None
        return {name for record in records if record for name in record.collections.values()}

    def _read_journal(self) -> dict[str, str]:
        """Created collections, with the index folders that they were created for."""
        try:
            names = json.loads(self._journal.read_bytes())["collections"]
            return {str(name): str(index) for name, index in names.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # Without the journal, collections may stay on the server, but no foreign collection is dropped.
            return {}

    def _write_journal(self, names: Mapping[str, str]) -> None:
        try:
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(self._journal, json.dumps({"collections": names}, indent=1, sort_keys=True).encode())
        except OSError as exc:
            raise StoreError(f"{self._journal} cannot be written: {exc.strerror or exc}.") from exc


def _readable(folder: Path) -> ServerRecord | None:
    """The record of a generation; None if there is no readable record, so that its points are lost."""
    try:
        return ServerRecord.read(folder)
    except StoreError:
        return None


def _require_version(connection: ServerConnection) -> None:
    version = connection.version()
    if version and version < OLDEST_SERVER:
        found, oldest = (".".join(map(str, numbers)) for numbers in (version, OLDEST_SERVER))
        raise StoreError(
            f"The Qdrant server at {connection.url} is version {found}; {oldest} is the oldest that works.",
            "Update the server.",
        )


def _collections(connection: ServerConnection) -> set[str]:
    return {each.name for each in connection.call(lambda client: client.get_collections()).collections}


def _aliases(connection: ServerConnection) -> dict[str, str]:
    """All aliases on the server, with their collections."""
    found = connection.call(lambda client: client.get_aliases()).aliases
    return {each.alias_name: each.collection_name for each in found}


def _drop(connection: ServerConnection, collection: str) -> None:
    connection.call(lambda client: client.delete_collection(collection))

"""Files beside a talk, in versions."""

from __future__ import annotations

from pathlib import Path


class FolderStore:
    """Files in a folder, one below another by owner and session."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def save(self, owner: str, session: str, name: str, data: bytes) -> int:
        """Keep bytes under a name; returns the new version, counted from zero."""
        folder = self._root / owner / session / name
        folder.mkdir(parents=True, exist_ok=True)
        version = len(list(folder.iterdir()))
        (folder / str(version)).write_bytes(data)
        return version

    def load(self, owner: str, session: str, name: str, version: int | None = None) -> bytes:
        """The latest version of a file, or a given one.

        Raises:
            FileNotFoundError: There is no such file or version.
        """
        folder = self._root / owner / session / name
        if version is None:
            version = len(list(folder.iterdir())) - 1
        return (folder / str(version)).read_bytes()


class BucketStore(FolderStore):
    """Files in a bucket that several machines share."""

    def __init__(self, bucket: str, credentials: dict[str, str]) -> None:
        self.bucket = bucket
        self._credentials = credentials

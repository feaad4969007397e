"""What agents mean by a path to search in."""

from __future__ import annotations

_EVERYWHERE = ("", ".", "/")


def in_any_folder(path: str | None) -> tuple[str, ...]:
    """The globs of a path that may begin in any folder, unless it begins with a slash; none of everything.

    An agent knows the folder of its project, or the end of a path, and not where that lies in the indexed repository.
    """
    path = (path or "").replace("\\", "/").removeprefix("./")
    if path in _EVERYWHERE:
        return ()
    return (path,) if path.startswith(("/", "**/")) else (f"**/{path}",)

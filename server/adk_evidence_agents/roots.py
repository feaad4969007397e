"""The folders of this machine that the user lets agents look into."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from adk_evidence.errors import InvalidRequestError
from adk_evidence.paths import holds_the_users_home
from adk_evidence.settings import Settings


def check_below_roots(settings: Settings, path: Path, parameter: str) -> None:
    """Refuse a path, with links resolved, that does not lie below the allowed folders.

    The refusal does not say whether the path exists; `parameter` is what gave the path.

    Raises:
        InvalidRequestError: The path lies elsewhere; the sentence says what is allowed.
    """
    roots = _roots(settings)
    if not _is_below(path, roots):
        allowed = f"Allowed is what lies below {' or '.join(map(str, roots))}" if roots else "No folder is allowed yet"
        raise InvalidRequestError(
            f"{parameter} does not lie below a folder that agents may look into.",
            f"{allowed}. The user can allow more with --root FOLDER or the setting agents.roots.",
        )


def allowed_file(settings: Settings, given: str, parameter: str) -> Path:
    """The file that an agent names: by an absolute path, or by one from an allowed folder.

    Raises:
        InvalidRequestError: The path lies elsewhere, or is none.
    """
    try:
        # Where the path does not begin at the root of the disk, the first folder that has the file is meant.
        roots = _roots(settings)
        found = [(root / given).resolve() for root in (*roots, Path.cwd())]
        file = next((file for file in found if _is_below(file, roots) and file.is_file()), found[0])
    except (OSError, ValueError, RuntimeError):  # a NUL in the path, a loop of links
        raise InvalidRequestError(f"{parameter} is not a file on this machine.", "Check the path.") from None
    check_below_roots(settings, file, parameter)
    return file


def _is_below(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _roots(settings: Settings) -> tuple[Path, ...]:
    """The folders of the settings, else the working folder."""
    if settings.agents.roots:
        return tuple(root.resolve() for root in settings.agents.roots)
    here = Path.cwd().resolve()
    # Editors and desktop programs start servers in the home folder or in `/`: nobody chose these.
    return () if holds_the_users_home(here) else (here,)

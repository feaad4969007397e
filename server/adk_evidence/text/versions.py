"""Versions of distributions as texts: the one place where they are read, compared and spelled."""

from __future__ import annotations

import functools
import re

from packaging.version import InvalidVersion, Version

from adk_evidence.errors import InvalidRequestError

# Python refuses to read numbers of thousands of digits, and no version is this long.
MAX_VERSION_CHARS = 64
# Releases of the ADK have three numbers; `1.18` is the same version as `1.18.0`.
_NUMBERS = 3
_TAG = re.compile(r"v?\d+\.\d")


# The same few versions are read for every result.
@functools.lru_cache(maxsize=1024)
def read_version(text: str) -> Version | None:
    """The version that a text is, with or without a leading `v`; None of other texts."""
    try:
        return Version(text) if len(text) <= MAX_VERSION_CHARS else None
    except InvalidVersion:
        return None


@functools.lru_cache(maxsize=1024)
def read_release(text: str) -> Version | None:
    """The version that a text is, without the local part of builds of one's own: `1.18.0` for `1.18.0+mine`."""
    version = read_version(text)
    return None if version is None else Version(version.public)


def checked_version(text: str) -> str:
    """A version of the ADK in its one spelling: `v1.18` and `1.18.0` are `1.18.0`.

    Raises:
        InvalidRequestError: The text is not one released version.
    """
    version = read_version(text)
    if version is None or version.epoch or version.local:
        raise InvalidRequestError(f"{text[:80]!r} is not a version of google-adk.", "Name one such as 1.18.0.")
    numbers = ".".join(map(str, (*version.release, 0, 0)[: max(_NUMBERS, len(version.release))]))
    given = ".".join(map(str, version.release))
    return str(version).replace(given, numbers, 1)


def is_same_version(one: str | None, other: str | None) -> bool:
    """Whether two texts are the same version, however each is spelled."""
    version = read_version(one or "")
    return version is not None and version == read_version(other or "")


def tagged_version(name: str) -> Version | None:
    """The version that a tag such as `v2.13.0` names; None of branches and of commits, also those of digits alone."""
    return read_version(name) if _TAG.match(name) else None

"""Prints the versions of all requirements of adk-evidence as they are installed beside it, one `name==version` a line.

These are what the tests ran with; pip takes them as constraints, so that a platform on which others are needed besides
gets those by its own resolution.
"""

from __future__ import annotations

import importlib.metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What the extension installs besides: its command for the Voyage key and its server for agents need them.
EXTRAS = frozenset({"mcp", "voyage"})


def required(name: str, extras: frozenset[str]) -> dict[str, str]:
    """Versions of everything that a distribution with these extras needs, directly or not, by canonical name."""
    versions: dict[str, str] = {}
    seen = set()
    waiting: list[tuple[str, frozenset[str]]] = [(name, extras)]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        current, wanted = one
        distribution = importlib.metadata.distribution(current)
        if current != name:
            versions[canonicalize_name(current)] = distribution.version
        for line in distribution.requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in {"", *wanted}):
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return versions


if __name__ == "__main__":
    for package, version in sorted(required("adk-evidence", EXTRAS).items()):
        # A local part ("+cpu") names a build of one registry.
        print(f"{package}=={version.partition('+')[0]}")

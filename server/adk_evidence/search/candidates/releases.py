"""What the released versions of the ADK say of a name that the indexed code lacks, and of packages that are missing."""

from __future__ import annotations

import re

from adk_evidence.api.lacks import lack_at
from adk_evidence.models.warning import Warning
from adk_evidence.render import wording
from adk_evidence.search.stages import Question

MAX_MISSING = 3
_NAME = r"[A-Za-z_]\w{0,99}"
_PATH = rf"google\.adk(?:\.{_NAME}){{0,9}}"
# What Python says of a module, an imported name, an attribute and a keyword that are missing.
_MISSING = re.compile(
    rf"No module named '(?P<module>{_PATH})'"
    rf"|cannot import name '(?P<name>{_NAME})' from '(?P<package>{_PATH})'"
    rf"|(?:module|type object) '(?P<owner>{_PATH}|{_NAME})' has no attribute '(?P<attribute>{_NAME})'"
    rf"|\b(?P<callable>{_NAME}(?:\.{_NAME}){{0,2}})\(\) got an unexpected keyword argument '(?P<keyword>{_NAME})'"
)
# Distributions share the package `google.cloud`, so that one of them may be missing in it.
_NO_MODULE = re.compile(
    rf"No module named '?({_NAME}(?:\.{_NAME}){{0,9}})\b|cannot import name '({_NAME})' from 'google\.cloud'"
)


def told_by_releases(question: Question, name: str) -> str | None:
    """A sentence on a name that the searched version of the ADK lacks, where another version has the name.

    An import path that no version has is said to be none. None where the table of versions says nothing of the name,
    or where the version of the index is not known.
    """
    return lack_at(question.scope.version, name)


def names_in_error(question: Question) -> list[tuple[str, str]]:
    """The names that a pasted error says are missing and another version has, each with a sentence on the versions.

    Whoever pastes such an error may follow docs of another version than the one that runs.
    """
    names: dict[str, None] = {}
    for match in _MISSING.finditer(question.query.text):
        found = match.groupdict()
        if found["module"]:
            names.setdefault(found["module"])
        elif found["package"]:
            names.setdefault(f"{found['package']}.{found['name']}")
        elif found["owner"]:
            names.setdefault(f"{found['owner']}.{found['attribute']}")
        else:
            names.setdefault(f"{found['callable'].removesuffix('.__init__')}({found['keyword']}=)")
    sentences = ((name, told_by_releases(question, name)) for name in list(names)[:MAX_MISSING])
    return [(name, sentence) for name, sentence in sentences if sentence is not None]


def missing_extras(question: Question) -> list[Warning]:
    """Warnings of the packages that a question says are missing, and that an extra of the searched version brings."""
    modules = dict.fromkeys(
        match[1] or f"google.cloud.{match[2]}" for match in _NO_MODULE.finditer(question.query.text)
    )
    # Another version may require the package always, or by another extra.
    search = question.targets_of_version if modules else None
    version = question.scope.version
    if search is None or version is None:
        return []
    extras = {module: search.extra_with(module) for module in list(modules)[:MAX_MISSING]}
    return [wording.extra_missing(extra, version, module) for module, extra in extras.items() if extra]

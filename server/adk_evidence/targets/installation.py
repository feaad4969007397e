"""What the user has installed: whether google-adk has a symbol there, and the symbols of other packages."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from adk_evidence.api.constructors import default, field_text
from adk_evidence.api.history import History, Place
from adk_evidence.errors import EvidenceError
from adk_evidence.index.neighbours import PACKAGES, Environment, Neighbour, neighbours
from adk_evidence.index.project import ProjectAdk, find_adk
from adk_evidence.models.citation import code_citation
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.python import (
    Definition,
    Function,
    call_form,
    clip,
    first_line,
    first_paragraph,
    last_line,
    unparse,
)
from adk_evidence.readers.python import signature as signature_of
from adk_evidence.targets.target import Availability, RankedTarget, Target, TargetType, Why
from adk_evidence.text.versions import is_same_version

# Of the symbols of a package that go by one name, and what is shown of each.
MAX_NAMED = 2
MAX_SUMMARY_CHARS = 600
_BOUND = re.compile(r"\bdef (\w+)\((?:(?:self|cls)\b(?:, )?)?")
_MADE = re.compile(r"^def __init__\(self(?:, )?")
_TYPES: dict[str, TargetType] = {"c": "class", "f": "function", "a": "function", "p": "property"}


def find_installed(python: Path | None = None) -> ProjectAdk | None:
    """The google-adk in the user's environment, or None where there is none.

    Args:
        python: An interpreter or the folder of a virtual environment; by default the active environment, else the
            running interpreter.

    Raises:
        InvalidRequestError: `python` is neither an interpreter nor an environment.
    """
    if python is not None:
        return find_adk(python=python)
    return find_adk(active=True) or find_adk(python=Path(sys.executable))


def availability(
    target: Target, installed: ProjectAdk | None, ref: str | None, names: Sequence[str] = ()
) -> Availability:
    """Whether an installed version has a target; the version that was indexed, e.g. `v2.13.0`, has every target.

    Of what is no release, and of versions that the table of releases does not know, nobody knows. `names` are others
    that the target goes by: what another class of the installed version defined may stand in this one now.
    """
    if installed is None:
        return "unknown"
    if is_same_version(installed.version, ref):
        return "true"
    with suppress(EvidenceError):
        history = History.load()
        known = history.exactly(installed.version) if installed.exact else None
        if known is not None and target.fqn.startswith(f"{history.package}."):
            # Another version may not export by the same package what it has all the same.
            is_there = known.definition(target.fqn) is not None or any(map(known.has, names))
            has = True if is_there else known.has(target.import_path)
            return "unknown" if has is None else "true" if has else "false"
    return "unknown"


def named_beside(environment: Environment, query: str) -> list[RankedTarget]:
    """The public symbols beside google-adk that a name such as `types.Content` is of, the likeliest of each package."""
    named: list[RankedTarget] = []
    for found in neighbours(environment, [packages[0] for packages in PACKAGES.values()]):
        places = dict.fromkeys(map(found.api.definition, found.api.history.paths(query)))
        shown = (_shown(found, place) for place in places if place is not None and place.name)
        named += itertools.islice((one for one in shown if one is not None), MAX_NAMED)
    return named


def _shown(found: Neighbour, place: Place) -> RankedTarget | None:
    """A definition as a search for it would find it; None where its file has changed."""
    api, module, node = found.api, found.module(place.module), found.node(place)
    path = api.import_path(place)
    if module is None or node is None or path is None:
        return None
    kind = (api.payload(place) or "")[:1]
    made = found.node(Place(place.module, f"{place.name}.__init__")) if kind == "c" else None
    members = [api.definition(f"{place.path}.{name}") for name in api.members_of(place.path)]
    called = (found.node(one) for one in members if one is not None and (api.payload(one) or "")[:1] in ("f", "a"))
    methods = (call_form(text) for one in called if isinstance(one, Function) and (text := signature_of(one)))
    if isinstance(node, Definition):
        summary, signature = first_paragraph(node), signature_of(made if isinstance(made, Function) else node)
    else:
        summary, signature = field_text(getattr(node, "value", None)), unparse(node)
    start, end = first_line(node), last_line(node)
    inside: TargetType = "method" if kind in ("f", "a") else "attribute"
    return RankedTarget(
        fqn=place.path,
        name=place.name.rpartition(".")[2],
        symbol=place.name,
        type=inside if "." in place.name and kind not in ("c", "p") else _TYPES.get(kind, "variable"),
        import_path=path,
        import_statement=f"from {path.removesuffix(f'.{place.name}')} import {place.name.partition('.')[0]}",
        summary=clip(summary or "", MAX_SUMMARY_CHARS),
        signature=_MADE.sub(f"{place.name}(", signature or "").removesuffix(" -> None"),
        fields=tuple(_fields(found, place)) if kind == "c" and made is None else (),
        methods=tuple(_BOUND.sub(r"\1(", text) for text in methods),
        path=module.path,
        lines=LineSpan(start=start, end=end),
        citation=code_citation(api.history.table.distribution, api.version, module.path, start, end),
        rank=1,
        rank_score=1.0,
        deprecated=api.deprecation(place.path) is not None,
        alias_of=None,
        score=1.0,
        why=Why(match="exact"),
        available="true",
    )


def _fields(found: Neighbour, cls: Place) -> Iterator[str]:
    """The fields that a class is made with, required ones first, or the members of an enumeration."""
    known = found.api.keywords(cls.path)
    names = known.shown if known and known.names else found.api.members_of(cls.path)
    required = known.required if known else frozenset[str]()
    for name in sorted(names, key=lambda name: name not in required):
        place = found.api.definition(f"{cls.path}.{name}")
        node = found.node(place) if place else None
        if isinstance(node, ast.AnnAssign):
            value = default(node.value)
            yield f"{name}: {unparse(node.annotation)}{f' = {value}' if value else ''}"
        elif isinstance(node, ast.Assign):
            yield f"{name} = {default(node.value)}"

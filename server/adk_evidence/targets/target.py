"""A ranked target, and what a search for targets answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from adk_evidence.models.base import Frozen
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.python import clip
from adk_evidence.text.identifiers import module_of, split_identifier

if TYPE_CHECKING:
    from adk_evidence.index.versions import ChosenIndex

TargetType = Literal["class", "function", "method", "property", "attribute", "variable"]
SearchMode = Literal["auto", "lexical", "vector", "hybrid"]
AnswerMode = Literal["lookup", "lexical", "vector", "hybrid"]
Typed = Literal["name", "code", "natural"]
Availability = Literal["true", "false", "unknown"]
# Public, or for the inside of the package: by an underscore in its path (`private`), or because neither docs nor
# exports speak of it (`internal`).
Standing = Literal["public", "internal", "private"]
Match = Literal["exact", "prefix", "similar_name", "words", "meaning"]

MAX_QUERY_CHARS = 1000
MAX_TARGETS = 100
MAX_SEARCHED_CHARS = 300
# `ToolContext = Context`, but not `google_search = GoogleSearchTool()`.
_NAME_AS_VALUE = re.compile(r"= [\w.]+$")


class RankParts(Frozen):
    """What a target's score is made of. All numbers but the count in `docs_mentions` are from 0 to 1.

    `centrality` is the PageRank of the symbol (of its class, for a member) among imports and references in the code.
    `docs_mentions` is the number of documentation pages that mention the symbol, `documented` the same on a scale.
    `exported` says whether a package lists the symbol in `__all__`. `weight` belongs to the type of the symbol.
    """

    centrality: float
    docs_mentions: int
    documented: float
    exported: bool
    deprecated: bool
    weight: float


class Target(Frozen):
    """A public symbol.

    `fqn` says where the symbol is defined (its import path where that is private), `import_path` where it is imported
    from, `symbol` is its name within a module. `path` and `lines` say where the definition stands. `signatures` has
    the signature of the symbol and, for a class, the signatures of its public members. `alias_of` is the symbol that a
    variable is another name or an instance of. `bases` are the public classes of the ADK that a class inherits from, in
    the order in which Python looks a member up, each by its `fqn`. `outer_bases` are what the class and its bases
    inherit from other packages and from Python, whose members are not indexed. `private_fields` are the fields of its
    other bases, which none of the public ones has. `types` are the import paths of the classes in the signature.
    `takes_fields` says whether the fields of a class are what it is made with, besides the parameters in its signature;
    `is_model` that it takes them by name, as models of pydantic do; `shortcuts` are what it takes beside its fields.
    `deprecated_parameters` are those that its docstring calls so.
    `needs` is what must be installed for the import if the distribution alone will not do, e.g. `google-adk[mcp]`.
    `rank` counts from 1; `score` is from 0 to 1.
    """

    rank: int
    score: float
    fqn: str
    name: str
    symbol: str
    type: TargetType
    import_path: str
    summary: str
    signatures: tuple[str, ...]
    path: str
    lines: LineSpan
    alias_of: str | None = None
    bases: tuple[str, ...] = ()
    outer_bases: tuple[str, ...] = ()
    private_fields: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    takes_fields: bool = False
    is_model: bool = False
    shortcuts: tuple[str, ...] = ()
    deprecated_parameters: tuple[str, ...] = ()
    needs: str = ""
    parts: RankParts

    @property
    def searched_signatures(self) -> tuple[str, ...]:
        """The signatures that searches read: a long list of parameters would outweigh name and summary."""
        own, *members = self.signatures
        return (clip(own, MAX_SEARCHED_CHARS), *members)

    @property
    def is_bare_class(self) -> bool:
        """Whether the signature is that of a class which has no constructor to show."""
        return self.type == "class" and self.signatures[0].startswith("class ")

    @property
    def is_other_name(self) -> bool:
        """Whether a variable is another name of what `alias_of` names, and not an instance of that."""
        return _NAME_AS_VALUE.search(self.signatures[0]) is not None

    @property
    def package(self) -> str:
        """Dotted path of the package that the symbol is imported from."""
        return module_of(self.import_path, self.symbol)

    @property
    def module(self) -> str:
        """Dotted path of the module that defines the symbol."""
        return module_of(self.fqn, self.symbol)

    @property
    def import_statement(self) -> str:
        """The statement that imports the symbol, or the class that it belongs to."""
        return f"from {self.package} import {self.symbol.partition('.')[0]}{needs_comment(self.needs)}"


class Targets:
    """Targets in the order of their rank, looked up by where they are defined; no two are defined in one place."""

    def __init__(self, listed: Sequence[Target]) -> None:
        self.listed = listed
        self.by_fqn = {target.fqn: target for target in listed}

    def meant(self, target: Target) -> Target:
        """What a variable is another name or an instance of; any other target itself."""
        return self.by_fqn.get(target.alias_of or "", target)

    def with_bases(self, cls: Target) -> list[Target]:
        """A class and its public bases, in the order in which Python looks a member up."""
        return [cls, *(self.by_fqn[fqn] for fqn in cls.bases if fqn in self.by_fqn)]


def needs_comment(needs: str) -> str:
    """A comment behind an import of what needs an extra, or ""."""
    return f"  # needs {needs}" if needs else ""


class Why(Frozen):
    """How a target was found: its best kind of match, and its ranks and scores in the fused lists."""

    match: Match
    lexical_rank: int | None = None
    lexical_score: float | None = None
    vector_rank: int | None = None
    similarity: float | None = None


class RankedTarget(Frozen):
    """A target as a search found it, with the citation of its definition.

    Of a symbol that was asked for by name, `fields` are what a class is made with, where no constructor of its own says
    so, `field_notes` what the code says of them, a sentence each, `methods` are the public methods of a class as they
    are called (`async find(query, *, limit=...)`), `taken_by` is what its objects are passed to (`App(plugins=)`), and
    `type_imports` are the statements that import the classes in the signature, and those of other packages in the
    fields.
    `alias_of` is the import path of what a variable is another name or an instance of. Of a member that was asked for
    as a member of another class, `inherited_from` is the base that defines the member. Of a member that was asked for
    with its class, `inherited_by` are the other classes that have it, and other names of classes: of many, only the one
    that was asked for.
    `standing` says whether users may rely on the symbol; what is private has no `import_statement`.
    `available` says whether the user's installed version has the target; `unknown` where none is installed.
    """

    fqn: str
    name: str
    symbol: str
    type: TargetType
    import_path: str
    import_statement: str
    summary: str
    signature: str
    fields: tuple[str, ...] = ()
    field_notes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    taken_by: tuple[str, ...] = ()
    type_imports: tuple[str, ...] = ()
    path: str
    lines: LineSpan
    citation: str
    rank: int
    rank_score: float
    deprecated: bool
    alias_of: str | None
    inherited_from: str | None = None
    inherited_by: tuple[str, ...] = ()
    standing: Standing = "public"
    score: float
    why: Why
    available: Availability = "unknown"

    @property
    def package(self) -> str:
        """Dotted path of the package that the symbol is imported from."""
        return module_of(self.import_path, self.symbol)

    @property
    def relation(self) -> str:
        """How the target belongs to another symbol: `alias of google.adk.agents.Context`, or ""."""
        if self.inherited_by:
            return f"inherited by {', '.join(self.inherited_by)}"
        if self.alias_of is None:
            return ""
        return f"{'alias' if _NAME_AS_VALUE.search(self.signature) else 'instance'} of {self.alias_of}"


class TargetAnswer(Frozen):
    """What a search for targets found, best first.

    `typed` says what the query was taken for, `mode` how it was answered. `lacking` says in a sentence that a
    query is a name that no public symbol has; the results are then merely near. `ref` is the version of the index,
    `installed` the version that `available` was compared with.
    """

    query: str
    typed: Typed
    mode: AnswerMode
    results: tuple[RankedTarget, ...]
    lacking: str = ""
    ref: str | None
    installed: str | None
    warnings: tuple[str, ...]

    def of_index(self, chosen: ChosenIndex) -> TargetAnswer:
        """The answer with a warning where the chosen index is of another version than the wanted one."""
        warning = chosen.warning
        return self if warning is None else self.model_copy(update={"warnings": (*self.warnings, warning)})

    def or_beside(self, chosen: ChosenIndex) -> TargetAnswer:
        """The answer, for a name that the index lacks with what the project has of that name beside google-adk."""
        from adk_evidence.index.neighbours import environment_of
        from adk_evidence.targets.installation import named_beside

        environment = environment_of(chosen.wanted, chosen.settings)
        is_lacking = self.typed == "name" and (self.lacking or not self.named)
        beside = named_beside(environment, self.query) if environment is not None and is_lacking else []
        return self.model_copy(update={"results": (*beside, *self.named), "lacking": ""}) if beside else self

    @property
    def named(self) -> tuple[RankedTarget, ...]:
        """What the query is the name of."""
        return tuple(found for found in self.results if found.why.match == "exact")

    def is_main(self, found: RankedTarget) -> bool:
        """Whether a result is the first one or was asked for by its name; the others need no more than a short view."""
        return found.why.match == "exact" or found is self.results[0]

    def is_only_named(self, found: RankedTarget) -> bool:
        """Whether the query is the name of a result, and of no other one."""
        return self.named == (found,)

    def is_aside(self, found: RankedTarget) -> bool:
        """Whether a result only has a name that begins like the name of another result, which was asked for."""
        return found.why.match == "prefix" and bool(self.named)

    def is_elsewhere(self, found: RankedTarget) -> bool:
        """Whether a result is but a member of a class whose name begins like that of the symbol that was asked for."""
        of_top = any("." not in named.symbol for named in self.named)
        return of_top and "." in found.symbol and self.is_aside(found) and not self.is_member(found)

    def is_member(self, found: RankedTarget) -> bool:
        """Whether a result is a member of a class that was asked for by its name."""
        return any(found.fqn.startswith(f"{owner.fqn}.") for owner in self.named)


def rich_text(target: Target) -> str:
    """The text of a target that is embedded (ranked-target-search section 3.3); it has the name in words as well."""
    words = " ".join(split_identifier(target.symbol))
    lines = (
        f"Name: {target.name}" if words == target.name else f"Name: {target.name} ({words})",
        f"Type: {target.type}",
        f"Docstring: {target.summary}",
        f"Signatures: {'; '.join(target.searched_signatures)}",
    )
    return "\n".join(lines)

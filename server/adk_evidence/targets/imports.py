"""By which statement code is imported, as the ranked targets know: a chunk's, and the types of a signature."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.readers.pages.snippets import shown_imports
from adk_evidence.targets.target import Target, needs_comment

# How many names of one package a statement lists.
MAX_NAMES = 3
# How many statements the types of a signature get.
MAX_TYPES = 6
# In how many signatures a class of another package must be, to be told of.
MIN_USES = 3
# A class in a signature, with the dots of its module: `Content` and `types.Content`, but no value `Content()`.
_TYPE = re.compile(r"(?<![\w.'\"])(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?![\w.(])")


def named_extras(text: str, distribution: str) -> set[str]:
    """The extras of a distribution that a text says to install, e.g. `mcp` of `google-adk[mcp]`."""
    listed = re.findall(rf"\b{re.escape(distribution)}\[([\w.,\s-]{{0,200}})\]", text)
    return {name.strip() for names in listed for name in names.split(",")}


class PublicImports:
    """The public import paths of what files define at their top level.

    Private definitions are found under the public name that a package exports them by.
    """

    def __init__(self, targets: Sequence[Target], repo: str, commit: str) -> None:
        self._source = (repo, commit)
        # The same pages answer many questions.
        self._shown = functools.lru_cache(maxsize=1024)(lambda text: tuple(shown_imports(text)))
        self._by_path: dict[str, list[Target]] = {}
        for target in targets:
            # A member is imported with its class.
            if target.type in ("class", "function", "variable"):
                self._by_path.setdefault(target.path, []).append(target)
        # What definitions of each name need.
        self._needs: dict[str, set[str]] = {}
        self._top = ""
        for target in targets:
            if "." not in target.symbol:
                self._needs.setdefault(target.name, set()).add(target.needs)
                self._top = target.package.partition(".")[0]
        for found in self._by_path.values():
            found.sort(key=lambda target: (target.lines.start, target.rank))

    def statement(self, payload: ChunkPayload) -> str | None:
        """The statement that imports what a chunk defines, or the class that the chunk is a part of.

        Of several definitions, as many as fit are named, the chunk's own first and then the best ranked, all of one
        package. A second statement imports an instance of the class that the chunk makes, as tools often have one. The
        targets know the lines of their own commit alone.
        """
        # Other codebases, and other commits of this one, have files of the same names.
        if payload.kind != "code" or not payload.has_lines or (payload.repo, payload.commit) != self._source:
            return None
        found, own = self._of(payload), (payload.symbol or "").partition(".")[0]
        if payload.symbol_kind == "module" or not found:
            return _statement(found)
        named = [target for target in found if target.symbol.partition(".")[0] == own]
        if not named:
            # The public name of a private definition; what else the lines define is not what the chunk is called.
            return _statement([target for target in found if target.symbol not in payload.symbols])
        rest = [target for target in found if target is not named[0]]
        instance = next(
            (target for target in rest if target.alias_of == named[0].fqn and not target.is_other_name), None
        )
        if instance is not None:
            return _statement(named, instance)
        return _statement([named[0], *rest])

    def needs(self, text: str) -> str:
        """What the imports in the Python code of a text need, e.g. `google-adk[mcp]`; "" where the text says so itself.

        What several definitions are called, of which some need nothing, is left out.
        """
        found: dict[str, set[str]] = {}
        for path in self._shown(text):
            needs = self._needs.get(path.rpartition(".")[2], set()) if path.startswith(f"{self._top}.") else set()
            if len(needs) == 1 and (need := next(iter(needs))):
                distribution, _, extras = need.rstrip("]").partition("[")
                found.setdefault(distribution, set()).update(extras.split(","))
        lacking = {name: sorted(extras - named_extras(text, name)) for name, extras in found.items()}
        return ", ".join(f"{name}[{','.join(extras)}]" for name, extras in sorted(lacking.items()) if extras)

    def _of(self, payload: ChunkPayload) -> Sequence[Target]:
        """The targets that a chunk defines, or the one that it is a part of, the best ranked first."""
        inside = self._by_path.get(payload.path, [])
        start, end = payload.start_line, payload.end_line
        around = [target for target in inside if target.lines.start <= start and end <= target.lines.end]
        if around:
            return around[-1:]
        # A class may go on in the next chunk, and a function may follow its end.
        before = [target for target in inside if target.lines.start < start <= target.lines.end][-1:]
        begun = [target for target in inside if start <= target.lines.start <= end]
        return sorted([*before, *begun], key=lambda target: target.rank)


def type_names(target: Target) -> list[str]:
    """The classes that a target's signature names, once each; of a variable, what its value is made of."""
    signature = target.signatures[0]
    if signature.startswith("class "):
        # What stands in the brackets are bases, which nobody passes.
        return []
    if target.type == "variable":
        text = signature.partition("=")[2]
    elif target.type in ("attribute", "property"):
        text = _annotation(signature)
    else:
        text = signature.partition("(")[2]
    return list(dict.fromkeys(_TYPE.findall(text)))


def field_type_names(target: Target) -> list[str]:
    """The classes in the annotations of a class's fields, once each."""
    annotations = map(_annotation, target.signatures[1:])
    return list(dict.fromkeys(name for annotation in annotations for name in _TYPE.findall(annotation)))


def _annotation(field: str) -> str:
    """The annotation of `name: type = value`; empty for a method."""
    name, _, rest = field.partition(":")
    return "" if "(" in name else rest.partition("=")[0]


def type_imports(target: Target) -> tuple[str, ...]:
    """The statements that import the classes in a target's signature."""
    found: dict[str, list[str]] = {}
    for path in target.types:
        package, _, name = path.rpartition(".")
        found.setdefault(package, []).append(name)
    return tuple(_importing(package, names) for package, names in found.items())[:MAX_TYPES]


def taken_from_elsewhere(targets: Sequence[Target]) -> dict[str, str]:
    """The statements that import what signatures name and other packages define, by the name that is imported.

    Of several packages that have such a name, the one counts that most signatures take the name from. What a package or
    module of the targets is called as well, such as `auth`, means that.
    """
    own = {target.import_path for target in targets}
    counts = Counter(path for target in targets for path in target.types if path not in own)
    found: dict[str, str] = {}
    for path, _ in counts.most_common():
        package, _, name = path.rpartition(".")
        found.setdefault(name.rpartition(" as ")[2], _importing(package, [name]))
    return without_modules(found, targets)


def without_modules(statements: Mapping[str, str], targets: Sequence[Target]) -> dict[str, str]:
    """The statements but those that import a name which a package or module of the targets is called as well."""
    paths = (path for target in targets for path in (target.import_path, target.fqn))
    modules = {part for path in paths for part in path.split(".")[:-1]}
    return {name: statement for name, statement in statements.items() if name not in modules}


def used_of_modules(targets: Sequence[Target], imported: Mapping[str, str]) -> dict[str, str]:
    """The classes of other packages that signatures name through a module, by their own names: `Part` as `types.Part`.

    A name is told where at least `MIN_USES` signatures have it from one module, and less than half have it from others.

    Args:
        targets: Whose signatures are read.
        imported: What `taken_from_elsewhere` gives for them.
    """
    counts = Counter(
        dotted
        for target in targets
        for dotted in dict.fromkeys((*type_names(target), *field_type_names(target)))
        if dotted.count(".") == 1 and dotted.partition(".")[0] in imported
    )
    # `types` and `genai_types` are names of one module.
    module_of = {alias: statement.partition(" as ")[0] for alias, statement in imported.items()}
    uses: dict[str, Counter[str]] = {}
    for dotted, count in counts.items():
        alias, _, name = dotted.partition(".")
        uses.setdefault(name, Counter())[module_of[alias]] += count
    found: dict[str, str] = {}
    for dotted, _ in counts.most_common():
        alias, _, name = dotted.partition(".")
        of_module = uses[name][module_of[alias]]
        if of_module >= MIN_USES and 2 * of_module > uses[name].total():
            found.setdefault(name, f"{_preferred(alias, imported, module_of)}.{name}")
    return found


def _preferred(alias: str, imported: Mapping[str, str], module_of: Mapping[str, str]) -> str:
    """The name without `as` of the module that an alias stands for, where the code imports that, too."""
    plain = [one for one, statement in imported.items() if " as " not in statement]
    return next((one for one in plain if module_of[one] == module_of[alias]), alias)


def _importing(package: str, names: Sequence[str]) -> str:
    return f"{f'from {package} ' if package else ''}import {', '.join(names)}"


def _statement(targets: Sequence[Target], instance: Target | None = None) -> str | None:
    """The statement that imports the first of some targets, and others of its package; of an instance, one more."""
    if not targets:
        return None
    package = targets[0].package
    together = [target for target in targets if target.package == package]
    # What is inside a class comes with the class.
    names = dict.fromkeys(target.symbol.partition(".")[0] for target in together)
    said = _importing(package, list(names)[:MAX_NAMES])
    if instance is not None:
        said = f"{said}; {_importing(instance.package, [instance.symbol])}  # an instance"
    return said + needs_comment(next((one.needs for one in together if one.needs), ""))

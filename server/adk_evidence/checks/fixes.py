"""What mends code that does not fit a version: the edits that make a remark go away and change nothing else.

Where an edit could change what the code means, there is no fix.
"""

from __future__ import annotations

import ast
import difflib
import io
import tokenize
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from adk_evidence.api.lacks import Lack, find_lack
from adk_evidence.api.parameters import Parameters
from adk_evidence.checks.calls import Remark, fits
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.remarks import all_remarks, folded, renamed
from adk_evidence.documents.document import Mention, PythonDocument, Scope
from adk_evidence.readers.python import Function, Parameter, children, parameters, walk

Place = tuple[int, int]
# How alike two names of parameters must be to be taken for one.
_ALIKE = 0.3
# What has a name and binds none.
_USING = (ast.Name, ast.Attribute, ast.keyword, ast.Constant)


class Edit(NamedTuple):
    """A text in place of what stands between two places, by line and character from 0."""

    start: Place
    end: Place
    text: str


class Fix(NamedTuple):
    """What mends the code of a remark. `certain`: nobody needs to look at it. `title` says what happens."""

    title: str
    edits: list[Edit]
    certain: bool = False


def fix_of(checker: DriftChecker, document: PythonDocument, remark: Remark) -> Fix | None:
    """The fix of a remark on a document; None where there is none."""
    checker = next((one for one in checker.with_neighbours(document) if one.is_own(remark.symbol)), checker)
    match remark.kind:
        case "argument":
            return _with_arguments(document, remark)
        case "override":
            return _fitting(checker, document, remark)
        case "await":
            return _awaited(checker, document, remark)
        case "method":
            end, takes = (remark.line, remark.end), checker.api.made_with(remark.symbol)
            is_plain = takes is not None and not takes.required and checker.api.kind(remark.symbol) == "f"
            return Fix(f"Call {remark.symbol.rpartition('.')[2]}", [Edit(end, end, "()")], True) if is_plain else None
        case "import" if remark.replacement is None:
            return _moved(checker, document, remark)
        case "deprecated":
            return _succeeded(checker, document, remark)
    return _renamed(document, remark, remark.replacement) if remark.replacement else None


def fixes_of(
    checker: DriftChecker, document: PythonDocument, remarks: Iterable[Remark], *, likely: bool = False
) -> list[tuple[Remark, Fix]]:
    """The fixes that nobody needs to look at, each with its remark, in the order of the text; of two that meet, one.

    Each leaves code that parses and no longer has its remark. With `likely`, those are among them that somebody should
    look at; never those with a place to fill in.
    """
    found = [(one, fix) for one in remarks if (fix := fix_of(checker, document, one)) is not None]
    chosen = [(one, fix) for one, fix in found if fix.certain or (likely and one.kind != "argument")]
    done: list[tuple[Remark, Fix]] = []
    for remark, fix in sorted(chosen, key=lambda each: min(each[1].edits)):
        pairs = [(one, other) for one in fix.edits for _, earlier in done for other in earlier.edits]
        meets = any(one[0] == other[0] or (one[0] < other[1] and other[0] < one[1]) for one, other in pairs)
        if not meets and _mends(checker, document, remark, fix):
            done.append((remark, fix))
    return done


def _mends(checker: DriftChecker, document: PythonDocument, remark: Remark, fix: Fix) -> bool:
    """Whether a fix leaves a document that parses, where the former did, with one such remark less."""
    mended = PythonDocument(edited(document.lines, fix.edits))
    if mended.is_broken and not document.is_broken:
        return False
    before, after = (
        sum((one.kind, one.symbol) == (remark.kind, remark.symbol) for one in all_remarks(checker, text))
        for text in (document, mended)
    )
    return after < before


def certain_edits(checker: DriftChecker, document: PythonDocument, remarks: Iterable[Remark]) -> list[Edit]:
    """The edits of `fixes_of`, in the order of the text."""
    return sorted(edit for _, fix in fixes_of(checker, document, remarks) for edit in fix.edits)


def edited(lines: Iterable[str], edits: Iterable[Edit], between: str = "\n") -> str:
    """The text of some lines with edits that do not meet; `between` stands between lines."""
    kept = list(lines)
    for (first, start), (last, end), text in sorted(edits, reverse=True):
        kept[first : last + 1] = [kept[first][:start] + text + kept[last][end:]]
    return between.join(kept)


def _renamed(document: PythonDocument, remark: Remark, name: str, *, certain: bool = False) -> Fix | None:
    """Another name in place of the one at a remark."""
    changes = renamed(document, *remark.place, name)
    if not changes:
        return None
    edits = [Edit((one.line, one.start), (one.line, one.end), text) for one, text in changes]
    # But for its spelling, it is the name, and the only such keyword of the call.
    alike = [one for one in document.given_to(changes[0][0].keyword_of) if folded(one) == folded(name)]
    certain |= remark.kind == "keyword" and alike == [changes[0][0].name]
    return Fix(f"Change to {name}", edits, certain)


def _called_at(document: PythonDocument, remark: Remark) -> tuple[ast.Call, Mention] | None:
    """The call whose function's name stands at a remark."""
    for mention in document.mentions_in((remark.line, 0), (remark.line + 1, 0)):
        call = document.calls.get(id(mention.expression))
        if mention.start == remark.start and call is not None:
            return call, mention
    return None


def _in_parentheses(document: PythonDocument, start: Place) -> list[tuple[str, Place, bool]]:
    """The tokens of the first parentheses behind a place, each with its end, and whether it is a comment."""
    text = document.text_in(start, (len(document.lines), 0))
    found: list[tuple[str, Place, bool]] = []
    depth = 0
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            line, column = token.end
            if token.string.strip() and (found or token.string == "("):
                place = (start[0] + line - 1, column + (start[1] if line == 1 else 0))
                found.append((token.string, place, token.type == tokenize.COMMENT))
                depth += (token.string in "([{") - (token.string in ")]}")
                if not depth:
                    return found
    return []


def _with_arguments(document: PythonDocument, remark: Remark) -> Fix | None:
    """The missing arguments by name, each with `...` to write over."""
    call, _ = _called_at(document, remark) or (None, None)
    if call is None or any(isinstance(one, ast.GeneratorExp) for one in call.args):
        return None
    names, tokens = remark.missing, _in_parentheses(document, document.span(call.func)[1])
    if not tokens:
        return None
    given = [*map(document.span, call.args), *map(document.span, call.keywords)]
    edit = _appended(document, tokens, ", ".join(f"{name}=..." for name in names), max(given)[0][0] if given else None)
    return Fix(f"Add {' and '.join(names)}", [edit])


def _appended(document: PythonDocument, tokens: list[tuple[str, Place, bool]], text: str, line: int | None) -> Edit:
    """The edit that adds a text at the end of a list in parentheses; `line` is that of its last item, if it has one."""
    last, place, _ = [token for token in tokens[:-1] if not token[2]][-1]
    if last != ",":
        return Edit(place, place, f", {text}" if line is not None else text)
    if line is None or tokens[-1][1][0] == place[0]:
        return Edit(place, place, f" {text},")
    item = document.lines[line]
    # Behind a comment on the last item.
    place = (place[0], len(document.lines[place[0]]))
    return Edit(place, place, f"\n{item[: len(item) - len(item.lstrip())]}{text},")


def _awaited(checker: DriftChecker, document: PythonDocument, remark: Remark) -> Fix | None:
    """The `await`, or `async for`, that a call lacks inside of an asynchronous function."""
    call, mention = _called_at(document, remark) or (None, None)
    function = mention.scope.node if mention else None
    if call is None or not isinstance(function, ast.AsyncFunctionDef):
        return None
    above = {id(child): node for node in walk(function) for child in children(node)}
    around: list[ast.AST] = [call]
    while (node := above.get(id(around[-1]))) is not None:
        around.append(node)
    # These run elsewhere, or later; Python before 3.12 does not say where the parts of an f-string stand.
    if any(isinstance(node, ast.Lambda | ast.GeneratorExp | ast.JoinedStr) for node in around):
        return None
    start, end = document.span(call)
    outer = around[1]
    if checker.api.yields(remark.symbol):
        if not isinstance(outer, ast.For) or outer.iter is not call:
            return None
        return Fix("Add async", [Edit(document.span(outer)[0], document.span(outer)[0], "async ")], certain=True)
    if isinstance(outer, ast.Attribute | ast.Subscript) and outer.value is call:
        return Fix("Add await", [Edit(start, start, "(await "), Edit(end, end, ")")], certain=True)
    return Fix("Add await", [Edit(start, start, "await ")], certain=True)


def _moved(checker: DriftChecker, document: PythonDocument, remark: Remark) -> Fix | None:
    """An import from where the version has the name."""
    lack = find_lack(checker.history, checker.version, remark.symbol)
    (module, _, new), old = ((lack and lack.instead) or "").rpartition("."), remark.symbol.rpartition(".")[2]
    for node in walk(document.tree) if lack and module else ():
        if not isinstance(node, ast.ImportFrom) or f"{node.module}.{old}" != remark.symbol:
            continue
        here = [(one.lineno - 1, one.name) == (remark.line, old) for one in node.names]
        if not any(here):
            continue
        number, (start, end) = here.index(True), document.span(node)
        before = document.lines[start[0]][: start[1]]
        alias = node.names[number].asname or old
        text = f"from {module} import {new}{f' as {alias}' if alias != new else ''}"
        edits = [Edit(start, end, text)]
        if len(here) > 1:
            spans = [document.span(one) for one in node.names]
            gone = (spans[number][0], spans[number + 1][0]) if number == 0 else (spans[number - 1][1], spans[number][1])
            edits = [Edit(start, start, f"{text}\n{before}"), Edit(*gone, "")]
        # What a comment is about is not known.
        if "#" in document.text_in(*edits[-1][:2]) or before.strip():
            return None
        return Fix(f"Import {new} from {module}", edits, new == old and _is_the_same(checker, remark.symbol, lack))
    return None


def _succeeded(checker: DriftChecker, document: PythonDocument, remark: Remark) -> Fix | None:
    """The class that a deprecated one is merely another name of: it derives from that class, and adds nothing."""
    api, (module, _, _) = checker.api, remark.symbol.rpartition(".")
    place, heir = api.definition(remark.symbol), api.definition(checker.deprecated(remark.symbol) or "")
    if place is None or heir is None or api.bases(place) != [heir.path] or api.own_members(place).keys() - {"__init__"}:
        return None
    if api.definition(f"{module}.{heir.name}") != heir or heir.name in document.module.bindings:
        return None
    return _renamed(document, remark, heir.name, certain=True)


def _is_the_same(checker: DriftChecker, path: str, lack: Lack | None) -> bool:
    """Whether what an earlier version had at a path surely is what this version has elsewhere."""
    had = checker.history.exactly(lack.until) if lack else None
    place = had.definition(path) if had else None
    if lack is None or had is None or place is None or had.definition(lack.instead or "") not in (None, place):
        return False
    name = path.rpartition(".")[2]
    found = {checker.api.definition(one) for one in checker.history.paths(name)}
    return place.name == name and [one.name for one in found if one] == [name]


def _fitting(checker: DriftChecker, document: PythonDocument, remark: Remark) -> Fix | None:
    """The method with the parameters that the message spells out, which its body then uses by their new names."""
    owner, _, named = remark.symbol.rpartition(".")
    definition = checker.api.definition(remark.symbol)
    payload = (checker.api.payload(definition) if definition else None) or ""
    scope, method = _method_at(document, named, remark.line)
    if scope is None or method is None:
        return None
    if payload[:1] == "f" and isinstance(method, ast.AsyncFunctionDef):
        # What the body awaits cannot stay.
        return None
    start, wanted = document.span(method)[0], Parameters.of_table(payload)
    edits: list[Edit] = []
    is_sure = True
    if payload[:1] == "a" and isinstance(method, ast.FunctionDef):
        edits.append(Edit(start, start, "async "))
    if not Parameters.of_code(method.args).fits(wanted):
        tokens, own = _in_parentheses(document, start), parameters(method.args)
        if not own or not tokens:
            return None
        pairs = _paired(own[1:], wanted)
        renames = {old.name: new for new, old in pairs.items() if new != old.name}
        uses = _renaming(document, scope, method, renames)
        gone = {one.name for one in own[1:] if one.default is None} - {one.name for one in pairs.values()}
        gone -= {one.name for one in own if one.kind in ("rest", "more")}
        if uses is None or any(isinstance(node, ast.Name) and node.id in gone for node in walk(method)):
            return None
        called = dict.fromkeys((*wanted.positional, *wanted.named))
        missing = [name for name in called if name not in {one.name for one in own}]
        # Each by its place, too. What is to become of a new parameter, only who reads the body knows.
        is_sure = bool(renames) and not gone and [renames[one.name] for one in own if one.name in renames] == missing
        if missing and not renames and not gone:
            added = ", ".join(name if name in wanted.required else f"{name}=None" for name in missing)
            edits.append(_appended(document, tokens, added, own[-1].node.lineno - 1))
        elif any(is_comment for _, _, is_comment in tokens):
            return None
        else:
            begin = (tokens[0][1][0], tokens[0][1][1] - 1)
            edits += [Edit(begin, tokens[-1][1], _written(document, own, wanted, pairs)), *uses]
    mended = PythonDocument(edited(document.lines, edits))
    _, same = _method_at(mended, named, remark.line)
    is_mended = same is not None and not mended.is_broken and fits(same, payload)
    # Who calls it in this file may have to change, too.
    is_sure &= not any(one.name == named and one.line != remark.line for one in document.mentions_in())
    return Fix(f"Change to fit {owner.rpartition('.')[2]}.{named}", edits, is_sure) if is_mended else None


def _method_at(document: PythonDocument, name: str, line: int) -> tuple[Scope | None, Function | None]:
    for scope in document.scopes:
        if scope.name == name and isinstance(scope.node, Function) and scope.node.lineno - 1 == line:
            return scope, scope.node
    return None, None


def _paired(own: list[Parameter], wanted: Parameters) -> dict[str, Parameter]:
    """Which parameter of a method is meant by each name that the method is called with: the same, or the likest."""
    names = dict.fromkeys([*wanted.positional, *wanted.named])
    plain = [one for one in own if one.kind not in ("rest", "more")]
    pairs = {one.name: one for one in plain if one.name in names}
    free = [one for one in plain if one.name not in names]
    likely = [(difflib.SequenceMatcher(None, one.name, name).ratio(), name, one) for name in names for one in free]
    for ratio, name, one in sorted(likely, key=lambda each: -each[0]):
        if ratio >= _ALIKE and name not in pairs and not any(one is other for other in pairs.values()):
            pairs[name] = one
    return pairs


def _renaming(document: PythonDocument, scope: Scope, method: Function, renames: dict[str, str]) -> list[Edit] | None:
    """What renames parameters in the body of a method; None where that might change something else."""
    own = {id(one.node) for one in parameters(method.args)}
    for node in walk(method):
        texts = [getattr(node, name) for name in node._fields] if not isinstance(node, _USING) else []
        bound = {one for text in texts for one in (text if isinstance(text, list) else [text]) if isinstance(one, str)}
        # Something inside binds a name anew, or the body has the new name already.
        is_taken = isinstance(node, ast.Name) and node.id in renames.values() and node.id not in renames
        if is_taken or (id(node) not in own and not bound.isdisjoint((*renames, *renames.values()))):
            return None
    edits = []
    for mention in document.mentions_in(document.span(method.body[0])[0], (scope.last + 1, 0)):
        known = mention.scope.lookup(mention.name, mention.line) if isinstance(mention.expression, ast.Name) else None
        if mention.name in renames and known is not None and known[1] is scope:
            edits.append(Edit((mention.line, mention.start), (mention.line, mention.end), renames[mention.name]))
    is_text = all(document.text_in(edit.start, edit.end) in renames for edit in edits)
    return edits if is_text else None


def _written(document: PythonDocument, own: list[Parameter], wanted: Parameters, pairs: dict[str, Parameter]) -> str:
    """The parameters of the method that fits, in parentheses, with the annotations and defaults that it has."""
    extra = [one for one in own[1:] if one.default is not None and not any(one is other for other in pairs.values())]
    kept = {"self": own[0], **pairs, **{one.name: one for one in extra}}
    for one in own:
        if one.kind in ("rest", "more"):
            kept["*args" if one.kind == "rest" else "**kwargs"] = one
    wanted = replace(
        wanted,
        any_positional=wanted.any_positional or "*args" in kept,
        any_named=wanted.any_named or "**kwargs" in kept,
    )

    def item(name: str) -> str:
        given = kept.get(name)
        shown = name if given is None or name in pairs else f"{'*' * name.count('*')}{given.name}"
        annotation, value = (given.node.annotation, given.default) if given else (None, None)
        typed = f": {document.text_in(*document.span(annotation))}" if annotation else ""
        default = "None" if given is None and "*" not in name and name not in wanted.required else ""
        default = document.text_in(*document.span(value)) if value else default
        return f"{shown}{typed}" + (f"{' = ' if typed else '='}{default}" if default else "")

    return f"({wanted.written(item, [item(one.name) for one in extra])})"

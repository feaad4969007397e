"""A file's outline by its tree-sitter syntax tree."""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, get_args

from adk_evidence.languages import Language
from adk_evidence.models.chunk import TYPE_KINDS, SymbolKind
from adk_evidence.readers.python import MAX_SIGNATURE_CHARS, clip
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.comments import first_paragraph, licence_end, module_doc
from adk_ingest.chunking.outline import INSIDE_STATEMENT, Definition, Outline
from adk_ingest.chunking.treesitter_languages import GRAMMARS, LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

# Of two names of one node, the first of these holds.
_Kind = Literal["interface", "enum", "module", "class", "function", "type", "variable", "namespace"]
_KINDS: tuple[_Kind, ...] = get_args(_Kind)

# A definition's lines are those of the statement that is nothing but it.
_WRAPPERS = {
    "ambient_declaration",
    "assignment_expression",
    "const_declaration",
    "export_statement",
    "expression_statement",
} | {"lexical_declaration", "template_declaration", "type_declaration", "variable_declaration"}
# What these hold counts as being at the top of the file: files, namespaces, their bodies, conditions of preprocessors,
# and calls that take a block.
_TRANSPARENT = (
    {"chunk", "compilation_unit", "declarations", "haskell", "program", "source", "source_file", "translation_unit"}
    | {"file_scoped_namespace_declaration", "internal_module", "linkage_specification", "mod_item", "module"}
    | {"namespace_declaration", "namespace_definition", "package_clause", "package_object"}
    | {"body_statement", "compound_statement", "declaration_list", "statement_block", "template_body"}
    | {"preproc_elif", "preproc_else", "preproc_if", "preproc_ifdef"}
    | {"call", "do_block", *_WRAPPERS}
)
_DECORATORS = {"annotation", "attribute", "attribute_list", "decorator", "marker_annotation"}
_DECORATION = {"comment", "line_comment", "block_comment", *_DECORATORS}
# What ends a signature where the grammar has no field for it.
_BODIES = {
    "class_body",
    "comment",
    "computed_property",
    "do_block",
    "enum_class_body",
    "enum_declaration",
    "function_body",
} | {"opaque_declaration", "struct_declaration", "union_declaration"}
_GLOBALS = re.compile(r"^(?:module\.exports|exports|this|window|globalThis|self)\.")
# Up to the arguments, of types or of values.
_DECORATOR = re.compile(r"@\s*(?:\w+:)?([\w$]+(?:\s*\.\s*[\w$#]+)*)")
_GENERICS = re.compile(r"<.*>|\[.*\]|[*&\s\"'`]", re.DOTALL)
# Kinds of items that become chunks.
_CHUNKED = frozenset({"function", *TYPE_KINDS})
# Whose functions are methods.
_HOLDERS = frozenset({"module", *TYPE_KINDS})
# Where a namespace that defines nothing else is a chunk.
_NAMESPACED = frozenset({"ts", "tsx"})
# `export default function (): T` of a declaration file, which the grammar does not know without a name.
_NAMELESS = re.compile(rb"^([ \t]*export[ \t]+)default[ \t]+function[ \t]*(?=[(<])", re.MULTILINE)
# `class API Name` of C++, where the grammar takes the macro for the name.
_MACRO = re.compile(
    rb"\b((?:class|struct|union)[ \t]+)[A-Z][A-Z0-9_]+(?:\([^()\n]*\))?(?=[ \t]+\w+(?:[ \t]+final)?\s*[:{])"
)
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_MAX_NAME_CHARS = 200
_MAX_SIGNATURE_BYTES = 8 * 1024
# Recovery inside of one step, which nothing can stop, takes memory with the square of a text's size. At these sizes,
# nonsense in these languages takes a gigabyte; larger files are cut like text.
_MOST_BYTES = {"java": 120_000, "cs": 400_000}
_MAX_DEPTH = 480  # keeps every cost below INSIDE_STATEMENT


class SyntaxNotUnderstoodError(Exception):
    """Most of a file is not in the syntax of its language."""

    def __init__(self, language: Language) -> None:
        super().__init__(f"Most of the file is not {language.title}.")
        self.language = language


def read_treesitter(file: SourceFile, chunking: ChunkingSettings) -> Outline | None:
    """What a file of one of the `LANGUAGES` defines; None where it holds no more than a licence.

    What lines longer than `max_chunk_chars` hold, such as minified code, is left out.

    Raises:
        SyntaxNotUnderstoodError: Errors cover more than half of the file.
    """
    return _Reader(file, chunking.max_chunk_chars).outline()


@dataclass
class _Item:
    kind: _Kind
    name: str
    node: Node
    span: Node  # with the statement around it that is nothing but the definition
    owned: bool
    prefix: str = ""
    in_class: bool = False
    children: list[_Item] = field(default_factory=list)

    @property
    def qualified(self) -> str:
        return f"{self.prefix}.{self.name}" if self.prefix else self.name

    @property
    def range(self) -> tuple[int, int]:
        return self.node.start_byte, self.node.end_byte


@cache
def _grammar(lang: str) -> tuple[Parser, Query, list[set[str]]]:
    """A language's parser, its query, and the words that each pattern of the query takes as a callee."""
    import tree_sitter

    module, function, text, _ = GRAMMARS[lang]
    grammar = tree_sitter.Language(getattr(importlib.import_module(module), function)())
    query = tree_sitter.Query(grammar, text)
    settings = map(query.pattern_settings, range(query.pattern_count))
    return tree_sitter.Parser(grammar), query, [set(str(each.get("callee", "")).split()) for each in settings]


class _Budget:
    """What a parser may spend on a text, counted in the parser's steps: a limit on time would make chunks differ.

    Time and memory for recovery from errors can grow with the square of a text's size. On well-formed code a parser
    reports its progress at most once in 50 bytes, in some languages in 100, and reads the text a few times from
    somewhere to its end.
    """

    def __init__(self, source: bytes, bytes_a_report: int) -> None:
        self._source = memoryview(source)
        self._reports = 0
        self._bytes_a_report = bytes_a_report
        self._bytes = 50_000_000 + 20 * len(source)

    def read(self, offset: int, _point: object) -> memoryview:
        """The text from a byte on; empty once too much text was read."""
        rest = self._source[offset:]
        self._bytes -= len(rest)
        return rest if self._bytes >= 0 else rest[:0]

    def spent(self, offset: int, _has_error: bool = False) -> bool:
        """Whether the parser is to stop at a byte; each call counts."""
        self._reports += 1
        return self._reports > 50 + offset // self._bytes_a_report or self._bytes < 0


def _parse(parser: Parser, source: bytes, bytes_a_report: int) -> Node | None:
    """The root of a text's syntax tree; None where the text has so many errors that reading would take too long."""
    budget = _Budget(source, bytes_a_report)
    try:
        root = parser.parse(budget.read, progress_callback=budget.spent).root_node
    except ValueError:  # "Parsing failed"
        parser.reset()  # otherwise the parser would go on with this text
        return None
    # The time for a query of a root that is an error grows with the square of its size.
    return None if budget.spent(len(source)) or root.type == "ERROR" else root


class _Reader:
    def __init__(self, file: SourceFile, max_line_chars: int) -> None:
        from tree_sitter import QueryCursor

        self._language = LANGUAGES[PurePosixPath(file.path).suffix.lower()]
        lang = self._language.lang
        self._lines = file.text.split("\n")
        self._long = {number for number, line in enumerate(self._lines, 1) if len(line) > max_line_chars}
        parser, query, words = _grammar(lang)
        # Neither `Node.text` nor predicates of queries work: they ask the parser's reader again, which is gone.
        self._source = file.text.encode("utf-8", "replace")
        # Where a name was put in, the source has other bytes.
        self._nameless: set[int] = set()
        is_declaration = file.path.lower().endswith(_DECLARATIONS)
        source = _NAMELESS.sub(self._with_name, self._source) if is_declaration else self._source
        if lang in ("c", "cpp"):
            source = _MACRO.sub(lambda found: found[1].ljust(len(found[0])), source)
        fits = len(source) <= _MOST_BYTES.get(lang, len(source))
        root = _parse(parser, source, GRAMMARS[lang].bytes_a_report) if fits else None
        if root is None:
            raise SyntaxNotUnderstoodError(self._language)
        self._root = root
        self._comments: dict[int, int] = {}  # first line of a comment that fills its lines, by its last line
        self._leading: dict[int, int] = {}  # the same of decorators
        self._decorators: dict[int, list[str]] = {}
        self._items: list[_Item] = []
        errors: list[Node] = []
        for pattern, captures in QueryCursor(query).matches(self._root):
            errors += captures.get("error", [])
            if all(self._text(node) in words[pattern] for node in captures.get("callee", ())):
                self._take(captures)
        # Behind an error, the grammar of Kotlin may leave the rest of the file out of the tree.
        unread = len(self._source.rstrip()) - max((node.end_byte for node in root.children[-1:]), default=0)
        if 2 * (_covered(errors) + unread) > len(self._source):
            raise SyntaxNotUnderstoodError(self._language)
        # The licence that opens the file stays apart from the first definition.
        self._licence_end = licence_end(self._lines, self._comments)
        self._comments = {last: first for last, first in self._comments.items() if last > self._licence_end}

    def outline(self) -> Outline | None:
        if not any(line.strip() for line in self._lines[self._licence_end :]):
            return None
        definitions = tuple(self._top_level(self._nest()))
        first = definitions[0].start if definitions else len(self._lines) + 1
        doc = module_doc(self._lines, self._comments, self._licence_end, first)
        return Outline(
            self._language.lang, definitions, self._names(), doc, self._cut_cost, decorators=self._decorators
        )

    # Taking up what the query found

    def _take(self, captures: dict[str, list[Node]]) -> None:
        for kind, table in (("comment", self._comments), ("leading", self._leading)):
            for node in captures.get(kind, ()):
                start, end = _first_line(node), _last_line(node)
                if node.type in _DECORATORS and (name := self._decorator(node)):
                    self._decorators.setdefault(start, []).append(name)
                if self._fills_lines(node, start, end):
                    table[end] = start
        for kind in _KINDS:
            for node in captures.get(kind, ()):
                name = self._name(captures)
                if name and _first_line(node) not in self._long:
                    self._items.append(_Item(kind, name, node, _widened(node), "owner" in captures))

    def _fills_lines(self, node: Node, start: int, end: int) -> bool:
        if start in self._long or end in self._long:
            return False
        before = self._lines[start - 1].encode("utf-8", "replace")[: node.start_point.column]
        after = self._lines[end - 1].encode("utf-8", "replace")[node.end_point.column :]
        ends_here = node.end_point.column and after.strip()
        return not before.strip() and not ends_here

    def _with_name(self, found: re.Match[bytes]) -> bytes:
        """A declaration with a name in it, of the same length."""
        lead = found[1] + b"function "
        self._nameless.add(found.start() + len(lead))
        return lead.ljust(len(found[0]), b"_")

    def _name(self, captures: dict[str, list[Node]]) -> str:
        if "name" not in captures or captures["name"][0].start_byte in self._nameless:
            return "default"  # an export without a name
        name = _GLOBALS.sub("", self._text(captures["name"][0]).strip()).replace(".prototype.", ".")
        owner = "".join(self._text(node) for node in captures.get("owner", ()))
        if owner:
            name = f"{owner}.{name}"
        if not any(char.isalnum() for char in name):
            name = name.strip("()")  # of an operator
        elif not name.startswith("operator"):
            name = _GENERICS.sub("", name)
            name = name.strip("/:")  # of a module that is named by its path, and of a symbol
        return name.replace("::", ".").strip(".") if len(name) <= _MAX_NAME_CHARS else ""

    def _decorator(self, node: Node) -> str | None:
        """The name of a decorator without its arguments."""
        found = _DECORATOR.match(self._text(node))
        return "".join(found[1].split()) if found is not None and len(found[1]) <= _MAX_NAME_CHARS else None

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    # Building the outline

    def _nest(self) -> list[_Item]:
        """Nest the items by what they hold; returns the outermost. A node that was found twice counts once."""
        items = sorted(self._items, key=lambda item: (item.range[0], -item.range[1], _KINDS.index(item.kind)))
        top: list[_Item] = []
        stack: list[_Item] = []
        self._items = []
        for item in items:
            twice = bool(self._items) and (self._items[-1].range, self._items[-1].name) == (item.range, item.name)
            if twice:
                continue  # What it was found as first holds what follows.
            while stack and (stack[-1].range == item.range or stack[-1].range[1] < item.range[1]):
                stack.pop()
            owner = stack[-1] if stack else None
            if owner is not None:
                beside = owner.node.start_point.row == item.node.start_point.row
                if owner.kind == item.kind in TYPE_KINDS and owner.name == item.name and beside:
                    continue  # `typedef struct Name {...} Name`
                if owner.kind in ("function", "variable") and item.kind == "variable":
                    continue
                item.prefix = owner.qualified
                item.in_class = owner.kind in _HOLDERS
            (owner.children if owner else top).append(item)
            stack.append(item)
            self._items.append(item)
        for item in reversed(self._items):
            if item.kind == "module":
                held = {child.kind for child in item.children} - {"variable"}
                item.kind = "namespace" if held and "function" not in held else "class"
        return top

    def _top_level(self, items: Sequence[_Item]) -> Iterator[Definition]:
        for item in items:
            inside = list(self._top_level(item.children)) if item.kind in ("namespace", "variable") else []
            # Of a namespace, what it defines are the chunks; one that defines nothing else may be a chunk itself.
            if inside or item.kind == "variable" or self._is_idle(item):
                yield from inside
            else:
                yield self._definition(item, None if _stands_free(item.span) else self._statement(item))

    def _is_idle(self, item: _Item) -> bool:
        """Whether an item is a namespace that is no chunk: in most languages many files open the same one, as `std`."""
        return item.kind == "namespace" and self._language.lang not in _NAMESPACED

    def _definition(self, item: _Item, within: tuple[int, int] | None = None) -> Definition:
        start = top = _first_line(item.span)
        while (above := self._comments.get(top - 1, self._leading.get(top - 1))) is not None:
            top = above
        comments = [self._lines[line - 1] for line in range(top, start) if line not in self._leading_lines]
        kind: SymbolKind = "function" if item.kind == "variable" else item.kind
        if kind == "function" and (item.in_class or item.owned):
            kind = "method"
        members = [child for child in item.children if kind in TYPE_KINDS and child.kind in _CHUNKED]
        return Definition(
            item.qualified,
            kind,
            top,
            _last_line(item.span),
            _header(item),
            clip(self._signature(item), MAX_SIGNATURE_CHARS) or None,
            first_paragraph(comments),
            tuple(map(self._definition, members)),
            within,
        )

    @cached_property
    def _leading_lines(self) -> set[int]:
        return {line for end, start in self._leading.items() for line in range(start, end + 1)}

    def _signature(self, item: _Item) -> str:
        start = _after_decoration(item.span)
        body = _body(item.node, start)
        end = body.start_byte if body is not None and body.start_byte > start else item.span.end_byte
        header = self._source[start : min(end, start + _MAX_SIGNATURE_BYTES)].decode("utf-8", "replace")
        return " ".join(header.rstrip(" \t\r\n{;,").removesuffix("=>").rstrip(" =").split())

    def _statement(self, item: _Item) -> tuple[int, int]:
        index = bisect_right(self._starts, item.node.start_byte) - 1
        node = self._root.children[index] if index >= 0 else self._root
        return _first_line(node), _last_line(node)

    @cached_property
    def _starts(self) -> list[int]:
        return [child.start_byte for child in self._root.children]

    def _names(self) -> dict[int, list[str]]:
        names: dict[int, list[str]] = {}
        for item in self._items:
            private = item.kind == "variable" and item.name.startswith("_")
            if not private and (item.kind != "namespace" or not (item.children or self._is_idle(item))):
                names.setdefault(_header(item), []).append(item.qualified)
        return names

    # Where to cut what is too long

    def _cut_cost(self, line: int) -> int:
        depth = self._depths.get(line)
        if depth is None or line - 1 in self._comments or line - 1 in self._leading:
            return INSIDE_STATEMENT
        return 2 * depth + (1 if self._lines[line - 2].strip() else 0)

    @cached_property
    def _depths(self) -> dict[int, int]:
        """Depth of the outermost node that begins a line."""
        depths: dict[int, int] = {}
        stack = [(self._root, 0)]
        while stack:
            node, depth = stack.pop()
            if node.start_point.row == node.end_point.row:
                continue
            for child in node.named_children:
                line = _first_line(child)
                if line not in self._long and child.start_point.column == _indent(self._lines[line - 1]):
                    depths[line] = min(depths.get(line, _MAX_DEPTH), depth)
                stack.append((child, depth + 1))
        return depths


def _header(item: _Item) -> int:
    """The line that names a definition."""
    name = item.node.child_by_field_name("name") or item.node
    return name.start_point.row + 1


def _widened(node: Node) -> Node:
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    return node


def _stands_free(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type in _TRANSPARENT:
        parent = parent.parent
    return parent is None


def _body(node: Node, start: int) -> Node | None:
    """What follows a definition's signature, which begins at a byte."""
    if body := next((one for one in node.children if one.type in _BODIES and one.start_byte > start), None):
        return body
    for name in ("body", "accessors", "declarations", "match"):
        if (body := node.child_by_field_name(name)) is not None:
            return body
    for name in ("value", "right", "type"):
        if (value := node.child_by_field_name(name)) is not None and (body := value.child_by_field_name("body")):
            return body
    return None


def _after_decoration(node: Node) -> int:
    """The byte where a definition begins behind its decorators."""
    for child in node.children:
        for one in child.children if child.type == "modifiers" else [child]:
            if one.type not in _DECORATION:
                return one.start_byte
    return node.start_byte


def _indent(line: str) -> int:
    """Bytes of the whitespace that a line begins with."""
    return len(line[: len(line) - len(line.lstrip())].encode())


def _first_line(node: Node) -> int:
    return node.start_point.row + 1


def _last_line(node: Node) -> int:
    """The line of a node's last character; some grammars count the newline behind it as its own."""
    end = node.end_point
    return end.row if end.column == 0 and end.row > node.start_point.row else end.row + 1


def _covered(nodes: Sequence[Node]) -> int:
    """Bytes that the nodes cover; nested ones count once."""
    covered = reached = 0
    for node in sorted(nodes, key=lambda node: node.start_byte):
        covered += max(0, node.end_byte - max(node.start_byte, reached))
        reached = max(reached, node.end_byte)
    return covered

"""Code that a question consists of, or quotes: the symbols that it uses, and the names that it defines itself."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from adk_evidence.models.request import MAX_SYMBOLS, EvidenceRequest
from adk_evidence.readers.pages.markdown import read_markdown
from adk_evidence.search.question.query import Query, code_lines
from adk_evidence.text.identifiers import code_identifiers

if TYPE_CHECKING:
    from adk_evidence.documents.document import Mention, PythonDocument
    from adk_evidence.symbols.lookup import Symbols

_CLASS = re.compile(r"_*[A-Z]\w*[a-z]")


def with_quoted_code(request: EvidenceRequest, query: Query, symbols: Callable[[], Symbols]) -> EvidenceRequest:
    """The request with the symbols and the own names of its code, unless the request says both itself.

    A surface that has the document of a selection knows more than the selection shows. Lines of code between words of
    a question are only context, of which the own names count.
    """
    # What a traceback quotes is no code that parses.
    if request.symbols or request.own_names or query.is_error:
        return request
    code = request.query if query.kind == "code" else "\n".join(_fenced(request.query))
    is_context = not code.strip()
    if is_context:
        code = code_lines(request.query)
    if not code.strip():
        return request
    from adk_evidence.documents.document import PythonDocument
    from adk_evidence.symbols.resolution import named_in

    document = PythonDocument(code)
    end = (len(document.lines), 0)
    named = named_in(document, symbols(), (0, 0), end)
    # Only the indexed code can define these, such as a name that is imported from it.
    known = {*named.claimed, *(entry.name for entry in named.entries)}
    own = dict.fromkeys(mention.name for mention in document.mentions_in((0, 0), end) if _is_own(mention))
    defined = (*own, *_defined(document))
    meant = () if is_context else named.entries
    return request.model_copy(
        update={
            "symbols": tuple(entry.fqn for entry in meant if entry.symbol)[:MAX_SYMBOLS],
            "own_names": tuple(name for name in dict.fromkeys(defined) if name not in known),
        }
    )


def _fenced(text: str) -> Iterator[str]:
    """The blocks of a text that are, or may be, Python."""
    if "```" not in text and "~~~" not in text:
        return
    page = read_markdown(text.splitlines())
    for first, end in dict.fromkeys(filter(None, page.fence_at)):
        if page.fence_language[first] == "python" or not page.lines[first].strip(" \t`~"):
            yield textwrap.dedent("\n".join(page.lines[first + 1 : end - 1]))


def _is_own(mention: Mention) -> bool:
    """Whether a name may be of the asker's own code.

    That is what begins with a name that the code binds. What the code uses and does not bind is own as well, unless it
    looks like a class: a part of a program leaves out the functions around it.
    """
    node = mention.keyword_of or mention.expression
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return mention.imported is not None
    is_bound = mention.scope.lookup(node.id, mention.line) is not None
    return is_bound or (node is mention.expression and not _CLASS.match(node.id))


def _defined(document: PythonDocument) -> Iterator[str]:
    """The functions, classes and attributes that the code defines, and the names in its texts."""
    for scope in document.scopes:
        if scope.parent is not None:
            yield scope.name
        yield from scope.attributes
        yield from (name for name, bindings in scope.bindings.items() if bindings[-1].imported is None)
    for node in ast.walk(document.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from code_identifiers(node.value)
        # The classes of own parameters.
        elif isinstance(node, ast.arg) and node.annotation is not None:
            yield from (one.id for one in ast.walk(node.annotation) if isinstance(one, ast.Name))

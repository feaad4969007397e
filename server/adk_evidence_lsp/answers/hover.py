"""Hover over names of the ADK in Python files, from the symbol table and the table of versions alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence.models.pack import Verification
from adk_evidence.render.sanitize import code_span, fenced, inline
from adk_evidence.render.signatures import limited_signature, listed_fields, parameter_names
from adk_evidence.render.view import deviation, short_commit
from adk_evidence.services.eventloop import Cancelled
from adk_evidence.text.tokens import listed_within
from adk_evidence_lsp.answers.diagnostics import citation_of
from adk_evidence_lsp.protocol import CLIENT_FIND_EVIDENCE, CLIENT_OPEN_CITATION
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.checks.drift import DriftChecker
    from adk_evidence.documents.document import PythonDocument
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.search.session import Session
    from adk_evidence.symbols.about import About
    from adk_evidence.targets.constructors import Constructor

# A hover of more than about ten lines hides the code that it is about.
MAX_SIGNATURE_TOKENS = 70
MAX_NAMES_TOKENS = 100
MAX_DOC_CHARS = 320
MAX_TITLE_CHARS = 90
# What readers of Markdown turn into links or entities without any brackets.
_AUTOLINKS = re.compile(r"(?<=www)\.|[:@&]")
_LINES = re.compile(r"#L(\d+)-L(\d+)$")


async def hover(server: EvidenceServer, params: types.HoverParams) -> types.Hover | None:
    """What the index knows of the name under the mouse, or that the indexed version lacks the name.

    None for names that are not ADK's.
    """
    if not server.configuration.client.hover.enabled:
        return None
    snapshot = server.snapshot(params.text_document.uri)
    if snapshot.language != "python":
        return None

    project = server.project(snapshot.uri)
    told = server.tells_diagnostics
    links = Links(params, server.client_runs)

    def look_up(cancelled: Cancelled) -> str | None:
        from adk_evidence.checks.drift import checker_for
        from adk_evidence.index.versions import version_of_code
        from adk_evidence.symbols.about import about
        from adk_evidence.targets.constructors import constructor

        document = server.documents.parsed(snapshot)
        try:
            with server.desk.use(project) as (service, chosen), service.session() as session:
                place = snapshot.place(params.position)
                checker = checker_for(version_of_code(session.index.manifest, session.settings))
                found = about(document, session.symbols, *place, checker)
                if found is None:
                    return _lacking(document, place, session, chosen, links if not told else None)
                chunk = session.symbols.chunk(found.entry)
                is_class = found.parameter is None and found.info.kind == "class"
                search = service.symbols.known() if is_class else None
                made = constructor(search, chunk) if search is not None else None
                other = chosen.wanted.version if chosen.wanted is not None and not chosen.exact else ""
                return as_markdown(found, links, session.verify(chunk), other, made)
        except EvidenceError:
            # The index is missing, or other models built it: `adk/status` says so; a hover stays silent.
            return None

    value = await server.executor.run(look_up, lane="lookup")
    return types.Hover(types.MarkupContent(kind=types.MarkupKind.Markdown, value=value)) if value else None


def _lacking(
    document: PythonDocument, place: tuple[int, int], session: Session, chosen: ChosenIndex, links: Links | None
) -> str | None:
    """What a name that the project's version lacks should be, with a citation; None of other and of ignored names.

    Without links, None also of what a diagnostic says: an editor shows that in the same hover.
    """
    from adk_evidence.checks.drift import checker_of
    from adk_evidence.checks.remarks import is_ignored, remark_at

    checker = checker_of(chosen)
    if checker is None:
        return None
    checkers = checker.with_neighbours(document)
    lack = next(filter(None, (one.at(document, *place) for one in checkers)), None)
    if lack is not None and is_ignored(document.lines[place[0]], lack.kind):
        return None
    if lack is None:
        # Remarks on a line need all that the document binds.
        return _beside(document, place, checkers[1:], chosen)
    # These sentences name what the document itself and the table of versions name, and nothing of the corpora.
    if remark := remark_at(checker, document, *place):
        if links is None:
            return None
        right = citation_of(remark, checker, chosen, session.symbols)
        return f"{remark.text}\n\n{_place_of(right.citation, links)}" if right else remark.text
    return lack.text


def _beside(
    document: PythonDocument, place: tuple[int, int], checkers: list[DriftChecker], chosen: ChosenIndex
) -> str | None:
    """What the packages that the project has beside google-adk say of a name; None of other names."""
    from adk_evidence.api.history import read_call
    from adk_evidence.index.neighbours import environment_of
    from adk_evidence.targets.installation import named_beside

    environment = environment_of(chosen.wanted, chosen.settings)
    named = next(filter(None, (one.named_at(document, *place)[0] for one in checkers)), None)
    if environment is None or named is None:
        return None
    call = read_call(named)
    for found in named_beside(environment, f"{call.callable}.{call.keyword}" if call else named)[:1]:
        fields = listed_fields(found.fields, MAX_NAMES_TOKENS)
        parts = [fenced(limited_signature(found.signature, MAX_SIGNATURE_TOKENS), "python"), _prose(fields)]
        told = [_prose(_clipped(found.summary, MAX_DOC_CHARS)), f"{code_span(found.fqn)} · {code_span(found.citation)}"]
        return "\n\n".join(filter(None, (*parts, *told)))
    return None


class Links:
    """Links to the client's own commands, about the name at a place; plain text where the client has no such command.

    Args:
        place: The place of the name.
        runs: Whether the client runs a command.
    """

    def __init__(self, place: types.HoverParams, runs: Callable[[str], bool]) -> None:
        self._place = place
        self._runs = runs

    def find(self, text: str, query: str) -> str | None:
        """A link that finds evidence for a query; None where the client cannot."""
        position = {"line": self._place.position.line, "character": self._place.position.character}
        where = {"start": position, "end": position}
        return self._link(text, CLIENT_FIND_EVIDENCE, {"query": query, "taskMode": "explain", "range": where})

    def open(self, text: str, citation: str, **more: str) -> str | None:
        """A link that opens the cited lines, in the editor or as `where` says; None where the client cannot."""
        return self._link(text, CLIENT_OPEN_CITATION, {"citation": citation, **more})

    def _link(self, text: str, command: str, argument: dict[str, Any]) -> str | None:
        if not self._runs(command):
            return None
        document = {"textDocument": {"uri": self._place.text_document.uri}}
        arguments = json.dumps([{**argument, **document}], separators=(",", ":"))
        return f"[{text}](command:{command}?{quote(arguments, safe='')})"


def as_markdown(
    found: About, links: Links, state: Verification, project: str = "", made: Constructor | None = None
) -> str:
    """A symbol or a parameter as Markdown, in which texts from the corpora cannot be markup.

    Args:
        found: What is known of the name.
        links: Make the links.
        state: What became of the cited lines in their source.
        project: The version that the project uses, where that is another one.
        made: How a class is made.
    """
    info, parameter = found.info, found.parameter
    more: list[str] = []
    if parameter is None:
        whole = [info.signature or info.fqn, *([made.signature] if made else [])]
        shown = [limited_signature(one, MAX_SIGNATURE_TOKENS) for one in whole]
        parts = [fenced("\n".join(shown), "python")]
        named = {*parameter_names(shown[-1])}
        more = [name for name in parameter_names(whole[-1]) if name not in named]
        told = _prose(_clipped(info.doc, MAX_DOC_CHARS)) if info.doc else ""
    else:
        parts = [fenced(f"(parameter) {parameter.declared}", "python")]
        told = _prose(_clipped(parameter.doc, MAX_DOC_CHARS)) if parameter.doc else ""
    parts += [told] if told else []
    parts += [_prose(listed_within(more, MAX_NAMES_TOKENS, "Also takes "))] if more else []
    owner = f"parameter of {code_span(info.fqn)}" if parameter else code_span(info.fqn)
    parts.append(" \u00b7 ".join([owner, *_versions(found, project)]))
    places = [_place_of(info.citation, links) + deviation(state)]
    if info.documentation is not None:
        trail = info.documentation.headings or (info.documentation.path,)
        cited = info.documentation.citation
        # The last heading is what the link leads to; those before it only say where that stands.
        title = _prose(_clipped(" \u203a ".join(trail[-2:]), MAX_TITLE_CHARS))
        page = links.open("page", cited, where="browser") if info.documentation.url else None
        places.append(f"Docs: {links.open(title, cited) or title}" + (f" ({page})" if page else ""))
    if (find := links.find("Find evidence", info.symbol)) is not None:
        places.append(find)
    parts.append(" \u00b7 ".join(places))
    return "\n\n".join(parts)


def _versions(found: About, project: str) -> list[str]:
    info, life, told = found.info, found.lifetime, []
    if info.ref and info.ref != info.commit:
        told.append(_prose(info.ref))
    # What an early version before the first stable one brought is new to nobody.
    if life is not None and life.since is not None and not life.since.startswith("0."):
        told.append(f"new in {_prose(life.since)}")
    if life is not None and life.until is not None:
        told.append(f"until {_prose(life.until)}")
    if found.instead is not None:
        told.append(f"deprecated: use {code_span(found.instead)}" if found.instead else "deprecated")
    if project:
        told.append(f"the project uses google-adk {_prose(project)}, which is not indexed")
    return told


def _place_of(citation: str, links: Links) -> str:
    """A citation of code with a short commit and the name of its file, as two pieces between which a line may end."""
    corpus, _, where = citation.partition(":")
    name, _, commit = corpus.partition("@")
    path, lines = _LINES.sub("", where), _LINES.search(where)
    file = path.rpartition("/")[2] + (f":{lines[1]}-{lines[2]}" if lines else "")
    text = f"{code_span(f'{name}@{short_commit(commit)}')} {code_span(file)}"
    return links.open(text, citation) or text


def _clipped(text: str, limit: int) -> str:
    """At most so many characters, which end with a whole word."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    whole = line[: limit - 1].rpartition(" ")[0]
    return f"{whole or line[: limit - 1]}…"


def _prose(text: str) -> str:
    """A text as one line of Markdown in which nothing is markup, a link or an entity."""
    return _AUTOLINKS.sub(r"\\\g<0>", inline(text))

"""The server's own requests, and workspace/symbol: evidence, symbols, targets, sources, status, and packs again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from adk_evidence import __version__
from adk_evidence.errors import EvidenceError
from adk_evidence.models.lines import LineSpan
from adk_evidence.models.request import MAX_SYMBOLS, AskingPlace, EvidenceRequest
from adk_evidence.services.eventloop import Cancelled
from adk_evidence_lsp.documents import Snapshot
from adk_evidence_lsp.progress import work_done
from adk_evidence_lsp.projects import Project, codebase_for, path_of
from adk_evidence_lsp.protocol import (
    CheckCodeParams,
    CheckedCandidate,
    CheckParams,
    CheckResult,
    EvidenceParams,
    FindingInfo,
    Position,
    ProjectStatus,
    RenderParams,
    RenderResult,
    ServerStatus,
    SourceParams,
    StatusParams,
    SymbolParams,
    TargetsParams,
    parse_params,
)
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.citations.saved import Checked
    from adk_evidence.index.opened import Index
    from adk_evidence.models.pack import Verification
    from adk_evidence.search.read import CitedSource
    from adk_evidence.search.session import Session
    from adk_evidence.search.together import Answering
    from adk_evidence.settings import Settings
    from adk_evidence.symbols.query import QueryUsed
    from adk_evidence.targets.target import RankedTarget

MAX_OTHERS = 20
WORKSPACE_SYMBOLS = 20


async def evidence(server: EvidenceServer, params: EvidenceParams) -> dict[str, Any]:
    """The pack for a question, which is given or made of a selection, with `queryUsed`."""
    snapshot = _asked_about(server, params)
    client = server.configuration.client
    document = params.text_document.uri if params.text_document else None
    project = server.project(document, params.folder)

    def find(cancelled: Cancelled) -> dict[str, Any]:
        from adk_evidence.search.context import Context

        with server.desk.open() as indexes:
            chosen = indexes.choose(project, params.query or "")
            codebase = None
            if client.project_code.enabled:
                codebase = codebase_for(indexes.settings, project, document, params.folder)
            with indexes.answering(chosen, codebase, Context(cancelled), strict=params.strict) as answering:
                used = _question(server, params, snapshot, answering)
                request = {
                    "query": used.text,
                    "asked_at": _place(params, snapshot) if codebase is not None and params.query is None else None,
                    "wordings": params.wordings,
                    "symbols": used.symbols,
                    "own_names": used.own_names,
                    "task_mode": params.task_mode or client.task_mode,
                    "max_results_final": params.max_results or client.max_results,
                    "time_budget_ms": params.time_budget_ms or client.time_budget_ms,
                    "filters": params.filters,
                    "strict": params.strict,
                }
                pack = answering.ask(parse_params(EvidenceRequest, request))
        return {**pack.model_dump(mode="json"), "queryUsed": used.model_dump(mode="json")}

    key = None
    if params.supersede_key is not None:
        key = f"key:{params.supersede_key}"
    elif params.text_document is not None:
        key = f"document:{params.text_document.uri}"
    with work_done(server, params.work_done_token, "Finding ADK evidence"):
        budget_ms = params.time_budget_ms or client.time_budget_ms
        return await server.executor.run(find, key=key, budget_ms=budget_ms)


def _asked_about(server: EvidenceServer, params: EvidenceParams) -> Snapshot | None:
    """The document that the question is made of, or that has the place of a given question."""
    if params.text_document is None or (params.range or params.position) is None:
        return None
    try:
        return server.snapshot(params.text_document.uri)
    except JsonRpcInvalidParams:
        if params.query is None:
            raise
        # The document was closed since; the question can be answered without it.
        return None


def _question(
    server: EvidenceServer, params: EvidenceParams, snapshot: Snapshot | None, answering: Answering
) -> QueryUsed:
    from adk_evidence.symbols.query import QueryUsed, build_query, symbols_at

    if snapshot is None:
        return QueryUsed(text=params.query or "", origin="given", symbols=params.symbols)
    document, symbols = server.documents.parsed(snapshot), answering.symbols
    start, end = (snapshot.place(place) for place in _ends(params))
    if params.query is None:
        used = build_query(document, snapshot.language, start, end, symbols)
    else:
        # An error may cover a whole class, whose first line says what the error is about.
        last = min(end, (start[0] + 1, 0))
        found = symbols_at(document, start, last, symbols) if symbols is not None else ()
        used = QueryUsed(text=params.query, origin="given", symbols=found)
    named = tuple(dict.fromkeys((*params.symbols, *used.symbols)))[:MAX_SYMBOLS]
    return used.model_copy(update={"symbols": named})


def _place(params: EvidenceParams, snapshot: Snapshot | None) -> AskingPlace | None:
    from adk_evidence.index.registry import resolved_place

    path = path_of(snapshot.uri) if snapshot is not None else None
    first, last = sorted((one.line + 1, one.character) for one in _ends(params))
    # Whole lines end where the next one begins.
    lines = LineSpan(start=first[0], end=max(first[0], last[0] - (last[1] == 0)))
    return AskingPlace(path=resolved_place(path), lines=lines) if path is not None else None


def _ends(params: EvidenceParams) -> tuple[Position, Position]:
    if params.range is not None:
        return params.range.start, params.range.end
    place = params.position or Position(line=0, character=0)
    return place, place


async def symbol(server: EvidenceServer, params: SymbolParams) -> dict[str, Any] | None:
    """A symbol with the paths of `others` that the name may mean; None where it means nothing indexed."""
    asked = params.text_document if params.name is None else None
    snapshot = server.snapshot(asked.uri) if asked else None
    project = server.project(params.text_document.uri if params.text_document else None, params.folder)

    def look_up(cancelled: Cancelled) -> dict[str, Any] | None:
        from adk_evidence.symbols.resolution import resolve_at

        with server.desk.session(project) as (session, _):
            symbols = session.symbols
            if snapshot is None:
                exact = symbols.resolve(params.name or "")
                found = [exact] if exact else symbols.table.find(params.name or "")
            elif snapshot.language == "python" and params.position is not None:
                entry = resolve_at(server.documents.parsed(snapshot), symbols, *snapshot.place(params.position))
                found = [entry] if entry else []
            else:
                found = []
            if not found:
                return None
            others = [entry.fqn for entry in found[1 : MAX_OTHERS + 1]]
            return {**symbols.info(found[0]).model_dump(mode="json"), "others": others}

    return await server.executor.run(look_up, lane="lookup")


async def targets(server: EvidenceServer, params: TargetsParams) -> dict[str, Any]:
    """ADK symbols by name and by meaning."""

    project = server.project(None, params.folder)

    def find(cancelled: Cancelled) -> dict[str, Any]:
        python = Path(params.python) if params.python is not None else None
        with server.desk.use(project) as (service, chosen):
            answer = service.symbols.find(params.query, params.limit, params.mode, python)
            return answer.of_index(chosen).model_dump(mode="json")

    key = f"targets:{params.supersede_key}" if params.supersede_key is not None else None
    return await server.executor.run(find, key=key)


async def workspace_symbols(server: EvidenceServer, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    """ADK symbols with their whole location, so that there is nothing to resolve.

    They are of the versions that the workspace's projects use; where there are several, each symbol names its own.
    """
    projects = server.projects()

    def find(cancelled: Cancelled) -> list[types.WorkspaceSymbol]:
        found: list[tuple[str | None, list[types.WorkspaceSymbol]]] = []
        # Where an index, targets or a query is missing, `adk/status` says so, not every key that is pressed.
        with suppress(EvidenceError), server.desk.open() as indexes:
            chosen = [indexes.choose(project) for project in projects or (None,)]
            for each in {each.name: each for each in chosen}.values():
                service = indexes.service(each.settings)
                with suppress(EvidenceError), service.session() as session:
                    answer = service.symbols.find(params.query, WORKSPACE_SYMBOLS)
                    symbols = (_workspace_symbol(target, session.index) for target in answer.results)
                    found.append((each.version, [symbol for symbol in symbols if symbol is not None]))
        if len(found) > 1:
            for version, of_version in found:
                for symbol in of_version if version is not None else ():
                    symbol.container_name = f"{symbol.container_name} ({version})"
        return [symbol for _, of_version in found for symbol in of_version]

    return await server.executor.run(find)


def _workspace_symbol(target: RankedTarget, index: Index) -> types.WorkspaceSymbol | None:
    """The symbol at its definition, or None where that file is not on this machine."""
    from adk_evidence.targets.about import code_corpus_name

    name = code_corpus_name(index.manifest)
    file = index.file_of(name, target.path)
    if file is None:
        return None
    corpus = index.manifest.corpora[name]
    start = types.Position(target.lines.start - 1, 0)
    return types.WorkspaceSymbol(
        name=target.symbol,
        kind=types.SymbolKind.Field if target.type == "attribute" else types.SymbolKind[target.type.title()],
        location=types.Location(file.as_uri(), types.Range(start, start)),
        container_name=target.package,
        tags=[types.SymbolTag.Deprecated] if target.deprecated else None,
        # Parameters of `adk/source`, for clients that show the file read-only.
        data={"repo": corpus.repo, "commit": corpus.commit, "path": target.path},
    )


async def source(server: EvidenceServer, params: SourceParams) -> dict[str, Any]:
    """The text of a cited file. Nothing but indexed files is opened."""
    project = server.project(None, params.folder)

    def read(cancelled: Cancelled) -> dict[str, Any]:
        with server.desk.open() as indexes:
            return indexes.read(lambda session: _opened(session, _read(session, params)), project, _cited_as(params))

    return await server.executor.run(read)


def _read(session: Session, params: SourceParams) -> CitedSource:
    if params.candidate_id is not None:
        return session.read_candidate(params.candidate_id)
    if params.citation is not None:
        return session.read(params.citation)
    return session.read_file(params.path or "", params.repo, params.commit, params.lines)


def _cited_as(params: SourceParams) -> str | None:
    """The name by which a request cites its source; that of a codebase is the name of its index."""
    if params.candidate_id is None and params.citation is None:
        return params.repo
    return (params.candidate_id or params.citation or "").partition("@")[0]


def _opened(session: Session, cited: CitedSource) -> dict[str, Any]:
    site = session.index.manifest.corpora[cited.corpus].site_url
    return {**cited.model_dump(mode="json"), "site_url": site}


async def status(server: EvidenceServer, params: StatusParams) -> dict[str, Any]:
    """What is installed, indexed, stale or missing."""
    ingesting, problem = server.ingesting, server.configuration.problem
    projects, asked = server.projects(), server.project(None, params.folder)

    def look(cancelled: Cancelled) -> dict[str, Any]:
        from adk_evidence.embedding.factory import fingerprint
        from adk_evidence.store.factory import open_generations

        settings = server.desk.load()
        findings: tuple[FindingInfo, ...] = ()
        if params.examined:
            from adk_ingest.commands.doctor import examine

            findings = tuple(FindingInfo(**asdict(finding)) for finding in examine(settings))
        generations = open_generations(settings)
        index, symbols = None, True
        with suppress(EvidenceError), server.desk.session(asked) as (session, _):
            index, symbols = session.index.info, _lists_symbols(session)
        return ServerStatus(
            version=__version__,
            home=settings.paths.root,
            profile=settings.profile,
            services=settings.services,
            index=index,
            symbols=symbols,
            models=fingerprint(settings),
            findings=findings,
            ingesting=ingesting or generations.is_being_written(),
            settings_problem=problem,
            projects=tuple(_project_status(server, projects)),
        ).model_dump(mode="json")

    return await server.executor.run(look, lane="care")


def _lists_symbols(session: Session) -> bool:
    """Whether the list of an index's symbols is as it should be; an index without code needs none."""
    if all(corpus.kind != "code" for corpus in session.index.manifest.corpora.values()):
        return True
    found = session.service.symbols.known()
    return found is not None and found.set.vectors is not None and not found.set.stale


def _project_status(server: EvidenceServer, projects: list[Project]) -> Iterator[ProjectStatus]:
    with server.desk.open() as indexes:
        for project in projects:
            chosen = indexes.choose(project)
            if (wanted := chosen.wanted) is not None:
                yield ProjectStatus(
                    folder=project.uri,
                    version=wanted.version,
                    taken_from=wanted.taken_from,
                    asked=wanted.asked,
                    indexed=chosen.version,
                    exact=chosen.exact,
                )


async def render(server: EvidenceServer, params: RenderParams) -> dict[str, Any]:
    """A pack as Markdown or as a prompt, the same text as on every other surface."""
    return await server.executor.run(lambda _: rendered(params).model_dump(mode="json"), lane="lookup")


def rendered(params: RenderParams) -> RenderResult:
    """The pack, or those of its results that were chosen, as text."""
    from adk_evidence.render.markdown import to_markdown
    from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS, to_prompt
    from adk_evidence.text.tokens import estimate_tokens

    pack, chosen = params.pack, params.candidate_ids
    if chosen is not None:
        # What a person chose is shown, however little it adds.
        kept = tuple(
            candidate.model_copy(update={"adds_little": False})
            for candidate in pack.candidates
            if candidate.candidate_id in chosen
        )
        pack = pack.model_copy(update={"candidates": kept})
    if params.format == "markdown":
        text = to_markdown(pack)
        return RenderResult(text=text, tokens=estimate_tokens(text), included=len(pack.candidates), note="")
    block = to_prompt(
        pack,
        params.max_tokens or DEFAULT_MAX_TOKENS,
        system=params.system,
        history=params.history,
        max_documents=params.max_documents,
        max_document_tokens=params.max_document_tokens,
    )
    return RenderResult(text=block.text, tokens=block.tokens, included=block.included, note=block.note)


async def check(server: EvidenceServer, params: CheckParams) -> dict[str, Any]:
    """What became of the texts that a saved pack cites, in the present sources of the version that answered."""

    def compare(cancelled: Cancelled) -> dict[str, Any]:
        from adk_evidence.citations.saved import Against, check_pack, pack_of, read_sources, sources_of_pack
        from adk_evidence.models.pack import is_intact
        from adk_evidence.search.context import Context

        pack = pack_of(params.pack)
        with server.desk.open() as indexes, ExitStack() as opened:

            def sources_of(settings: Settings) -> list[Against]:
                session = opened.enter_context(indexes.service(settings).session(Context(cancelled)))
                return read_sources(session.index.manifest, session.index.sources)

            sources, note = sources_of_pack(indexes.settings, pack, sources_of)
            candidates = tuple(
                CheckedCandidate(candidate_id=one.candidate.candidate_id, verification=_with_note(one, note))
                for one in check_pack(pack, sources)
            )
        return CheckResult(intact=is_intact(params.pack), candidates=candidates).model_dump(mode="json")

    return await server.executor.run(compare)


async def check_code(server: EvidenceServer, params: CheckCodeParams) -> dict[str, Any] | None:
    """Whether Python code fits the google-adk of the question or the project; None where that is not known."""
    project = server.project(None, params.folder)

    def look(cancelled: Cancelled) -> dict[str, Any] | None:
        from adk_evidence.checks.code import check_code
        from adk_evidence.checks.drift import checker_of

        with server.desk.open() as indexes:
            checker = checker_of(indexes.choose(project, params.question))
        if checker is None or cancelled():
            return None
        found = check_code(checker, params.text, "py" if params.language == "python" else "md")
        return found.model_dump(mode="json")

    return await server.executor.run(look, lane="lookup")


def _with_note(checked: Checked, note: str | None) -> Verification:
    """What became of a citation; of code that does not stand, with a note on the version that it was compared with."""
    found = checked.verification
    if note is None or found.state == "exact" or checked.candidate.source_type != "code":
        return found
    return found.model_copy(update={"reason": f"{found.reason} {note}".strip()})

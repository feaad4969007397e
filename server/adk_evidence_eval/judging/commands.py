"""`adk-evidence eval judge`: pairs, a model's grades and the report. Heavy imports wait for a command."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adk_evidence_console import CommandLine, Home, Profile, path_argument, path_option, say, settings_from, stderr

if TYPE_CHECKING:
    from adk_evidence_eval.judging.pairs import Pair
    from adk_evidence_eval.judging.sheet import Sheet
    from adk_evidence_eval.variants import Bench

app = CommandLine("Grade what two systems show for the same questions, blindly, by people or a language model.")

_SYSTEM = "NAME=FILE with answers, or NAME=setting=value;setting=value; NAME= for the settings as they are."
Queries = Annotated[Path, path_option("Questions, one JSON object a line with id and query.")]
MaxTokens = Annotated[int, typer.Option(help="Estimated tokens of what is shown for a question.", min=100)]
Folder = Annotated[
    Path, typer.Argument(parser=path_argument, metavar="FOLDER", help="What `eval judge make` has written.")
]


@app.command()
def make(
    queries: Queries,
    first: Annotated[str, typer.Option(metavar="NAME=SYSTEM", help=f"A system. {_SYSTEM}")],
    second: Annotated[str, typer.Option(metavar="NAME=SYSTEM", help="Another system, written in the same way.")],
    out: Annotated[Path, path_option("A new folder for the pairs, a sheet to fill in, and the key.")],
    max_tokens: MaxTokens = 8000,
    seed: Annotated[int, typer.Option(help="Decides, with each question, which side comes first.")] = 1,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Write blind pairs: a page for each question with both systems' prompts, and a sheet for the grades."""
    from adk_evidence.errors import InvalidRequestError
    from adk_evidence_eval.golden import read_queries
    from adk_evidence_eval.judging.pairs import BLANK, KEY, Key, check_free, make_pairs, write_folder
    from adk_evidence_eval.judging.sheet import Sheet, sheet_text
    from adk_evidence_eval.judging.systems import answers, parse_system

    systems = parse_system("--first", first), parse_system("--second", second)
    names = systems[0].name, systems[1].name
    if names[0] == names[1] or "same" in names:
        raise InvalidRequestError("Two systems need two names, and none of them is called same.", "Rename a system.")
    check_free(out)
    questions = read_queries(queries)
    shown = {}
    with closing(_bench(profile, home)) as bench:
        # Files first: a mistake in one is found before any question is asked.
        for system in sorted(systems, key=lambda system: system.file is None):
            if system.file is None:
                say(stderr(), f"{system.name}: asking {len(questions)} questions")
            shown[system.name] = list(answers(bench, system, questions, max_tokens))
    made = make_pairs(questions, shown[names[0]], shown[names[1]], seed)
    pairs = [pair for pair, _ in made]
    entries = {pair.id: entry for pair, entry in made}
    key = Key(seed=seed, max_tokens=max_tokens, systems=names, made_of=(first, second), pairs=entries)
    write_folder(out, pairs, key, sheet_text(pairs, Sheet()))
    same = sum(pair.same for pair in pairs)
    say(stderr(), f"{len(pairs)} pairs, {same} of them with the same text on both sides, written to {out}")
    say(stderr(), f"Read the pages and fill in {BLANK}; each further judge fills in a copy named sheet-NAME.csv.")
    say(stderr(), f"Leave {KEY} closed until then: it says whose each side is.")


@app.command("answers")
def write_answers(
    queries: Queries,
    out: Annotated[Path, path_option("Where the answers are written, one JSON object a question.")],
    vary: Annotated[
        list[str] | None, typer.Option("--set", help="A setting and its value, e.g. retrieval.fusion=dbsf; repeatable.")
    ] = None,
    max_tokens: MaxTokens = 8000,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Write what is shown for each question, to compare it with another version of the program or of the index."""
    from adk_evidence_eval.golden import read_queries, write_rows
    from adk_evidence_eval.judging.systems import System, answers, settings_of

    system = System("", overrides=settings_of("--set", vary or []))
    questions = read_queries(queries)
    with closing(_bench(profile, home)) as bench:
        count = write_rows(answers(bench, system, questions, max_tokens), out)
    say(stderr(), f"{count} answers written to {out}")


@app.command()
def ask(
    folder: Folder,
    model: Annotated[
        str | None, typer.Option(help="The model that judges. Without: that of `rerank.llm`.", show_default=False)
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Name of the sheet. Without: that of the model.", show_default=False)
    ] = None,
    preference: Annotated[
        bool,
        typer.Option("--preference", help="Also ask which side is preferred, in both orders: two more calls a pair."),
    ] = False,
    limit: Annotated[int | None, typer.Option(help="Pairs to judge, at most.", min=1, show_default=False)] = None,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Have a language model grade the pairs, each side alone; a later call goes on where this one stopped.

    The model is that of `rerank.llm` in the settings, behind any OpenAI-compatible service.
    """
    from contextlib import closing

    from adk_evidence.services.chat import ChatService, patient
    from adk_evidence_eval.judging.model import Task, ask_all, open_tasks
    from adk_evidence_eval.judging.pairs import read_pairs
    from adk_evidence_eval.judging.sheet import Sheet, read_sheet, sheet_path, write_sheet

    overrides: dict[str, Any] = {"rerank": {"llm": {"model": model}}} if model else {}
    settings = patient(settings_from(profile, home, **overrides).rerank.llm)
    pairs = read_pairs(folder)
    path = sheet_path(folder, judge or settings.model)
    sheet = read_sheet(path, pairs) if path.exists() else Sheet()
    tasks = open_tasks(pairs.values(), sheet, preference=preference, limit=limit)
    if not tasks:
        say(stderr(), f"Nothing is left to judge in {path}.")
        return
    calls, tokens = sum(len(task.prompts) for task in tasks), sum(task.tokens for task in tasks)
    say(stderr(), f"{calls} calls of {settings.model} at {settings.base_url}, about {tokens:,} tokens to read;")
    say(stderr(), "an answer that is not valid is asked for once more.")

    def done(number: int, task: Task, problem: str) -> None:
        write_sheet(path, pairs.values(), sheet)
        say(stderr(), f"{number}/{len(tasks)} {task}{f': {problem}' if problem else ''}")

    with closing(ChatService(settings)) as chat:
        failed = ask_all(chat, tasks, sheet, done=done)
    say(stderr(), f"{len(tasks) - failed} of {len(tasks)} judgements written to {path}")
    if failed:
        raise typer.Exit(1)


@app.command()
def report(
    folder: Folder,
    judge: Annotated[
        list[str] | None, typer.Option(help="A judge whose sheet counts; repeatable.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare the two systems by the grades of one judge, or of several together, with bootstrap intervals."""
    from adk_evidence_eval.judging.pairs import read_key, read_pairs
    from adk_evidence_eval.judging.report import report as report_of
    from adk_evidence_eval.views import judgements_view, show

    pairs = read_pairs(folder)
    key = read_key(folder, pairs)
    show(judgements_view(report_of(pairs, key, _sheets(folder, pairs, judge))), as_json=as_json)


def _sheets(folder: Path, pairs: dict[str, Pair], judges: list[str] | None) -> dict[str, Sheet]:
    """The sheets of the named judges; without names, the only sheet that has a grade."""
    from adk_evidence.errors import InvalidRequestError
    from adk_evidence_eval.judging.sheet import read_sheet, sheets

    paths = sheets(folder)
    for name in judges or ():
        if name not in paths:
            raise InvalidRequestError(
                f"{folder} has no sheet of {name!r}.", f"There are: {', '.join(paths) or 'none'}."
            )
    read = {name: read_sheet(paths[name], pairs) for name in judges or paths}
    if judges:
        return read
    filled = {name: sheet for name, sheet in read.items() if sheet.grades}
    if not filled:
        raise InvalidRequestError(
            f"No sheet of {folder} has a grade yet.", "Fill in sheet.csv, or run `adk-evidence eval judge ask`."
        )
    if len(filled) > 1:
        together = " ".join(f"--judge {name}" for name in filled)
        raise InvalidRequestError(
            f"{folder} has the sheets of several judges: {', '.join(filled)}.",
            f"Choose one, or report them together with {together}.",
        )
    return filled


def _bench(profile: str | None, home: str | None) -> Bench:
    from adk_evidence_eval.variants import Bench

    # A system may have a profile and an index of its own.
    return Bench(lambda found: settings_from(**{"profile": profile, "home": home, **found}))

"""Commands, options and settings that were removed, each with the sentence that says what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

# A command is named as it was typed (`adk-ingest prune`), an option behind its command (`adk-ingest all --part`), and a
# setting by its path (`rerank.reader.adapter`, or `rerank.reader` for a whole section).
INSTEAD: Mapping[str, str] = {
    "adk-evidence analyze --similarity": "An analysis tells only of copies to the letter; leave the option out.",
    "adk-evidence analyze --symbol-tokens": "An analysis no longer lists large symbols; leave the option out.",
    "adk-evidence serve mcp --structured": "Read the text of the answers; `adk-evidence ask --json` gives programs the "
    "whole pack.",
    "adk-ingest finish": "Run `adk-ingest all`, which publishes the index; put a large one on a Qdrant cluster.",
    "adk-ingest simulate": "Run `adk-ingest plan`, which says what an ingestion takes and costs.",
    **{
        f"adk-ingest {command} {option}": "One process makes the whole index: run the command without this option."
        for command in ("all", "codebase")
        for option in ("--part", "--build")
    },
    "adk-ingest code --keep": "Run `adk-ingest all --adk 1.18.0`: each version has an index.",
    "adk-ingest forget": "Run `adk-ingest delete adk-1.18.0`: each version has an index.",
    "adk-evidence ask --ref": "Name the version in the question or with `--adk`.",
    "adk-evidence eval abstention": "Run `python -m tests.quality.abstention` in a checkout of the code.",
    "adk-evidence eval exact": "Run `python -m tests.quality.exact` in a checkout of the code.",
    "adk-evidence eval judge": "Write a sheet for people with `adk-evidence eval sheet`.",
    "adk-evidence eval report": "Run `python -m tests.quality.misses` in a checkout of the code.",
    "adk-evidence eval selfsupervised": "Write questions by hand; `config/golden/README.md` says in which form.",
    "adk-evidence eval sweep": "Run `python -m tests.quality.sweep` in a checkout of the code.",
    "adk-evidence eval train-questions": "Run `python -m tests.quality.train_questions` in a checkout of the code.",
    "adk-evidence eval train-reader": "Leave it out: no model reads the candidates any more.",
    "rerank.reader": "Leave it out: no model reads the candidates any more.",
}


def instead_of(name: str) -> str | None:
    """What to do instead of a removed command, option or setting; None where nothing of this name was removed.

    A setting below a removed section is removed with the section.
    """
    while name:
        if name in INSTEAD:
            return INSTEAD[name]
        name = name.rpartition(".")[0]
    return None

"""The words for what a result is to a question, and for the warnings of an answer.

The search makes codes and numbers; no other module writes these sentences, and none reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adk_evidence.commands import with_options
from adk_evidence.models.chunk import Kind, SourceType
from adk_evidence.models.named import Named
from adk_evidence.models.warning import Warning, WarningCode

# A kind in a sentence.
KIND_NAMES: Mapping[Kind, str] = {"doc": "documentation", "code": "code"}
# How many files, and how many names, a sentence lists.
_FILES = 3
_NAMES = 4


def named_label(named: Named) -> str:
    """What a result is to what the request names, in a few words that follow the result."""
    match named.role:
        case "raises":
            return "raises the error"
        case "raises_cause":
            return f"raises {_listed(named)}, which led to the error"
        case "last_call":
            if named.names:
                return f"raised {_listed(named)} in the traceback, but has other code here"
            return "is the last indexed call before the error"
        case "call" if not named.frame:
            return "is called in the traceback, which does not fit this code"
        case "call":
            return f"calls it: frame {named.frame} of {named.frames}"
        case "holds_message":
            return "holds the message of the error"
        case "holds_part":
            return "holds part of the message of the error"
        case "holds_text":
            return "holds the pasted text"
        case "defines":
            return f"defines {_listed(named)}"
        case "takes":
            return f"takes the parameter {_listed(named)}"


def _listed(named: Named) -> str:
    return ", ".join(named.names[:_NAMES]) + (" and others" if len(named.names) > _NAMES else "")


# What was asked for


def version_not_indexed(told: str) -> Warning:
    """A warning about a project's version; `told` is the sentence that `index/versions.py` writes."""
    return Warning(code="version_not_indexed", text=told)


def asked_version_not_indexed(asked: Sequence[str], version: str | None) -> Warning:
    """A warning about the versions that a question names; `version` is that of the index, None if nobody knows it."""
    holds = f"holds v{version}" if version else "does not say which version it holds"
    told = f"The question is about ADK {' and '.join(asked)}; the index {holds}. Evidence may not hold there."
    return Warning(code="version_not_indexed", text=told)


def traceback_of_other(what: str, version: str | None) -> Warning:
    """`what` says how the searched code differs, as a clause; `version` is that of its google-adk, if known."""
    searched = f"google-adk {version}" if version else "the indexed code"
    told = f"This traceback does not fit {searched}: {what}. It may come from another version."
    return Warning(code="traceback_of_other_version", text=told)


def ref_not_indexed(ref: str) -> Warning:
    told = f"nothing that is indexed is of {ref!r}; the search went on without this filter."
    return Warning(code="ref_not_indexed", text=told)


def path_not_indexed(globs: Sequence[str], near: Mapping[str, int], *, blocked: bool) -> Warning:
    """`near` has globs that match so many files; `blocked` says whether a blocklist leaves files out."""
    without = " besides the files that the blocklist leaves out" if blocked else ""
    told = f"no indexed file{without} matches the paths that you asked for: {', '.join(map(repr, globs))}."
    matching = [f"{glob!r} matches {count} indexed file{'s' if count > 1 else ''}" for glob, count in near.items()]
    return Warning(code="path_not_indexed", text=f"{told} {'; '.join(matching)}." if matching else told)


def unknown_symbol(name: str, told_by_releases: str | None) -> Warning:
    told = told_by_releases or f"{name} is no symbol of the indexed code."
    return Warning(code="unknown_symbol", text=told)


def unknown_name(name: str, told_by_releases: str | None = None, *, is_code: bool = True) -> Warning:
    """Without `is_code`, the name may be a word, such as the name of another product."""
    guess = "; it may be invented, your own or too new" if is_code else ""
    return Warning(code="unknown_name", text=told_by_releases or f"{name} is nowhere in the index{guess}.")


def extra_missing(extra: str, version: str, module: str) -> Warning:
    """`extra` brings a module, e.g. `google-adk[mcp]`."""
    told = f'{extra.partition("[")[0]} {version} has an extra that brings `{module}`: `pip install "{extra}"`.'
    return Warning(code="extra_missing", text=told)


# What could not take part


def unavailable(code: WarningCode, failure: Exception) -> Warning:
    """Of a part that failed; its error says what to do."""
    return Warning(code=code, text=str(failure))


def dense_pending(why: str, hint: str) -> Warning:
    return Warning(code="dense_pending", text=f"results are by keywords only: {why}. {hint}")


def time_budget(what: str) -> Warning:
    return Warning(code="time_budget", text=f"the time budget was spent before {what}.")


def index_unavailable(name: str, failure: str) -> Warning:
    return Warning(code="index_unavailable", text=f"{name} could not answer: {failure}".rstrip())


# What the results are


def not_indexed(kind: Kind) -> Warning:
    """Of a kind that the mode asks for."""
    told = f"no {KIND_NAMES[kind]} is indexed, though the mode asks for docs and code."
    return Warning(code="coverage", text=told)


def too_few(found: int, wanted: int, source: SourceType) -> Warning:
    return Warning(code="coverage", text=f"only {found} of the {wanted} {source} results that the mode asks for.")


def docs_fallback() -> Warning:
    told = "the guides are not indexed; the API reference stands in for them."
    return Warning(code="docs_fallback", text=told)


def provenance(left_out: int) -> Warning:
    return Warning(code="provenance", text=f"{left_out} results without a stable address were left out.")


def line_spans_unavailable(path: str) -> Warning:
    return Warning(code="line_spans_unavailable", text=f"line spans unavailable for {path}.")


def uncommitted(paths: Sequence[str]) -> Warning:
    named = ", ".join(paths[:_FILES]) + (" and others" if len(paths) > _FILES else "")
    told = f"no commit holds these files as they are, so `tree-` cites them as found on disk: {named}."
    return Warning(code="uncommitted", text=told)


def index_older(name: str) -> Warning:
    told = f"{name}: files have changed since; bring this index up to date."
    return Warning(code="index_older", text=told)


def index_behind(name: str, files: int, since: str, command: str) -> Warning:
    """`since` is a time in ISO 8601, in UTC."""
    changed = "1 file was" if files == 1 else f"{files:,} files were"
    moment = since[:16].replace("T", " ")
    told = f"the index {name} is stale: {changed} changed, added or deleted since {moment} UTC. Run `{command}`."
    return Warning(code="index_older", text=with_options(told))


def index_not_updated(name: str, why: object = "Another run is bringing it up to date.") -> Warning:
    """`why` is a failure: the files cannot be looked at, or a run has failed."""
    return Warning(code="index_older", text=f"the index {name} may be stale. {why}")


def of_index(name: str, warning: Warning) -> Warning:
    """A warning of the second index in a pack of two."""
    return warning.model_copy(update={"text": f"{name}: {warning.text}"})

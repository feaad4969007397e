"""What kind of text a query is, its normal form and its deterministic sub-queries (SPEC 5 section 5).

No model is asked: the kind follows from the structure of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from adk_evidence.embedding.bm25 import load_stopwords, load_words
from adk_evidence.models.pack import QueryKind
from adk_evidence.readers.python import parse_quietly
from adk_evidence.search.question.traceback import Traceback, find_error, read_traceback
from adk_evidence.text.identifiers import code_identifiers, extract_identifiers, is_code_like

FILLER_WORDS_FILE = "filler_words.txt"
FOREIGN_WORDS_FILE = "foreign_words.txt"
# A single word of another language may be a name.
_FOREIGN = 2
# Behind it come the scripts of China, Japan and Korea, and other signs.
_LAST_WITH_SPACES = "\u1eff"
# Whoever names more than this says something about the names.
MAX_NAMES = 6
_CODE_SIGNALS = re.compile(r"\.py\b|\w+\(|\b(?:import|def|class|async def)\s+\w")
_CODE_LINE = re.compile(
    r"^\s*(?:(?:from|import|def|class|async|await|return|raise|with|for|while|if|elif|else|try|except|yield)\b.*[:\w()\]]$"
    r"|@\w|[\w.]{1,120}(?:\[.{0,80}\])?\s?(?::\s?[\w.\[\], |]{1,80})?\s?=[^=]|[\w.]{1,120}\(|[)\]}]+[,:]?$)"
)
# Fewer words beside code do not say what is asked.
_FEW_WORDS = 5
_FENCED = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Query:
    """A normalised query. Casing is kept: identifiers are case-sensitive.

    `text` is what is searched: of a pasted error its type, its message and the user's own words, else everything.
    `message` is the message of the pasted error alone, and `traceback` the traceback that the error ends.
    `wordings` are other ways to say the same, which are searched as well.
    """

    text: str
    identifiers: tuple[str, ...]
    code_identifiers: tuple[str, ...]
    kind: QueryKind = "question"
    message: str = ""
    error_type: str = ""
    traceback: Traceback | None = None
    wordings: tuple[Query, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The unqualified names that the query mentions in code: `run` of `Runner.run`."""
        return tuple(dict.fromkeys(name.rpartition(".")[2] for name in self.code_identifiers))

    @property
    def is_error(self) -> bool:
        return self.kind in ("traceback", "error")


def normalise(raw: str, *, errors: bool = True) -> Query:
    """Tell the kind of a query, trim, collapse white space and pick out what looks like identifiers.

    Control characters become spaces, so that no query can forge a line in a log or in a rerank document. Without
    `errors`, a pasted error is text like any other.
    """
    error = _pasted_error(raw) if errors else None
    if error is not None:
        return error
    text = plain_line(raw)
    identifiers = tuple(extract_identifiers(text))
    # A name asked for on its own is meant as code, however plain it is.
    named = (text,) if identifiers == (text,) else tuple(code_identifiers(text))
    return Query(text, identifiers, named, _kind(raw, text, named))


def with_wordings(query: Query, wordings: Iterable[str]) -> Query:
    """The query with other wordings of it; nothing in a wording is an error that was pasted."""
    return replace(query, wordings=tuple(normalise(one, errors=False) for one in wordings))


def _pasted_error(raw: str) -> Query | None:
    traceback = read_traceback(raw)
    if traceback is not None:
        last = traceback.last
        return _of_error(traceback.words, last.type, last.message, traceback)
    error = find_error(raw)
    if error is not None:
        kind, message, words = error
        return _of_error(words, kind, message, None)
    return None


def _of_error(words: str, kind: str, message: str, traceback: Traceback | None) -> Query:
    name = kind.rpartition(".")[2]
    error = f"{name}: {message}" if name and message else name or message
    if traceback is not None and (first := traceback.first) is not traceback.last:
        error = f"{error} {first.type.rpartition('.')[2]}: {first.message}"
    text = plain_line(f"{words} {error}") or "traceback"
    return Query(
        text=text,
        identifiers=tuple(extract_identifiers(text)),
        code_identifiers=tuple(code_identifiers(text)),
        kind="traceback" if traceback else "error",
        message=plain_line(message),
        error_type=name,
        traceback=traceback,
    )


def _kind(raw: str, text: str, named: tuple[str, ...]) -> QueryKind:
    words = text.split()
    if len(words) <= MAX_NAMES and all(word in named or is_code_like(word) for word in words):
        return "names"
    return "code" if _is_code(raw) else "question"


def _is_code(raw: str) -> bool:
    """Whether a text is code: most of its lines look like code, or the text parses as more than a row of names."""
    lines = [line for line in raw.splitlines() if line.strip()]
    likely = sum(bool(_CODE_LINE.match(line[:400])) for line in lines)
    return likely * 2 > len(lines) if len(lines) > 1 else bool(likely) and parse_quietly(raw.strip()) is not None


def is_in_english(text: str) -> bool:
    """Whether a question may be in English: not where it has more words of other languages, as far as these show.

    They show by their letters, or are frequent. Of writing without spaces, two letters count as a word. Blocks in
    fences say nothing.
    """
    words: list[str] = re.findall(r"\w+", _FENCED.sub(" ", text).lower())
    other = load_words(FOREIGN_WORDS_FILE)
    foreign = sum(word in other or not word.isascii() for word in words)
    foreign += sum(char > _LAST_WITH_SPACES for word in words for char in word) // 2
    english = load_stopwords() | load_words(FILLER_WORDS_FILE)
    return bool(foreign < _FOREIGN or foreign <= sum(word in english for word in words))


def code_lines(text: str) -> str:
    """The lines of a text in words that look like code, and what is indented below them; no blocks in fences."""
    kept: list[str] = []
    lines = _FENCED.sub("\n", text).splitlines()
    for line in lines if len(lines) > 1 else ():
        is_part = bool(kept) and line[:1].isspace() and bool(line.strip())
        if is_part or _CODE_LINE.match(line[:400]):
            kept.append(line)
    return "\n".join(kept)


def words_beside_code(text: str) -> str:
    """What a text with code says in words, in one line; empty without code, and where hardly a word is beside it."""
    code = code_lines(text).splitlines()
    plain = _FENCED.sub("\n", text)
    if not code and plain == text:
        return ""
    words = plain_line(" ".join(line for line in plain.splitlines() if line not in code))
    return words if len(words.split()) >= _FEW_WORDS else ""


def plain_line(raw: str) -> str:
    """A text in one line, without control characters and repeated white space."""
    return " ".join("".join(char if char.isprintable() else " " for char in raw).split())


def sub_queries(query: Query) -> tuple[str, ...]:
    """Q1 to Q3 of SPEC 5 section 5.2. Q3 only for a query with code: snake_case, dotted names, calls, file names."""
    expanded = (
        f"ADK Python official usage: {query.text}",
        f"Agent Development Kit tool calling sessions state: {query.text}",
    )
    if not query.code_identifiers and not _CODE_SIGNALS.search(query.text):
        return expanded
    named = " ".join(query.code_identifiers or query.identifiers)
    return (*expanded, f"In code: {named} {query.text}")

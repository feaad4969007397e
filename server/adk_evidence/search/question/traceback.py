"""Reads pasted Python tracebacks: their exceptions with messages and frames, and the user's own words around them.

People paste tracebacks from terminals, logs, JSON, pytest, notebooks and boxes of rich. Libraries that read tracebacks
from text (tblib, boltons) know the plain format alone, hence this reader. It goes by the lines that name a file and a
line number, wherever in a line they stand, so that prefixes of logs, bars of exception groups and frames of boxes need
no grammar of their own. Every step takes linear time, and whatever cannot be read is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_MESSAGE_LINES = 12
MAX_MESSAGE_CHARS = 1200
MAX_OWN_WORDS = 80
# How much of a line is read: no line of a traceback that says anything is longer.
MAX_LINE = 2000

_ANSI = re.compile(r"(?:\x1b\[[0-9;?]{0,24}[A-Za-z]|(?<![\w\])])\[[0-9]{1,2}(?:;[0-9]{1,3}){0,4}m)")
_HEADER = re.compile(r"(?:Exception Group )?Traceback \(most recent call last\):?")
_ESCAPED = re.compile(r"(?:call last\):|line \d{1,7}(?:, in [\w.<>]{1,80})?)\\{1,2}n")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_QUOTE = re.compile(r"(?<!\\)\"")
# A string of JSON inside a string of JSON is escaped twice.
_MAX_ESCAPED = 2
_PLAIN = re.compile(r"File \"([^\"\n]{1,500})\", line (\d{1,7})(?:, in ([\w.<>]{1,120}))?")
_COLLAPSED = re.compile(r"[ \t]+(?=File \"[^\"\n]{1,500}\", line \d)")
# The path of a frame that ends with its line: a notebook's `File x.py:3, in f(a)`, pytest's `x.py:3: ValueError`, and
# rich's `x.py:3 in f`. A path may begin with a drive and hold spaces only after `File`.
_NOTEBOOK = re.compile(r"File ([^\n:]{0,3}[^\n:]{1,400}):(\d{1,7})(?:, in ([\w.<>]{1,120}))?")
_CELL = re.compile(
    r"^(?:(?:Cell|Input) In ?\[\d{1,6}\](?:, line (\d{1,7}))?,? ?|<ipython-input-[^>\n]{1,80}> )"
    r"(?:in ([\w.<>]{1,120}))?"
)
_PYTEST = re.compile(
    r"^((?:[A-Za-z]:)?[^\s:]{1,400}\.pyx?):(\d{1,7}):(?: in ([\w.<>]{1,120})| ([A-Za-z_][\w.]{0,120}))?\s*$"
)
_RICH = re.compile(r"^((?:[A-Za-z]:)?[^\s:]{1,400}\.pyx?):(\d{1,7}) in ([\w.<>]{1,120})$")
_OLD_NOTEBOOK = re.compile(r"^((?:[A-Za-z]:)?[^\s:]{1,400}\.pyx?) in ([\w.<>]{1,120})\(.{0,400}\)$")
_ARROW = re.compile(r"^(?:-{1,8}>|❱|>)\s{0,8}(\d{1,7})\s(.{0,400})$")
_POINTED = re.compile(r"^>\s{1,40}(\S.{0,400})$")
_PYTEST_ERROR = re.compile(r"^E(?:\s{2,40}(.{0,1200}))?$")
_DEFINITION = re.compile(r"^\s{0,80}(?:async )?def ([A-Za-z_]\w{0,120})\(")
_EXCEPTION = re.compile(r"^((?:[A-Za-z_]\w{0,80}\.){0,12}[A-Za-z_]\w{0,120})(?::(?:\s(.{0,1200}))?)?$")
_CHAIN = re.compile(r"(?:During handling of the above exception|The above exception was the direct cause)")
_BARS = re.compile(r"^(?:[ \t]{0,40}(?:[|│]|\+[-+ ]{0,60}\d{0,4}[ -]{0,60}))+[ ]?")
_BOX = re.compile(r"^[ \t]*[│┃|╭╰╔╚]\s?|\s*[│┃╮╯]\s*$")
_RULE = re.compile(r"^[\s\-=_~^*+.|─━═╭╰╮╯│]{2,}$")
_ERROR_NAME = re.compile(r"(?:Error|Exception|Warning|Exit|Interrupt|Group|Iteration|Timeout|NotFound|Fault)$")
_INLINE = re.compile(
    r"(?<![\w.\"'`])((?:[A-Za-z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}(?:Error|Exception|Warning|Exit|Interrupt|Group)):\s{1,8}(?=\S)"
)
# What a program handles, defines or documents is no error that someone met.
_WRITTEN = re.compile(r"(?:\bexcept|\bclass|:raises|->)\s{1,8}$")
_DOCUMENTED = re.compile(r"\bRaises:\s")
# Where the message of an error ends in a question.
_END = re.compile(r"\n[ \t]{0,40}(?:\n|```)")
_LOG = re.compile(
    r"^\s{0,20}(?:\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\{\""
    r"|(?:\[?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|FATAL)\b\]?[ :|-]))"
)
_NOISE = re.compile(r"[=_\-#]{3,}|(?:FAILED|ERROR|PASSED) \S+::|[{}\[\],:\"']+\s{0,3}\w*$|File |\w+$")
_WORD = re.compile(r"[^\W\d_]{2,}")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Frame:
    """One call. `path` has forward slashes; `line` is of the user's version; `code` is the line itself, if shown."""

    path: str
    line: int
    function: str | None = None
    code: str = ""


@dataclass(frozen=True)
class Raised:
    """One exception and the frames that it passed, outermost first. A cut-off exception has no type."""

    type: str
    message: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Traceback:
    """The exceptions in the order of the text, in which a cause stands before what it led to.

    `words` are the user's own words around the traceback.
    """

    exceptions: tuple[Raised, ...]
    words: str = ""

    @property
    def last(self) -> Raised:
        """The exception that ended the program: the last one that is not cut off."""
        return next((one for one in reversed(self.exceptions) if one.type), self.exceptions[-1])

    @property
    def first(self) -> Raised:
        """The exception that began it all; a group only says that others follow."""
        return next((one for one in self.exceptions if one.type and not one.type.endswith("Group")), self.last)


def read_traceback(text: str) -> Traceback | None:
    """The traceback in a text; None where the text has none."""
    if "line " not in text and ".py" not in text and "Traceback (" not in text:
        return None
    reader = _Reader()
    for line in _lines(text):
        reader.read(line)
    return reader.done()


def find_error(text: str) -> tuple[str, str, str] | None:
    """Type and message of the first `SomeError: what happened` in a text, and the words around them; None without.

    The message ends at an empty line, or where a block of code ends. Code that names errors, in a docstring or in
    `except ValueError: return`, has no error.
    """
    text = text.replace("\r\n", "\n")
    start = 0
    for line in text.splitlines(keepends=True):
        for found in _INLINE.finditer(line[:MAX_LINE]):
            place = start + found.start()
            before = text[:place]
            if _DOCUMENTED.search(before):
                return None
            if _WRITTEN.search(before[-40:]):
                continue
            after = text[start + found.end() :]
            end = _END.search(after)
            message, rest = (after[: end.start()], after[end.end() :]) if end else (after, "")
            return found[1], " ".join(message.split())[:MAX_MESSAGE_CHARS], " ".join(f"{before} {rest}".split())
        start += len(line)
    return None


def _lines(text: str) -> list[str]:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
    for _ in range(_MAX_ESCAPED):
        if not _ESCAPED.search(text):
            break
        if '\\"' in text:
            # The other quotes are those around strings of JSON.
            text = _QUOTE.sub("\n\n", text)
        text = _ESCAPE.sub(_unescaped, text)
    text = _ANSI.sub("", text)
    # A text field of one line has joined the lines.
    if text.count("\n") < len(_PLAIN.findall(text)):
        text = _COLLAPSED.sub("\n  ", text)
    return [line[:MAX_LINE].rstrip() for line in text.split("\n")]


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped[0] == "u" and len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    return {"n": "\n", "t": "    ", "r": ""}.get(escaped, escaped)


@dataclass
class _Reader:
    """Reads line by line; `frames` and `error` belong to the exception that is being read."""

    exceptions: list[Raised] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    type: str = ""
    message: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    # What stands before the frames of a log in every line, and the form of these characters.
    prefix: int = 0
    shape: str = ""
    inside: bool = False
    headed: bool = False
    # Whether the line before can go on: as the code of a frame, or as a message.
    code_next: bool = False
    in_message: bool = False
    # What pytest and notebooks show before or after the line that names the file.
    pointed: str = ""
    function: str | None = None
    from_pytest: bool = False

    def read(self, line: str) -> None:
        bare = self._bare(line)
        short = bare.strip()
        if self._header(line, bare) or self._frame(line, short):
            return
        if _CHAIN.search(short):
            self._finish()
            return
        if (error := _PYTEST_ERROR.match(short)) is not None and (self.pointed or self.frames or self.type):
            self._pytest_error(error[1] or "")
            return
        if not short or _RULE.match(short):
            # A line of carets belongs to the code above; an empty line ends a message.
            self.in_message = self.in_message and bool(short)
            if not short or not set(short) <= set("~^ "):
                self.code_next = False
            return
        if self._code(bare, short):
            return
        if self.frames and not self.type and self._exception(bare, short):
            return
        if self.in_message:
            if len(self.message) < MAX_MESSAGE_LINES:
                self.message.append(short)
            return
        if not (self.frames and not self.type):
            self._own(bare)

    def done(self) -> Traceback | None:
        self._finish()
        # Without the first line of a traceback, a file and a line alone may be part of a question.
        if sum(len(one.frames) + bool(one.type) for one in self.exceptions) < (1 if self.headed else 2):
            return None
        # The first lines of a log are read before the frames show what stands in front of every line.
        prefix = self.shape.strip()
        own = [line for line in self.own if not (prefix and _shape(line).startswith(prefix))]
        words = " ".join(" ".join(own).split()[:MAX_OWN_WORDS])
        return Traceback(tuple(self.exceptions), words)

    def _own(self, line: str) -> None:
        """Keep what the user says; lines of code are indented, and logs and rulers speak for themselves."""
        short = line.strip()
        if line.startswith(("    ", "\t")) or _LOG.match(line) or _NOISE.match(short):
            return
        if _WORD.search(short):
            self.own.append(short)

    def _bare(self, line: str) -> str:
        """A line without what a log, an exception group or a box puts around it."""
        if self.prefix and _shape(line[: self.prefix]).rstrip() == self.shape.rstrip():
            line = line[self.prefix :]
        bare = _BARS.sub("", line, count=1)
        return _BOX.sub("", bare) if "│" in bare or "┃" in bare else bare

    def _header(self, line: str, bare: str) -> bool:
        found = _HEADER.search(line)
        if found is None:
            return False
        self._finish()
        before = line[: found.start()]
        bars = _BARS.match(before)
        if not self.inside and not _LOG.match(before) and not (bars and bars.end() == len(before)):
            self._own(before)
        self.inside = self.headed = True
        # What a text field of one line has joined.
        if (rest := line[found.end() :].strip(" :")) and _WORD.search(rest):
            self.read(rest)
        return True

    def _frame(self, line: str, short: str) -> bool:
        if (plain := _PLAIN.search(line)) is not None:
            if not self.frames:
                lead = line[: plain.start()].removesuffix("  ")
                if lead.strip() and not _BARS.fullmatch(lead.strip()) and self.shape != _shape(lead):
                    self.prefix, self.shape = len(lead), _shape(lead)
            self._add(plain[1], plain[2], plain[3])
            if rest := line[plain.end() :].strip():
                self._joined(rest)
            return True
        if (cell := _CELL.search(short)) is not None and len(short) < 200:
            self._add("<cell>", cell[1] or "0", cell[2])
            return True
        if (book := _NOTEBOOK.search(short)) is not None:
            self._add(book[1], book[2], book[3])
            return True
        if (rich := _RICH.match(short)) is not None:
            self._add(rich[1], rich[2], rich[3])
            return True
        if (old := _OLD_NOTEBOOK.match(short)) is not None:
            self._add(old[1], "0", old[2])
            return True
        pytest = _PYTEST.match(short)
        if pytest is None or not (self.inside or self.frames or self.pointed or self.type or pytest[3]):
            return False
        kind = pytest[4]
        if kind and self.from_pytest and self.type:
            # pytest names the file of the frame that raises after its code and its error.
            self._append(pytest[1], pytest[2], self.function, self.pointed)
            self._finish()
        elif pytest[3]:
            self._add(pytest[1], pytest[2], pytest[3])
        else:
            self._append(pytest[1], pytest[2], self.function, self.pointed)
            if kind and not self.type and _ERROR_NAME.search(kind):
                self.type = kind
                self._finish()
            self.code_next = False
        self.function, self.pointed = None, ""
        return True

    def _add(self, path: str, line: str, function: str | None) -> None:
        """A frame that begins here; its code may follow."""
        if self.type:
            self._finish()
        self._append(path, line, function, "")
        self.inside = self.code_next = True

    def _append(self, path: str, line: str, function: str | None, code: str) -> None:
        slashes = re.sub(r"[\\/]+", "/", path.strip())
        self.frames.append(Frame(slashes, int(line), function, code))
        self.in_message = False

    def _joined(self, rest: str) -> None:
        """What stands in the line of a plain frame after its function: code, and at the end the exception."""
        errors = list(_INLINE.finditer(rest))
        if errors:
            found = errors[-1]
            self._set_code(rest[: found.start()].strip())
            self.type, self.message, self.in_message = found[1], [rest[found.end() :].strip()], True
        else:
            self._set_code(rest)
        self.code_next = False

    def _code(self, bare: str, short: str) -> bool:
        if (arrow := _ARROW.match(short)) is not None and self.frames:
            self._set_code(arrow[2].strip(), int(arrow[1]))
            self.code_next = False
            return True
        if (pointed := _POINTED.match(short)) is not None and not self.code_next:
            self.pointed = pointed[1]
            return True
        if (found := _DEFINITION.match(bare)) is not None and not self.in_message:
            self.function = found[1]
            return not self.code_next
        if not self.code_next or not bare.startswith((" ", "\t")):
            return False
        # A notebook shows numbered lines around the one that the arrow marks.
        if re.match(r"\d{1,7}(?:\s|$)", short) is None:
            self._set_code(short)
            self.code_next = False
        return True

    def _set_code(self, code: str, line: int = 0) -> None:
        last = self.frames[-1]
        self.frames[-1] = Frame(last.path, last.line or line, last.function, code)

    def _exception(self, bare: str, short: str) -> bool:
        found = _EXCEPTION.match(short)
        if found is None or bare[:1].isspace():
            return False
        name = found[1].rpartition(".")[2]
        if not (_ERROR_NAME.search(name) or (found[2] is not None and (name[:1].isupper() or "." in found[1]))):
            return False
        self.type, self.message, self.in_message = found[1], [found[2] or ""], True
        self.code_next = False
        return True

    def _pytest_error(self, text: str) -> None:
        found = _EXCEPTION.match(text.strip())
        if not self.type and found is not None and _ERROR_NAME.search(found[1]):
            self.type, self.message, self.from_pytest = found[1], [found[2] or ""], True
        elif self.type and len(self.message) < MAX_MESSAGE_LINES:
            self.message.append(text.strip())
        self.code_next = False

    def _finish(self) -> None:
        if self.frames or self.type:
            message = " ".join(" ".join(self.message).split())[:MAX_MESSAGE_CHARS]
            self.exceptions.append(Raised(self.type, message, tuple(self.frames)))
        self.frames, self.type, self.message = [], "", []
        self.in_message = self.code_next = self.from_pytest = False
        self.pointed, self.function = "", None


def _shape(text: str) -> str:
    return _DIGIT.sub("0", text)

"""Texts that try to be more than text, as chunks of real corpora, and what a reader of Markdown makes of an answer.

`injection.json` holds those that every surface is tried with, the extension's tool for language models included.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

# By what they try: each group is a folder of docs and a module of code in a corpus of `injected_docs` and `_code`.
INJECTIONS: dict[str, tuple[str, ...]] = {
    group: tuple(texts) for group, texts in json.loads(Path(__file__).with_name("injection.json").read_bytes()).items()
}

# More of what tries to be markup, and giants.
MARKUP: tuple[str, ...] = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert`1`>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<a href='command:workbench.action.terminal.new'>x</a>",
    '<math><mi//xlink:href="data:x,<script>alert(1)</script>">',
    "<style>@import 'https://evil.example/x.css';</style>",
    "<!-- comment -->",
    "<![CDATA[x]]>",
    "<https://evil.example>",
    "<someone@evil.example>",
    "[x](command:workbench.action.terminal.new)",
    "[x](command:adkEvidence.findEvidence?%5B%5D)",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    '[x](https://evil.example "title")',
    "[x]( <command:evil> )",
    "[x][1]\n\n[1]: command:evil",
    "![x](https://evil.example/pixel.png)",
    "[![x](https://evil.example/p.png)](command:evil)",
    "](command:evil)",
    "https://evil.example/autolink",
    "www.evil.example",
    "mailto:someone@evil.example",
    "someone@evil.example",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#x3c;img src=x&#x3e;",
    "[x](&#99;ommand:evil)",
    "``` \n[x](command:evil)\n```",
    "````\n</code></pre><script>alert(1)</script>",
    "`` ` ``[x](command:evil)`",
    "~~~\n[x](command:evil)",
    "# heading\n## heading",
    "heading\n=======",
    "- item\n- item",
    "> quote [x](command:evil)",
    "| a | b |\n| - | - |\n| [x](command:evil) | c |",
    "\\[x\\](command:evil) \\\\[x](command:evil)",
    "$(terminal) $(zap~spin)",
    "\u202eevil\u202c \u2066x\u2069",
    "\u200bzero\u200bwidth\ufeff",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07x\x1b]8;;\x07",
    "\x00\x07\x08\x7f\x9b31m",
    "\U000e0041\U000e0042 tags",
    "\ufdd0 \ud7ff",
    "A" * 100_000,
    "[" * 2_000 + "x",
    "`" * 500,
    "*a" * 2_000,
)

PAYLOADS: tuple[str, ...] = tuple(dict.fromkeys([*MARKUP, *(text for group in INJECTIONS.values() for text in group)]))

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_MARK = "zebra"


def injected_docs() -> dict[str, str]:
    """Pages with each payload as title, as heading, as text and, as far as files can be named so, as a name."""
    pages = {}
    for group, texts in INJECTIONS.items():
        for number, text in enumerate(texts):
            line = " ".join(text.split())
            page = f"# {line}\n\n{marker(group, number)} says:\n\n{text}\n\n## {line}\n\nMore of it.\n"
            pages[f"docs/injection/{group}/{number} {_file_name(text)}.md"] = page
    return pages


def injected_code() -> dict[str, str]:
    """Modules with each payload as docstring and comment, to the letter where Python allows it, and as a name."""
    files = {}
    for group, texts in INJECTIONS.items():
        functions = [_function(group, number, text) for number, text in enumerate(texts)]
        files[f"src/google/adk/injection/{group}.py"] = "\n\n".join([f'"""{marker(group, 0)}"""', *functions]) + "\n"
        name = _file_name(texts[0])
        files[f"src/google/adk/injection/{group}/{name}.py"] = f"# {marker(group, 0)}\nZEBRA = 1\n"
    return files


def function_name(group: str, number: int) -> str:
    """The function whose docstring is a payload."""
    return f"injected_{group}_{number}"


def marker(group: str, number: int) -> str:
    """Words that find the chunks of a payload."""
    return f"{_MARK} {group} {number}"


def _function(group: str, number: int, text: str) -> str:
    raw = "\n".join(text.split("\n")) if "\\" not in text and "\x00" not in text else repr(text)[1:-1]
    comment = "".join(f"    # {line}\n" for line in text.splitlines())
    return f"def {function_name(group, number)}() -> None:\n    r'''{raw}'''\n{comment}    pass\n"


def _file_name(text: str) -> str:
    return "".join(" " if char in "/\\\0\n" else char for char in text)[:60].strip()


def hidden_characters(text: str) -> set[str]:
    """The characters of a text that act or that only a model sees, line ends and tabs aside."""
    return {
        f"U+{ord(char):04X}"
        for char in set(text)
        if (unicodedata.category(char) in _HIDDEN and char not in "\n\t\u200c\u200d") or 0xE0100 <= ord(char) <= 0xE01EF
    }


def outside_fences(text: str) -> str:
    """The lines of a Markdown text that no fence holds."""
    shown, fence = [], ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match:
            fence = match[1]
        else:
            shown.append(line)
    assert not fence, "a fence is left open"
    return "\n".join(shown)


def outside_quotes(text: str) -> str:
    """The lines of a Markdown text outside its fences, without what stands in code spans."""
    return "\n".join(_CODE_SPAN.sub("", line) for line in outside_fences(text).split("\n"))

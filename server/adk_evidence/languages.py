"""The languages of files, code blocks and tabs: one table of their names, titles and extensions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import get_args

from adk_evidence.models.chunk import ProgrammingLanguage


@dataclass(frozen=True)
class Language:
    """A language.

    `name` is what code blocks and tabs call it, `aliases` are other names that authors use there, and `title` is how
    people write it. `lang` is what chunks of its files carry, and `extensions` are those of the files; a language
    without them occurs inside pages alone. `in_tabs` says whether the label of a tab may name it.
    """

    name: str
    title: str
    lang: str = ""
    extensions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    in_tabs: bool = True


_TABLE = (
    Language("python", "Python", "py", (".py",), ("py", "py3", "python3", "pycon")),
    Language("typescript", "TypeScript", "ts", (".ts", ".mts", ".cts"), ("ts",)),
    Language("typescript", "TypeScript", "tsx", (".tsx",), ("tsx",)),
    Language("javascript", "JavaScript", "js", (".js", ".mjs", ".cjs"), ("js",)),
    Language("javascript", "JavaScript", "jsx", (".jsx",), ("jsx",)),
    Language("go", "Go", "go", (".go",), ("golang",)),
    Language("rust", "Rust", "rust", (".rs",)),
    Language("c", "C", "c", (".c",), in_tabs=False),
    Language("c++", "C++", "cpp", (".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx")),
    Language("c#", "C#", "cs", (".cs",)),
    Language("r", "R", "r", (".r",)),
    Language("yaml", "YAML", "yaml", (".yaml", ".yml"), ("yml",)),
    Language("json", "JSON", "json", (".json",)),
    Language("toml", "TOML", "toml", (".toml",)),
    Language("markdown", "Markdown", "md", (".md", ".mdx"), in_tabs=False),
    Language("restructuredtext", "reStructuredText", "rst", (".rst",), in_tabs=False),
    Language("asciidoc", "AsciiDoc", "adoc", (".adoc",), in_tabs=False),
    Language("text", "plain text", "txt", (".txt",), in_tabs=False),
    Language("bash", "Bash", "bash", (".sh", ".bash"), ("sh", "shell", "zsh", "console")),
    Language("java", "Java", "java", (".java",)),
    Language("kotlin", "Kotlin", "kotlin", (".kt", ".kts"), ("kt",)),
    Language("php", "PHP", "php", (".php",)),
    Language("powershell", "PowerShell"),
    Language("ruby", "Ruby", "ruby", (".rb", ".rake", ".gemspec", ".ru")),
    Language("sql", "SQL"),
    Language("swift", "Swift", "swift", (".swift",)),
    Language("scala", "Scala", "scala", (".scala", ".sc", ".sbt"), in_tabs=False),
    Language("lua", "Lua", "lua", (".lua",), in_tabs=False),
    Language("elixir", "Elixir", "elixir", (".ex", ".exs"), in_tabs=False),
    Language("haskell", "Haskell", "haskell", (".hs",), in_tabs=False),
    Language("zig", "Zig", "zig", (".zig",), in_tabs=False),
)

_BY_LANG = {language.lang: language for language in _TABLE if language.lang}
BY_EXTENSION = {extension: language for language in _TABLE for extension in language.extensions}
TAB_NAMES = frozenset(language.name for language in _TABLE if language.in_tabs)
PROGRAMMING: frozenset[str] = frozenset(get_args(ProgrammingLanguage))
_TITLES = {language.name: language.title for language in _TABLE}
_NAMES = {alias: language.name for language in _TABLE for alias in language.aliases}


def common_name(name: str) -> str:
    """The one name of a language that authors call by several; an unknown name stays as it is."""
    return _NAMES.get(name, name)


def title_of(name: str) -> str:
    """A language as people write it; an unknown name stays as it is."""
    return _TITLES.get(name, name)


def langs_of(name: str) -> tuple[str, ...]:
    """What chunks of a language's files carry, e.g. `ts` and `tsx` of `typescript`; an unknown name stays as it is."""
    found = tuple(one.lang for one in _TABLE if one.lang and name in (one.name, *one.aliases))
    return (name,) if name in _BY_LANG else found or (name,)


def fence_name(lang: str) -> str:
    """What a block of code is called that shows lines of such files."""
    known = _BY_LANG.get(lang)
    return known.name if known else "text"


def language_of_file(path: str) -> str:
    """The language of a file by the end of its name, e.g. `md`; empty where that is none of ours."""
    known = BY_EXTENSION.get(PurePosixPath(path).suffix.lower())
    return known.lang if known else ""

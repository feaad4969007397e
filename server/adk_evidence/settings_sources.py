"""Where settings come from: a YAML file and environment variables, and the sentence that names a wrong one."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from adk_evidence.errors import SettingsError
from adk_evidence.removed import instead_of
from adk_evidence.validation import words

PREFIX = "ADK_EVIDENCE_"
DELIMITER = "__"
SETTINGS_FILE = f"{PREFIX}SETTINGS"
# Variables that name files and folders, and are no settings.
_BESIDE = ("settings", "docs")
# How alike a misspelt name is: `hoem` and `home` have three of four letters in the same order. A name with a word more,
# such as `test_settings`, is another name.
_NEARLY = 0.75
_LETTERS_MORE = 2
_LIST = "`config/settings.yaml` lists every setting and its values."
_MAX_CHARS = 80
_MAX_BYTES = 1_000_000


def has_variables() -> bool:
    """Whether environment variables give any settings."""
    return next(_variables(), None) is not None


def merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """All layers as one; a later layer wins, key by key within mappings."""
    result: dict[str, Any] = {}
    # The last layers are joined first: a section that a file leaves empty must not hide the defaults of a section that
    # a variable adds to.
    for layer in reversed(layers):
        below = dict(layer)
        for key, value in result.items():
            lower = below.get(key)
            if isinstance(lower, Mapping) and isinstance(value, Mapping):
                value = merged(lower, value)
            below[key] = value
        result = below
    return result


def read_file(path: Path, *, shipped: bool = False) -> dict[str, Any]:
    """The mapping in a YAML file; empty where the file says nothing.

    A file that is `shipped` with the product is read by libyaml, which takes a tenth of the time. Endlessly nested
    brackets crash libyaml, so it never reads a file of the user.

    Raises:
        SettingsError: The file cannot be read, is not YAML in UTF-8 or does not hold a mapping.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise SettingsError(f"The settings file {path} is too large for settings.", "Name another file.")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if shipped else yaml.SafeLoader
        data = yaml.load(content.decode("utf-8-sig"), Loader=loader)  # noqa: S506 - both are safe
    except OSError as exc:
        raise SettingsError(
            f"The settings file {path} cannot be read: {exc.strerror or type(exc).__name__}.",
            "Make it a file that you may read, or remove it.",
        ) from exc
    except UnicodeDecodeError as exc:
        raise SettingsError(f"The settings file {path} is not UTF-8.", "Save it as UTF-8.") from exc
    # Dates and numbers that do not exist are ValueErrors; brackets without end exhaust the stack.
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        mark = exc.problem_mark if isinstance(exc, yaml.MarkedYAMLError) else None
        where = f" at line {mark.line + 1}" if mark else ""
        message = f"The settings file {path} is not valid YAML{where}."
        raise SettingsError(message, "Mend its YAML or remove it.") from exc
    data = {} if data is None else data
    if not isinstance(data, dict):
        raise SettingsError(
            f"The settings file {path} is not a mapping of settings.", "See `config/settings.yaml` for its form."
        )
    for key in data:
        if not isinstance(key, str):
            raise SettingsError(f"The settings file {path} has a key that is not a text: {_short(key)}.", _LIST)
    return data


def variable(name: str) -> tuple[str, str] | None:
    """The full name and the value of one of our variables, e.g. `PROFILE`; None where it is not set or empty.

    Case does not matter, as for every setting.
    """
    wanted = (PREFIX + name).lower()
    return next(((key, value) for key, value in os.environ.items() if key.lower() == wanted and value), None)


def check_variables(model: type[BaseModel]) -> None:
    """Refuse variables that look like a setting and name none.

    Variables without a section may be those of our other programs; they are refused only if they begin with the name of
    a section, or are nearly the name of a setting.

    Raises:
        SettingsError: A variable does not name a setting.
    """
    for name, path in _variables():
        if len(path) > 1:
            _check_path(model, name, path)
        elif (section := path[0].partition("_")[0]) in model.model_fields and path[0] not in model.model_fields:
            raise SettingsError(
                f"The environment variable {_short(name)} names no setting.",
                f"After the section stand two underscores: {PREFIX}{section.upper()}{DELIMITER}... {_LIST}",
            )
        elif like := _nearly(path[0], (*model.model_fields, *_BESIDE)):
            raise SettingsError(
                f"The environment variable {_short(name)} names no setting.",
                f"Did you mean {PREFIX}{like.upper()}? Otherwise, unset {_short(name)}.",
            )


def _nearly(name: str, known: Sequence[str]) -> str | None:
    """The known name that another name is nearly, if the other name is not known itself."""
    if name in known:
        return None
    as_long = [other for other in known if abs(len(other) - len(name)) <= _LETTERS_MORE]
    return next(iter(difflib.get_close_matches(name, as_long, n=1, cutoff=_NEARLY)), None)


def sentence(
    exc: ValidationError, model: type[BaseModel], overrides: Mapping[str, Any], file: Path, user: Mapping[str, Any]
) -> SettingsError:
    """The first problem of a validation, with the place where the user can mend it.

    Values are left out, as they may be secrets. `overrides` are those of the call; `user` is the content of `file`.
    """
    found = exc.errors(include_url=False, include_input=False)[0]
    path = tuple(part for part in found["loc"] if isinstance(part, str))
    what = _unknown(model, path) if found["type"] == "extra_forbidden" else words(found)
    dotted = _short(".".join(path)) or "settings"
    if not _touches(overrides, path):
        names = [name for name, given in _variables() if _same_branch(given, path)]
        if names:
            return SettingsError(f"The environment variable {_short(names[0])} is not valid: {what}.", _LIST)
        if _touches(user, path):
            return SettingsError(f"The setting {dotted} in {file} is not valid: {what}.", _LIST)
    return SettingsError(f"The setting {dotted} is not valid: {what}.", _LIST)


def _variables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names of the variables that may be settings and are not empty, the most exact first, with their paths."""
    names = [name for name, value in os.environ.items() if value and name.lower().startswith(PREFIX.lower())]
    for name in sorted(names, key=lambda name: (-name.count(DELIMITER), name)):
        yield name, tuple(name[len(PREFIX) :].lower().split(DELIMITER))


def _check_path(model: type[BaseModel], name: str, path: tuple[str, ...]) -> None:
    for depth, part in enumerate(path):
        section = _type_at(model, path[:depth])
        if str(section).startswith("dict[") and depth == len(path) - 1 and part:
            return
        if part not in _fields(section):
            what = _unknown(model, path[: depth + 1])
            raise SettingsError(f"The environment variable {_short(name)} is not valid: {what}.", _LIST)


def _unknown(model: type[BaseModel], path: tuple[str, ...]) -> str:
    if instead := instead_of(".".join(path)):
        return f"this setting was removed. {instead.rstrip('.')}"
    known = _fields(_type_at(model, path[:-1]))
    like = difflib.get_close_matches(path[-1][:_MAX_CHARS], known, n=1) if path else []
    return "there is no such setting" + (f" (there is {like[0]})" if like else "")


def _type_at(model: type[BaseModel], path: tuple[str, ...]) -> Any:
    """The type of the setting or section at a path; None where there is none."""
    found: Any = model
    for part in path:
        fields = _fields(found)
        found = fields[part].annotation if part in fields else None
    return found


def _fields(section: Any) -> Mapping[str, FieldInfo]:
    """The settings of a section; none where the type is not a section."""
    return section.model_fields if isinstance(section, type) and issubclass(section, BaseModel) else {}


def _touches(layer: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Whether a layer says something at a path, or something else than a mapping on the way there."""
    node: Any = layer
    for part in path:
        if not isinstance(node, Mapping):
            return True
        if part not in node:
            return False
        node = node[part]
    return True


def _same_branch(one: Sequence[str], other: Sequence[str]) -> bool:
    # A section as a whole is wrong where two of its settings contradict each other.
    return all(a == b for a, b in zip(one, (part.lower() for part in other), strict=False))


def _short(value: Any) -> str:
    text = "".join(char if char.isprintable() else " " for char in str(value))
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 1]}…"
